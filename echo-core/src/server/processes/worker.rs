//! One worker process, from the listener that it inherits to the totals that it hands over.

use std::{io, os::fd::AsFd};

use anyhow::{Context as _, bail};
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    process::{Signal, set_parent_process_death_signal},
};

use super::{
    super::{
        EventLoop, Listener, ServerOptions, Style, Trigger,
        acceptor::{Hands, serve_waiting},
        listener::Blocking,
        pinning::pin,
        serve::get_ready,
    },
    WorkerKind,
};
use crate::print;

/// Serves until SIGTERM, which also comes when the master dies, and prints `ready` before and the
/// totals as JSON after.
pub(super) fn run(options: &ServerOptions, cpu: Option<usize>, kind: WorkerKind) -> anyhow::Result<()> {
    let stop = get_ready()?;
    set_parent_process_death_signal(Some(Signal::TERM)).context("failed to ask for a signal when the master dies")?;
    if master_is_gone() {
        bail!("the master is gone");
    }
    if let Some(index) = cpu {
        pin(index)?;
    }
    let blocking = match kind {
        WorkerKind::EventLoop => Blocking::No,
        WorkerKind::BlockingAccept => Blocking::Yes,
    };
    let listener = io::stdin().as_fd().try_clone_to_owned().and_then(|socket| Listener::of_socket(socket, blocking));
    let listener = listener.context("failed to take over the listener from the master")?;
    // From here on SIGTERM is in good hands.
    print("ready\n")?;
    let totals = match kind {
        WorkerKind::EventLoop => EventLoop::new(&listener, &stop, Style::direct(Trigger::Level), options)?.run()?,
        WorkerKind::BlockingAccept => serve_waiting(listener, &stop, options, Hands::Own)?,
    };
    Ok(print(&serde_json::to_string(&totals)?)?)
}

/// Whether it died before it could be asked to have that signalled: nobody reads what we print.
fn master_is_gone() -> bool {
    let stdout = io::stdout();
    let mut pipe = [PollFd::new(&stdout, PollFlags::empty())];
    poll(&mut pipe, Some(&Timespec::default())).is_ok() && pipe[0].revents().contains(PollFlags::ERR)
}
