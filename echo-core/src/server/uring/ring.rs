//! The ring: what is asked of the kernel, and what came of it, with every piece of memory owned until the kernel is done
//! with it. Does not know what a connection is.
#![expect(unsafe_code, reason = "what is queued here points to memory and descriptors")]

use std::{
    io,
    mem::ManuallyDrop,
    os::fd::{AsFd, AsRawFd, FromRawFd, IntoRawFd, OwnedFd},
    time::Duration,
};

use io_uring::{
    IoUring, Probe, cqueue, opcode, squeue,
    types::{Fd, SubmitArgs, Timespec},
};
use rustix::{
    event::PollFlags,
    io::Errno,
    net::{RecvFlags, SendFlags, SocketFlags},
};
use slab::Slab;

use super::buffers::{Buffers, Chunk};
use crate::Error;

/// Requests that are queued before the kernel is called: more are handed over in between.
const ENTRIES: u32 = 1024;
/// The buffers' group, the only one.
const GROUP: u16 = 0;
/// The user data of a request: what it is in the top byte, whose it is below.
const KIND_SHIFT: u32 = 56;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum Kind {
    Accept,
    Receive,
    Send,
    Stop,
    /// Requests whose own end is of no interest.
    Silent,
}

const KINDS: [Kind; 5] = [Kind::Accept, Kind::Receive, Kind::Send, Kind::Stop, Kind::Silent];

/// What came of a request.
#[derive(Debug)]
pub(super) enum Event {
    /// A connection, or why there is none; whether more will follow without asking.
    Accepted(Result<OwnedFd, Errno>, bool),
    /// Bytes for `token`, none at the end of the stream; whether more will follow without asking.
    Received(usize, Result<Option<Chunk>, Errno>, bool),
    /// The answer of `token` with the bytes that were sent from its front.
    Sent(usize, Result<usize, Errno>, Vec<u8>),
    /// A signal came.
    Stopped,
}

/// An io_uring with provided buffers.
pub(super) struct Ring {
    kernel: IoUring,
    pub(super) buffers: Buffers,
    /// Answers that the kernel reads, and whose they are. Never freed while it may do so, not even by dropping the ring.
    sending: ManuallyDrop<Slab<(usize, Vec<u8>)>>,
    /// Calls of `io_uring_enter`.
    pub(super) enters: u64,
}

impl Ring {
    /// Sets up a ring with buffers of this size.
    ///
    /// # Errors
    /// [`Error::IoUring`] when the kernel has none, an old one, or forbids it.
    pub(super) fn new(buffer_bytes: usize) -> Result<Self, Error> {
        Self::try_new(buffer_bytes).map_err(|source| Error::IoUring { source })
    }

    fn try_new(buffer_bytes: usize) -> io::Result<Self> {
        // Completions are handed over when this thread asks for them (Linux 6.1), or as before.
        let deferred = IoUring::builder().setup_single_issuer().setup_defer_taskrun().build(ENTRIES);
        let ring = deferred.or_else(|error| match error.raw_os_error() {
            Some(code) if code == Errno::INVAL.raw_os_error() => IoUring::new(ENTRIES),
            _ => Err(error),
        })?;
        // Multishot receive cannot be asked for; it came with this operation, in Linux 6.0.
        let mut probe = Probe::new();
        ring.submitter().register_probe(&mut probe)?;
        if !probe.is_supported(opcode::SendZc::CODE) {
            return Err(io::ErrorKind::Unsupported.into());
        }
        let buffers = Buffers::new(buffer_bytes);
        let (address, entries) = buffers.ring();
        // SAFETY: an array of that many entries, aligned to a page, which is never freed.
        unsafe { ring.submitter().register_buf_ring_with_flags(address, entries, GROUP, 0)? };
        Ok(Self { kernel: ring, buffers, sending: ManuallyDrop::new(Slab::new()), enters: 0 })
    }

    /// Asks for a connection, or for all that come (`multishot`).
    pub(super) fn accept(&mut self, listener: impl AsFd, multishot: bool) -> Result<(), Error> {
        let (fd, flags) = (raw(listener), SocketFlags::CLOEXEC.bits().cast_signed());
        let entry = if multishot {
            opcode::AcceptMulti::new(fd).flags(flags).build()
        } else {
            opcode::Accept::new(fd, std::ptr::null_mut(), std::ptr::null_mut()).flags(flags).build()
        };
        self.push(entry, Kind::Accept, 0)
    }

    /// Asks for all bytes that come for `token`.
    pub(super) fn receive(&mut self, socket: impl AsFd, token: usize) -> Result<(), Error> {
        self.push(opcode::RecvMulti::new(raw(socket), GROUP).build(), Kind::Receive, token)
    }

    /// Takes the receive of `token` back; its last event comes all the same.
    pub(super) fn stop_receiving(&mut self, token: usize) -> Result<(), Error> {
        let entry = opcode::AsyncCancel::new(user_data(Kind::Receive, token)).build();
        self.push(entry, Kind::Silent, 0)
    }

