//! One connection of an echo server: what is read is sent back at once. Does not touch epoll.
//!
//! Nothing is read while an answer is pending, so a peer that does not read costs one buffer at most, and the end of the
//! stream is seen only after all that came before it was sent: there is no half-closed state to keep.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::{
    io::Errno,
    net::{self, RecvFlags, SendFlags},
};

use super::{totals::Totals, trigger::Interest};

/// An accepted socket and the unsent rest of its answer.
#[derive(Debug)]
pub(super) struct Connection {
    socket: OwnedFd,
    /// Empty, and without memory of its own, except after a partial send.
    pending: Vec<u8>,
    interest: Interest,
}

/// What a visit to a connection leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// Go on waiting as before.
    Wait,
    /// Wait for something else from now on.
    Watch(Interest),
    /// More may be there than this visit was allowed to take.
    MoreToRead,
    /// The stream ended, or broke.
    Close,
}

impl Connection {
    pub(super) fn new(socket: OwnedFd) -> Self {
        Self { socket, pending: Vec::new(), interest: Interest::Read }
    }

    /// Does what the socket is ready for, with at most `turns` receives into `buffer`.
    pub(super) fn visit(&mut self, turns: u32, buffer: &mut [u8], totals: &mut Totals) -> Next {
        match self.interest {
            Interest::Read => self.echo(turns, buffer, totals),
            Interest::Write | Interest::Nothing => self.send_pending(totals),
        }
    }

    fn echo(&mut self, turns: u32, buffer: &mut [u8], totals: &mut Totals) -> Next {
        for _ in 0..turns {
            let received = match net::recv(&self.socket, &mut *buffer, RecvFlags::empty()) {
                Ok((_, 0)) => return Next::Close,
                Ok((_, received)) => received,
                Err(Errno::AGAIN) => return Next::Wait,
                Err(_) => return Next::Close,
            };
            totals.requests += 1;
            totals.received_bytes += received as u64;
            let Ok(sent) = send(&self.socket, &buffer[..received]) else { return Next::Close };
            totals.sent_bytes += sent as u64;
            if sent < received {
                self.pending = buffer[sent..received].to_vec();
                return self.watch(Interest::Write);
            }
        }
        Next::MoreToRead
    }

    fn send_pending(&mut self, totals: &mut Totals) -> Next {
        let Ok(sent) = send(&self.socket, &self.pending) else { return Next::Close };
        totals.sent_bytes += sent as u64;
        if sent < self.pending.len() {
            self.pending.drain(..sent);
            return Next::Wait;
        }
        self.pending = Vec::new();
        self.watch(Interest::Read)
    }

    fn watch(&mut self, interest: Interest) -> Next {
        self.interest = interest;
        Next::Watch(interest)
    }
}

impl AsFd for Connection {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// Sends what the socket has room for, perhaps nothing. A peer that has gone is an error here, never a SIGPIPE.
fn send(socket: &OwnedFd, bytes: &[u8]) -> Result<usize, Errno> {
    match net::send(socket, bytes, SendFlags::NOSIGNAL) {
        Err(Errno::AGAIN) => Ok(0),
        result => result,
    }
}
