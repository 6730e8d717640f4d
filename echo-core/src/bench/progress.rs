//! How far a run is, on a terminal's stderr. Does not know what is run.

use std::{
    io::{IsTerminal as _, stderr},
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// What ends sooner needs no bar.
const SHOWN_AFTER: Duration = Duration::from_secs(2);
const PARTS: u64 = 1000;

/// A bar that comes when its run takes longer, and leaves nothing behind.
#[derive(Debug)]
pub struct Progress {
    bar: ProgressBar,
    since: Instant,
    shown: bool,
}

impl Progress {
    /// A bar that is hidden as yet, and for good where stderr is no terminal.
    #[must_use]
    pub fn new() -> Self {
        Self {
            bar: ProgressBar::with_draw_target(Some(PARTS), ProgressDrawTarget::hidden()),
            since: Instant::now(),
            shown: false,
        }
    }

    /// Begins a run: `what` stands before the bar.
    pub fn begin(&mut self, what: String) {
        self.bar.set_position(0);
        self.bar.set_message(what);
    }

    /// Sets the share that is done, in 0..=1.
    pub fn set(&mut self, share: f64) {
        if !self.shown && self.since.elapsed() >= SHOWN_AFTER {
            self.show();
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of PARTS")]
        self.bar.set_position((share.clamp(0.0, 1.0) * PARTS as f64) as u64);
    }

    fn show(&mut self) {
        self.shown = true;
        if stderr().is_terminal() {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
            if let Ok(style) = ProgressStyle::with_template("{msg} [{bar:40}] {percent}%  {elapsed}") {
                self.bar.set_style(style.progress_chars("=> "));
            }
        }
    }

    /// Prints something on stderr without tearing the bar.
    pub fn around(&self, print: impl FnOnce()) {
        self.bar.suspend(print);
    }

    /// Takes the bar away.
    pub fn end(&self) {
        self.bar.finish_and_clear();
    }
}

impl Default for Progress {
    fn default() -> Self {
        Self::new()
    }
}
