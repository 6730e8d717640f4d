//! One connection on a ring: what waits to be sent, and which requests are under way. Does not talk to the ring.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// A connection and its requests; it may be closed when none is left.
#[derive(Debug)]
pub(super) struct Connection {
    socket: OwnedFd,
    /// Came while an answer was under way.
    pending: Vec<u8>,
    sending: bool,
    receiving: bool,
    cancelled: bool,
    ended: bool,
}

/// What to ask of the ring next.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Nothing: wait.
    Nothing,
    /// Send these bytes.
    Send(Vec<u8>),
    /// Ask for bytes.
    Receive,
    /// Ask for no more bytes.
    StopReceiving,
    /// Forget it.
    Close,
}

impl Connection {
    /// A new one, whose receive was asked for.
    pub(super) fn new(socket: OwnedFd) -> Self {
        Self { socket, pending: Vec::new(), sending: false, receiving: true, cancelled: false, ended: false }
    }

    pub(super) fn into_socket(self) -> OwnedFd {
        self.socket
    }

    /// Notes bytes that came; `more` will follow without asking.
    pub(super) fn received(&mut self, bytes: &[u8], more: bool) {
        self.pending.extend_from_slice(bytes);
        self.receiving = more;
    }

    /// Notes that the receive came to an end, and whether the stream did.
    pub(super) fn receive_ended(&mut self, stream_ended: bool) {
        self.receiving = false;
        self.ended |= stream_ended;
    }

    /// Notes that `sent` of `bytes` went out.
    pub(super) fn sent(&mut self, sent: usize, mut bytes: Vec<u8>) {
        self.sending = false;
        if sent < bytes.len() {
            bytes.drain(..sent);
            bytes.append(&mut self.pending);
            self.pending = bytes;
        }
    }

    /// Notes that nothing can be sent any more.
    pub(super) fn broke(&mut self) {
        self.sending = false;
        self.ended = true;
        self.pending = Vec::new();
    }

    /// What follows from all that was noted. To be asked until nothing does.
    pub(super) fn next(&mut self, most_pending_bytes: usize) -> Step {
        if !self.sending && !self.pending.is_empty() {
            self.sending = true;
            return Step::Send(std::mem::take(&mut self.pending));
        }
        // A peer that does not read its answers is not read from.
        let full = self.pending.len() >= most_pending_bytes;
        if self.receiving {
            let stop = (full || self.ended) && !self.cancelled;
            self.cancelled |= stop;
            return if stop { Step::StopReceiving } else { Step::Nothing };
        }
        if self.ended {
            return if self.sending { Step::Nothing } else { Step::Close };
        }
        if full || (self.cancelled && self.sending) {
            return Step::Nothing;
        }
        (self.receiving, self.cancelled) = (true, false);
        Step::Receive
    }
}

impl AsFd for Connection {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
