//! What a server counts over its life. Does not know how it is counted.

use std::fmt;

/// Counts of one event loop; those of several loops add up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Connections that were accepted.
    pub connections: u64,
    /// Connections that were closed before the server stopped, by either side or by a reset.
    pub closed: u64,
    /// Receives that brought bytes, each answered at once. A byte stream has no borders between requests: for requests
    /// that fit in the buffer and in one segment this is the client's number; a larger one counts once for each receive.
    pub requests: u64,
    /// Bytes that were read.
    pub received_bytes: u64,
    /// Bytes that were sent back.
    pub sent_bytes: u64,
    /// Returns of `epoll_wait`, those by a signal handler (EINTR) left out.
    pub epoll_waits: u64,
    /// Returns of `epoll_wait` after which no byte was read or sent, nothing was accepted and nothing was closed. The
    /// one return that tells the server to stop is not among them.
    pub useless_wake_ups: u64,
}

impl Totals {
    /// A sum that moves whenever something useful was done.
    pub(super) fn work(&self) -> u64 {
        self.connections + self.closed + self.received_bytes + self.sent_bytes
    }
}

impl fmt::Display for Totals {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            out,
            "connections {}, requests {}, bytes {}, epoll_wait returns {}, useless wake-ups {}",
            self.connections, self.requests, self.sent_bytes, self.epoll_waits, self.useless_wake_ups
        )
    }
}
