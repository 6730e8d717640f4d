//! `analyzer watch`: listen queues, drops and the host's TCP counters, live.
//!
//! Polls `sock_diag` and `/proc/net`; probes add what polling cannot see, where they can be had.
//! Readings go one way: collect -> history -> round -> lines, JSON or the screen.

mod alert;
mod args;
mod causes;
mod collect;
mod groups;
mod history;
mod lines;
mod namespaces;
mod order;
mod round;
#[cfg(test)]
mod sample;
mod screen;
mod settings;
mod track;
mod waits;

use std::{
    io::{self, IsTerminal as _, Write as _},
    sync::mpsc::RecvTimeoutError,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, anyhow};

pub(crate) use self::args::WatchArgs;
use self::{
    alert::Told,
    collect::Collector,
    lines::Spans,
    round::Round,
    screen::{Screen, Waited},
};
use crate::{
    advice::Advise as _,
    events::{Event, Events},
    say::say,
};

/// Looks at the queues per interval: the high-water mark sees peaks between rows. A look takes about 0.2 ms.
const LOOKS_PER_INTERVAL: u32 = 10;
/// No more often than this.
const SHORTEST_PAUSE: Duration = Duration::from_millis(10);

/// Exit status when an alert came true.
const ALERTED: u8 = 3;

/// Runs `analyzer watch` until it is told to stop, its count, or an alert; returns the exit status.
///
/// # Errors
/// When the kernel does not answer, or the output cannot be written.
pub(crate) fn run(args: &WatchArgs) -> Result<u8> {
    let events = Events::listen()?;
    let mut collector = Collector::begin(args)?;
    refuse_untold(args, collector.has_probes())?;
    let mut output = Output::open(args, collector.missing())?;
    let pause = (args.interval / LOOKS_PER_INTERVAL).max(SHORTEST_PAUSE).min(args.interval);
    let mut rounds = 0;
    let mut next_row = if output.is_screen() || args.once { Instant::now() } else { Instant::now() + args.interval };
    let breach = loop {
        let wait = pause.min(next_row.saturating_duration_since(Instant::now()));
        if output.wait(wait, &events)? == Waited::Quit {
            break None;
        }
        if Instant::now() < next_row {
            collector.look()?;
            continue;
        }
        // After a pause (SIGSTOP, a laptop asleep) rows go on from now instead of catching up.
        next_row = (next_row + args.interval).max(Instant::now());
        let mut round = collector.round()?;
        round.keep_ports(&args.port);
        output.show(&round)?;
        rounds += 1;
        let breach = args.alert.iter().find_map(|alert| alert.breach(&round));
        if breach.is_some() || args.once || args.count.is_some_and(|count| rounds >= count) {
            break breach;
        }
    };
    output.finish()?;
    if let Some(breach) = breach {
        say(format_args!("alert {breach}"));
        return Ok(ALERTED);
    }
    Ok(0)
}

/// An alert that could never come true would read as "all is well".
fn refuse_untold(args: &WatchArgs, has_probes: bool) -> Result<()> {
    let told = Told { probes: has_probes, counts: !args.once };
    let Some(metric) = args.alert.iter().find_map(|alert| alert.untold(told)) else { return Ok(()) };
    let refused = Err(anyhow!("no alert on `{metric}`: this watch cannot tell it"));
    if args.once {
        refused.hint("one look counts nothing: --count 1 instead of --once, or `drops_ever`, `queue`, `fill`")
    } else {
        refused.hint("it needs the probes: run as root and without --no-probes")
    }
}

/// Where rounds go.
enum Output {
    Lines(Spans),
    Json,
    Screen(Box<Screen>),
}

impl Output {
    /// A screen on a terminal, lines elsewhere and where only one round is asked for.
    fn open(args: &WatchArgs, missing: &[String]) -> Result<Self> {
        if !args.json && !args.once && io::stdout().is_terminal() {
            return Ok(Self::Screen(Box::new(Screen::open(args.interval)?)));
        }
        if args.json {
            return Ok(Self::Json);
        }
        for missing in missing {
            say(format_args!("not shown: {missing}"));
        }
        write(&format!("{}\n", lines::HEADER))?;
        Ok(Self::Lines(if args.once { Spans::Moment } else { Spans::Interval }))
    }

    fn is_screen(&self) -> bool {
        matches!(self, Self::Screen(_))
    }

    fn wait(&mut self, time: Duration, events: &Events) -> Result<Waited> {
        if let Self::Screen(screen) = self {
            return screen.wait(time, events);
        }
        match events.receiver.recv_timeout(time) {
            Ok(Event::Interrupted(_)) | Err(RecvTimeoutError::Disconnected) => Ok(Waited::Quit),
            Ok(_) | Err(RecvTimeoutError::Timeout) => Ok(Waited::Over),
        }
    }

    fn show(&mut self, round: &Round) -> Result<()> {
        match self {
            Self::Screen(screen) => screen.show(round),
            Self::Json => write(&(serde_json::to_string(round).context("bug: a round is JSON")? + "\n")),
            Self::Lines(spans) => write(&lines::lines(round, *spans)),
        }
    }

    /// Gives the terminal back and leaves the last figures standing on it.
    fn finish(self) -> Result<()> {
        match self {
            Self::Screen(screen) => write(&screen.close()),
            _ => Ok(()),
        }
    }
}

fn write(text: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).context("failed to print")
}
