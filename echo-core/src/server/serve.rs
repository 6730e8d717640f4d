//! The whole life of a server: get ready, listen, say so, serve, sum up. Does not know how it is served.

use std::net::SocketAddr;

use super::{EventLoop, Listener, ServerOptions, Style, Summary, listener::Blocking};
use crate::{Error, Stop, descriptors, print};

/// Makes a process ready to serve: its signals, and room for descriptors.
///
/// # Errors
/// When the kernel refuses either.
pub(super) fn get_ready() -> Result<Stop, Error> {
    // Before the port is open: whoever sees the server listen may stop it at once.
    let stop = Stop::on_signals()?;
    // One descriptor for each connection: the usual soft limit of 1024 would stall the next one.
    descriptors::raise_limit()?;
    Ok(stop)
}

/// Says that connections are welcome.
pub(super) fn announce(address: SocketAddr) -> std::io::Result<()> {
    print(&format!("listening on {address}\n"))
}

/// Prints what was done.
pub(super) fn conclude(summary: &Summary, options: &ServerOptions, balance: bool) -> anyhow::Result<()> {
    let mut text = if options.json { summary.json()? } else { summary.text() };
    if balance && !options.json {
        text += &summary.balance();
    }
    Ok(print(&text)?)
}

/// Serves with one event loop until SIGINT or SIGTERM, and prints where it listens before and the totals after.
///
/// # Errors
/// When the port cannot be had, or the kernel refuses what the loop is built on.
pub fn serve(options: &ServerOptions, style: Style) -> anyhow::Result<()> {
    let stop = get_ready()?;
    let listener = Listener::open(options, Blocking::No)?;
    let event_loop = EventLoop::new(&listener, &stop, style, options)?;
    announce(listener.address())?;
    conclude(&Summary::of_one("epoll_wait", event_loop.run()?), options, false)
}
