//! An event loop in each of several threads: `echo-mt`. Does not know what a loop does.

use super::{
    EventLoop, Listener, ServerOptions, Style, Summary, Trigger, WorkerOptions,
    listener::Blocking,
    serve::{announce, conclude, get_ready},
    threads::run_threads,
};

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
    let loops = loops.map(|listener| EventLoop::new(listener, &stop, style, options)).collect::<Result<Vec<_>, _>>()?;
    announce(listeners[0].address())?;
    let totals = run_threads(loops.into_iter().map(|event_loop| move || event_loop.run()), workers.pin)?;
    conclude(&Summary::of_threads("epoll_wait", totals), options, workers.balance)
}
