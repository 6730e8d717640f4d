//! What a server counts over its life. Does not know how it is counted, nor how it is printed.

use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

/// Counts of one worker; those of several add up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Totals {
    /// Connections that were accepted.
    pub connections: u64,
    /// Connections that were closed before the server stopped, by either side or by a reset.
    pub closed: u64,
    /// Receives that brought bytes, each answered. A byte stream has no borders between requests: for requests that fit
    /// in the buffer and in one segment this is the client's number; a larger one counts once for each receive.
    pub requests: u64,
    /// Bytes that were read.
    pub received_bytes: u64,
    /// Bytes that were sent back.
    pub sent_bytes: u64,
    /// Returns of the call that the server waits in, those by a signal handler (EINTR) left out.
    pub wake_ups: u64,
    /// Such returns after which no byte was read or sent, nothing was accepted and nothing was closed. The one return
    /// that tells the server to stop is not among them.
    pub useless_wake_ups: u64,
    /// System calls that serving took, by kind. What starts and stops the process, and what the runtime does to start
    /// and end a thread, is not counted.
    pub system_calls: SystemCalls,
}

/// Calls into the kernel, failed ones included, under the kernel's names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "each is the system call of that name")]
pub struct SystemCalls {
    pub accept4: u64,
    pub recvfrom: u64,
    pub sendto: u64,
    pub close: u64,
    pub epoll_ctl: u64,
    pub epoll_wait: u64,
    pub io_uring_enter: u64,
}

impl Totals {
    /// A sum that moves whenever something useful was done.
    pub(super) fn work(&self) -> u64 {
        self.connections + self.closed + self.received_bytes + self.sent_bytes
    }

    /// Notes the end of a connection whose descriptor is about to be closed by the caller.
    pub(super) fn close(&mut self) {
        self.closed += 1;
        self.system_calls.close += 1;
    }
}

impl SystemCalls {
    /// Each kind with its count, in the order of a connection's life.
    #[must_use]
    pub fn by_kind(&self) -> [(&'static str, u64); 7] {
        [
            ("accept4", self.accept4),
            ("recvfrom", self.recvfrom),
            ("sendto", self.sendto),
            ("close", self.close),
            ("epoll_ctl", self.epoll_ctl),
            ("epoll_wait", self.epoll_wait),
            ("io_uring_enter", self.io_uring_enter),
        ]
    }
}

impl AddAssign for Totals {
    fn add_assign(&mut self, other: Self) {
        self.connections += other.connections;
        self.closed += other.closed;
        self.requests += other.requests;
        self.received_bytes += other.received_bytes;
        self.sent_bytes += other.sent_bytes;
        self.wake_ups += other.wake_ups;
        self.useless_wake_ups += other.useless_wake_ups;
        let (calls, more) = (&mut self.system_calls, other.system_calls);
        calls.accept4 += more.accept4;
        calls.recvfrom += more.recvfrom;
        calls.sendto += more.sendto;
        calls.close += more.close;
        calls.epoll_ctl += more.epoll_ctl;
        calls.epoll_wait += more.epoll_wait;
        calls.io_uring_enter += more.io_uring_enter;
    }
}