    /// Sends all of `bytes`, as far as the kernel can.
    pub(super) fn send(&mut self, socket: impl AsFd, token: usize, bytes: Vec<u8>) -> Result<(), Error> {
        // MSG_WAITALL, here: the kernel goes on after a partial send.
        let flags = (SendFlags::NOSIGNAL.bits() | RecvFlags::WAITALL.bits()).cast_signed();
        let length = u32::try_from(bytes.len()).expect("bug: an answer is one buffer or a few");
        let entry = opcode::Send::new(raw(socket), bytes.as_ptr(), length).flags(flags).build();
        let place = self.sending.insert((token, bytes));
        self.push(entry, Kind::Send, place)
    }

    /// Closes a socket with the next call.
    pub(super) fn close(&mut self, socket: OwnedFd) -> Result<(), Error> {
        let entry = opcode::Close::new(Fd(socket.into_raw_fd())).build();
        self.push(entry.flags(squeue::Flags::SKIP_SUCCESS), Kind::Silent, 0)
    }

    /// Asks to be told when `stop` is readable.
    pub(super) fn watch(&mut self, stop: impl AsFd) -> Result<(), Error> {
        let events = u32::from(PollFlags::IN.bits().cast_unsigned());
        self.push(opcode::PollAdd::new(raw(stop), events).build(), Kind::Stop, 0)
    }

    fn push(&mut self, entry: squeue::Entry, kind: Kind, token: usize) -> Result<(), Error> {
        let entry = entry.user_data(user_data(kind, token));
        loop {
            // SAFETY: the only memory that an entry points to is an answer in `sending`, on the heap, which stays there
            // until its event, for ever if that never comes.
            if unsafe { self.kernel.submission().push(&entry) }.is_ok() {
                return Ok(());
            }
            self.enters += 1;
            match self.kernel.submit() {
                Err(error) if !is_passing(&error) => {
                    return Err(Error::System { action: "hand over to io_uring", source: error });
                }
                _ => {}
            }
        }
    }

    /// Hands over what is queued, waits for an event, but not longer than `longest`, and takes all there are; false when
    /// a signal handler ran instead.
    pub(super) fn wait(&mut self, longest: Option<Duration>, events: &mut Vec<Event>) -> Result<bool, Error> {
        self.enters += 1;
        let waited = match longest {
            None => self.kernel.submit_and_wait(1),
            Some(longest) => {
                let timeout = Timespec::from(longest);
                self.kernel.submitter().submit_with_args(1, &SubmitArgs::new().timespec(&timeout))
            }
        };
        let time_is_up = match waited {
            Err(error) if !is_passing(&error) => {
                return Err(Error::System { action: "wait for io_uring", source: error });
            }
            Err(error) => error.raw_os_error() == Some(Errno::TIME.raw_os_error()),
            Ok(_) => false,
        };
        for entry in self.kernel.completion() {
            events.extend(event(&entry, &self.buffers, &mut self.sending));
        }
        // A call that handed something over does not say so when a signal ended its wait.
        Ok(time_is_up || !events.is_empty())
    }
}

/// What a completion means; nothing for those of no interest.
fn event(entry: &cqueue::Entry, buffers: &Buffers, sending: &mut Slab<(usize, Vec<u8>)>) -> Option<Event> {
    let place = usize::try_from(entry.user_data() & ((1 << KIND_SHIFT) - 1)).expect("bug: a token is an index");
    let kind = usize::try_from(entry.user_data() >> KIND_SHIFT).expect("bug: one byte");
    let more = cqueue::more(entry.flags());
    let result = match entry.result() {
        code if code < 0 => Err(Errno::from_raw_os_error(-code)),
        value => Ok(value),
    };
    let count = |value: i32| usize::try_from(value).expect("bug: not negative");
    Some(match KINDS[kind] {
        // SAFETY: a new descriptor, and nobody else has been told its number.
        Kind::Accept => Event::Accepted(result.map(|number| unsafe { OwnedFd::from_raw_fd(number) }), more),
        Kind::Receive => {
            let chunk = |value| cqueue::buffer_select(entry.flags()).map(|buffer| buffers.chunk(buffer, count(value)));
            Event::Received(place, result.map(chunk), more)
        }
        Kind::Send => {
            let (token, bytes) = sending.remove(place);
            Event::Sent(token, result.map(count), bytes)
        }
        Kind::Stop => Event::Stopped,
        Kind::Silent => return None,
    })
}

/// Time is up, a signal handler ran, or there are events to take first.
fn is_passing(error: &io::Error) -> bool {
    let code = error.raw_os_error().unwrap_or_default();
    [Errno::TIME, Errno::INTR, Errno::BUSY, Errno::AGAIN].iter().any(|errno| errno.raw_os_error() == code)
}

fn user_data(kind: Kind, token: usize) -> u64 {
    (kind as u64) << KIND_SHIFT | token as u64
}

fn raw(source: impl AsFd) -> Fd {
    Fd(source.as_fd().as_raw_fd())
}
