//! The whole life of a single-threaded server: listen, say so, serve, sum up.

use super::{EventLoop, Listener, ServerOptions, Trigger};
use crate::{Stop, descriptors, print};

/// Serves until SIGINT or SIGTERM, and prints where it listens before and the totals after.
///
/// # Errors
/// When the port cannot be had, or the kernel refuses what the loop is built on.
pub fn serve(options: &ServerOptions, trigger: Trigger) -> anyhow::Result<()> {
    // Before the port is open: whoever sees the server listen may stop it at once.
    let stop = Stop::on_signals()?;
    // One descriptor for each connection: the usual soft limit of 1024 would stall the next one.
    descriptors::raise_limit()?;
    let listener = Listener::open(options.address(), options.backlog)?;
    let event_loop = EventLoop::new(&listener, &stop, trigger, options.buffer)?;
    print(&format!("listening on {}\n", listener.address()))?;
    let totals = event_loop.run()?;
    print(&format!("totals: {totals}\n"))?;
    Ok(())
}
