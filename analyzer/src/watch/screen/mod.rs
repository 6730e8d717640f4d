//! The full-screen view on a terminal: owns the terminal's state, and gives it back whatever happens.

mod detail;
mod glyphs;
mod page;
mod state;
mod table;

use std::{
    fs::File,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result};
use ratatui::{
    DefaultTerminal,
    crossterm::event::{self, Event as TerminalEvent},
    style::{Color, Style},
};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use signal_hook::{consts::SIGTSTP, flag, low_level::emulate_default_handler};

use super::round::Round;
use crate::events::{Event, Events};
use glyphs::Glyphs;
use state::{Action, State};

/// Longest time until a signal is noticed.
const SIGNAL_PAUSE: Duration = Duration::from_millis(100);

/// How things are drawn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look {
    glyphs: Glyphs,
    color: bool,
}

impl Look {
    fn color(&self, color: Color) -> Style {
        if self.color { Style::new().fg(color) } else { Style::new() }
    }
}

/// Why waiting ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Waited {
    /// The time is over.
    Over,
    /// The user, or a signal, wants an end.
    Quit,
}

/// The view. Dropping it gives the terminal back; so does a panic.
pub(crate) struct Screen {
    terminal: DefaultTerminal,
    state: State,
    look: Look,
    interval: Duration,
    /// What is shown; while paused not the latest.
    shown: Option<Round>,
    stopped: Arc<AtomicBool>,
    /// Where keys come from; `None` once the terminal is gone.
    keyboard: Option<File>,
}

impl Screen {
    /// Takes the terminal.
    ///
    /// # Errors
    /// When it cannot be set up.
    pub(crate) fn open(interval: Duration) -> Result<Self> {
        let stopped = Arc::new(AtomicBool::new(false));
        flag::register(SIGTSTP, Arc::clone(&stopped)).context("failed to install a signal handler")?;
        let look = Look { glyphs: Glyphs::of_environment(), color: reports::terminal::style().color };
        // Also restores the terminal when we panic.
        let terminal = ratatui::try_init().context("failed to set the terminal up")?;
        // Where crossterm reads from too, with stdin redirected or not.
        let keyboard = File::open("/dev/tty").ok();
        Ok(Self { terminal, state: State::default(), look, interval, shown: None, stopped, keyboard })
    }

    /// Shows a round, unless paused.
    ///
    /// # Errors
    /// When the terminal cannot be written.
    pub(crate) fn show(&mut self, round: &Round) -> Result<()> {
        if !self.state.paused || self.shown.is_none() {
            self.shown = Some(round.clone());
        }
        self.draw()
    }

    /// Gives the terminal back; returns the last figures as text that fits it.
    pub(crate) fn close(self) -> String {
        let width = self.terminal.size().map_or(80, |size| usize::from(size.width));
        let round = self.shown.as_ref();
        round.map_or_else(String::new, |round| page::farewell(&self.state, round, width, &self.look))
    }

    fn draw(&mut self) -> Result<()> {
        let Some(round) = &self.shown else { return Ok(()) };
        let (state, interval, look) = (&mut self.state, self.interval, &self.look);
        self.terminal.draw(|frame| page::draw(frame, state, round, interval, look)).context("failed to draw")?;
        Ok(())
    }

    /// Waits and answers keys meanwhile.
    ///
    /// # Errors
    /// When the terminal cannot be written.
    pub(crate) fn wait(&mut self, time: Duration, events: &Events) -> Result<Waited> {
        let until = Instant::now() + time;
        loop {
            if let Ok(Event::Interrupted(_)) = events.receiver.try_recv() {
                return Ok(Waited::Quit);
            }
            if self.stopped.swap(false, Ordering::Relaxed) {
                self.suspend()?;
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(Waited::Over);
            }
            match self.next_event(left.min(SIGNAL_PAUSE)) {
                Some(TerminalEvent::Key(key)) => match self.state.key(key, self.shown.as_ref()) {
                    Action::Nothing => {}
                    Action::Redraw => self.draw()?,
                    Action::Quit => return Ok(Waited::Quit),
                    Action::Suspend => self.suspend()?,
                },
                Some(TerminalEvent::Resize(..)) => self.draw()?,
                _ => {}
            }
        }
    }

    /// The next key or resize within `wait`.
    fn next_event(&mut self, wait: Duration) -> Option<TerminalEvent> {
        let Some(keyboard) = &self.keyboard else {
            // A signal will end us.
            thread::sleep(wait);
            return None;
        };
        // Asked before crossterm is: from a terminal that is gone it would read without end.
        let mut polled = [PollFd::new(keyboard, PollFlags::IN)];
        let timeout = Timespec::try_from(wait).ok();
        let _ = poll(&mut polled, timeout.as_ref());
        if polled[0].revents().intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL) {
            self.keyboard = None;
            return None;
        }
        // Also where no key was pressed: a resize comes as a signal.
        match event::poll(Duration::ZERO) {
            Ok(true) => event::read().ok(),
            Ok(false) => None,
            Err(_) => {
                self.keyboard = None;
                None
            }
        }
    }

    /// Stops as any program does, with the terminal as it was; takes it again when continued.
    fn suspend(&mut self) -> Result<()> {
        ratatui::restore();
        emulate_default_handler(SIGTSTP).context("failed to stop")?;
        self.terminal = ratatui::try_init().context("failed to set the terminal up again")?;
        self.draw()
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        // A terminal that is gone needs nothing.
        let _ = ratatui::try_restore();
    }
}
