//! `analyzer watch`: listen queues, drops and the host's TCP counters, live.
//!
//! By polling `sock_diag` and `/proc/net`: no probes, and no root but for the names of other users' processes.

mod history;
mod show;

use std::{
    collections::BTreeSet,
    io,
    sync::mpsc::RecvTimeoutError,
    time::{Duration, Instant},
};

use anyhow::Result;

use crate::{
    cli::WatchArgs,
    events::{Event, Events},
    kernel::netns::Netns,
    say::say,
    sockets::{listeners::ListenerQuery, owners::owners_of},
};
use history::History;
use show::Screen;

/// Looks at the queues per interval: the high-water mark sees peaks between rows. A look takes about 0.2 ms.
const LOOKS_PER_INTERVAL: u32 = 10;
/// No more often than this.
const SHORTEST_PAUSE: Duration = Duration::from_millis(10);

/// Runs `analyzer watch` until Ctrl-C or its count; returns the exit status.
///
/// # Errors
/// When the kernel does not answer, or stdout cannot be written.
pub(crate) fn run(args: &WatchArgs) -> Result<u8> {
    let events = Events::listen()?;
    let query = ListenerQuery::open()?;
    let netns = Netns::of(None)?;
    let mut history = History::begin(query.listeners()?, netns.counters()?, Instant::now());
    let mut screen = Screen::new(io::stdout());
    let pause = (args.interval / LOOKS_PER_INTERVAL).max(SHORTEST_PAUSE).min(args.interval);
    if !rustix::process::geteuid().is_root() {
        say("owners of other users' sockets are not shown: that needs root (sudo analyzer watch)");
    }
    let mut rounds = 0;
    let mut next_row = Instant::now() + args.interval;
    loop {
        let wait = pause.min(next_row.saturating_duration_since(Instant::now()));
        match events.receiver.recv_timeout(wait) {
            Ok(Event::Interrupted(_)) | Err(RecvTimeoutError::Disconnected) => break,
            Ok(_) | Err(RecvTimeoutError::Timeout) => {}
        }
        history.look(query.listeners()?);
        if Instant::now() < next_row {
            continue;
        }
        // After a pause (SIGSTOP, a laptop asleep) rows go on from now instead of catching up.
        next_row = (next_row + args.interval).max(Instant::now());
        name_owners(&mut history);
        screen.show(&history.round(netns.counters()?, Instant::now()))?;
        rounds += 1;
        if args.count.is_some_and(|count| rounds >= count) {
            break;
        }
    }
    screen.finish()?;
    Ok(0)
}

/// Looks owners up once per socket: it means walking through every process.
fn name_owners(history: &mut History) {
    let unnamed: BTreeSet<u32> = history.unnamed().collect();
    if !unnamed.is_empty() {
        history.name(&owners_of(&unnamed));
    }
}
