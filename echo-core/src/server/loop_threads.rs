//! An event loop in each of several threads: `echo-mt`. Does not know what a loop does.

use std::thread::{Builder, ScopedJoinHandle, scope};

use anyhow::Context as _;

use super::{
    EventLoop, Listener, ServerOptions, Style, Summary, Totals, Trigger, WorkerOptions, WorkerTotals,
    listener::Blocking,
    pinning::pin,
    serve::{announce, conclude, get_ready},
};
use crate::Error;

/// How the threads of one process share a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Sharing {
    /// A listener for each, the kernel spreads connections by their addresses (SO_REUSEPORT)
    Reuseport,
    /// One listener, in the epoll of each; one of them is woken (EPOLLEXCLUSIVE)
    Exclusive,
}

/// Serves with an event loop in each of several threads.
///
/// # Errors
/// When the port cannot be had, or the kernel refuses a thread or what a loop is built on.
pub fn serve_by_threads(options: &ServerOptions, workers: &WorkerOptions, sharing: Sharing) -> anyhow::Result<()> {
    let stop = get_ready()?;
    let shared_listener = sharing == Sharing::Exclusive;
    let style = Style { shared_listener, ..Style::direct(Trigger::Level) };
    let members = if shared_listener { 1 } else { workers.workers() };
    let listeners = Listener::open_group(options, Blocking::No, members)?;
    let loops = listeners.iter().cycle().take(workers.workers());
    let loops = loops.map(|listener| EventLoop::new(listener, &stop, style, options)).collect::<Result<_, _>>()?;
    announce(listeners[0].address())?;
    let totals = run(loops, workers.pin)?;
    let of_one = |totals| WorkerTotals { totals, ..WorkerTotals::default() };
    let summary = Summary::of_workers("epoll_wait", totals.into_iter().map(of_one).collect());
    conclude(&summary, options, workers.balance)
}

/// Runs each loop to its end. All of them end by the same signal.
fn run(loops: Vec<EventLoop<'_>>, pinned: bool) -> anyhow::Result<Vec<Totals>> {
    scope(|scope| {
        let mut threads: Vec<ScopedJoinHandle<'_, Result<Totals, Error>>> = Vec::with_capacity(loops.len());
        for (index, event_loop) in loops.into_iter().enumerate() {
            let body = move || {
                if pinned {
                    pin(index)?;
                }
                event_loop.run()
            };
            let thread = Builder::new().name(format!("worker-{index}")).spawn_scoped(scope, body);
            threads.push(thread.context("failed to start a thread")?);
        }
        let join = |thread: ScopedJoinHandle<'_, _>| thread.join().expect("bug: a worker panicked");
        Ok(threads.into_iter().map(join).collect::<Result<_, Error>>()?)
    })
}
