//! A master and its worker processes: `echo-mp` and `echo-prefork`. A worker is this program again, with one hidden
//! option, its listener as stdin, and a pipe for its totals as stdout.

mod life;
mod master;
mod worker;

use super::{ServerOptions, WorkerOptions, blocking::WAITS_IN};

/// What each worker process does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkerKind {
    /// An event loop over a listener of its own (SO_REUSEPORT).
    EventLoop,
    /// A blocking accept on the listener that all share, and one connection at a time.
    BlockingAccept,
}

/// The hidden part of the command line, by which the master starts its workers.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct WorkerIdentity {
    /// Be this worker of the master that started it
    #[arg(long = "worker", hide = true, value_name = "INDEX")]
    index: Option<usize>,
}

/// Serves by several processes until SIGINT or SIGTERM.
///
/// # Errors
/// When the port cannot be had, or the kernel refuses what a server is built on.
pub fn serve_by_processes(
    options: &ServerOptions,
    workers: &WorkerOptions,
    identity: WorkerIdentity,
    kind: WorkerKind,
) -> anyhow::Result<()> {
    match identity.index {
        Some(index) => worker::run(options, workers.pin.then_some(index), kind),
        None => master::run(options, workers, kind),
    }
}

/// Workers of a server that can serve one connection with each: more than there are in a usual experiment.
const BLOCKING_WORKERS: usize = 128;

impl WorkerKind {
    fn workers(self, options: &WorkerOptions) -> usize {
        match self {
            Self::EventLoop => options.workers(),
            Self::BlockingAccept => options.asked_for().unwrap_or(BLOCKING_WORKERS),
        }
    }

    fn waits_in(self) -> &'static str {
        match self {
            Self::EventLoop => "epoll_wait",
            Self::BlockingAccept => WAITS_IN,
        }
    }
}
