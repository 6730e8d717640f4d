//! How a server of non-blocking connections ends: what was sent before the signal is answered. Does not wait for signals.

use std::{
    thread,
    time::{Duration, Instant},
};

use super::{
    connection::{Connection, Next},
    echo::Echo,
    listener::{Accepted, Listener},
    trigger::Style,
};
use crate::Error;

/// How long a server that stops goes on with answers that a peer does not take.
pub(super) const DRAIN: Duration = Duration::from_millis(500);
/// How often a server that stops looks around.
pub(super) const DRAIN_STEP: Duration = Duration::from_millis(5);
/// Connections that are still taken off the accept queue.
const MOST_QUEUED: usize = 65_536;

/// Answers what has come, to those that still queue too, and closes all connections.
///
/// # Errors
/// When the listener itself fails.
pub(super) fn drain(
    listener: &Listener,
    mut open: Vec<Connection>,
    style: Style,
    echo: &mut Echo,
) -> Result<(), Error> {
    let deadline = Instant::now() + DRAIN;
    for _ in 0..MOST_QUEUED {
        echo.totals.system_calls.accept4 += 1;
        match listener.accept()? {
            Accepted::Connection(socket) => {
                echo.totals.connections += 1;
                open.push(Connection::new(socket));
            }
            Accepted::Gone => {}
            Accepted::Empty | Accepted::Exhausted => break,
        }
    }
    loop {
        let before = open.len();
        open.retain_mut(|connection| connection.settle(style, echo) == Next::Wait);
        echo.totals.system_calls.close += (before - open.len()) as u64;
        if open.is_empty() || Instant::now() >= deadline {
            break;
        }
        thread::sleep(DRAIN_STEP);
    }
    echo.totals.system_calls.close += open.len() as u64;
    Ok(())
}
