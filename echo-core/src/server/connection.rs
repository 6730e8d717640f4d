//! One connection of an epoll server: what is read is sent back. Does not touch epoll.
//!
//! Nothing is read while an answer is pending, so a peer that does not read costs one buffer at most, and the end of the
//! stream is seen only after all that came before it was sent: there is no half-closed state to keep.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::{event::epoll::EventFlags, io::Errno};

use super::{
    echo::Echo,
    trigger::{Interest, Style, Write},
};

/// An accepted socket and the unsent rest of its answer.
#[derive(Debug)]
pub(super) struct Connection {
    socket: OwnedFd,
    /// Empty, and without memory of its own, except while an answer waits for room.
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

    /// What it waits for.
    pub(super) fn interest(&self) -> Interest {
        self.interest
    }

    /// Whether it may be reported as `ready` without any use: only one that keeps EPOLLOUT registered is.
    pub(super) fn waits_for_more_than(&self, ready: EventFlags) -> bool {
        self.interest == Interest::Read && ready == EventFlags::OUT
    }

    /// Does what the socket is ready for.
    pub(super) fn visit(&mut self, style: Style, echo: &mut Echo) -> Next {
        let turns = style.trigger.receives_per_visit();
        match (self.interest, style.write) {
            (Interest::Write, _) => self.send_pending(echo),
            (Interest::Read, Write::Direct) => self.answer(turns, echo),
            (Interest::Read, Write::Mod) => self.collect(turns, echo),
        }
    }

    fn answer(&mut self, turns: u32, echo: &mut Echo) -> Next {
        for _ in 0..turns {
            let received = match echo.receive(&self.socket, 0) {
                Ok(0) => return Next::Close,
                Ok(received) => received,
                Err(Errno::AGAIN) => return Next::Wait,
                Err(_) => return Next::Close,
            };
            let Ok(sent) = echo.answer(&self.socket, 0, received) else { return Next::Close };
            if sent < received {
                self.pending = echo.buffer[sent..received].to_vec();
                return self.watch(Interest::Write);
            }
        }
        Next::MoreToRead
    }

    fn collect(&mut self, turns: u32, echo: &mut Echo) -> Next {
        let mut filled = 0;
        for _ in 0..turns {
            if filled == echo.buffer.len() {
                break;
            }
            match echo.receive(&self.socket, filled) {
                // The end, and a reset after it, are there to be read again after the answer.
                Ok(0) if filled > 0 => break,
                Ok(0) => return Next::Close,
                Ok(received) => filled += received,
                Err(Errno::AGAIN) => break,
                Err(_) => return Next::Close,
            }
        }
        if filled == 0 {
            return Next::Wait;
        }
        self.pending = echo.buffer[..filled].to_vec();
        self.watch(Interest::Write)
    }

    fn send_pending(&mut self, echo: &mut Echo) -> Next {
        let Ok(sent) = echo.send(&self.socket, &self.pending) else { return Next::Close };
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

    /// Answers what has come so far, whatever epoll reported; [`Next::Wait`] if an answer could not be sent in full,
    /// else [`Next::Close`].
    pub(super) fn settle(&mut self, style: Style, echo: &mut Echo) -> Next {
        // A peer that never stops sending is cut off.
        const MOST_VISITS: u32 = 65_536;
        for _ in 0..MOST_VISITS {
            match self.visit(style, echo) {
                Next::Wait if self.interest == Interest::Write => return Next::Wait,
                Next::Wait | Next::Close => return Next::Close,
                Next::Watch(_) | Next::MoreToRead => {}
            }
        }
        Next::Close
    }
}

impl AsFd for Connection {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
