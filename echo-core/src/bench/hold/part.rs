//! What a process is that was started as a part: which kind, and how it waits.

use std::os::fd::OwnedFd;

use clap::ValueEnum;
use rustix::{
    buffer::spare_capacity,
    event::{
        Timespec,
        epoll::{self, CreateFlags, Event, EventData, EventFlags},
    },
    io::Errno,
};

use super::{connect, message::receive_spec, sink};
use crate::Error;

/// Token of the pipe with commands.
pub(super) const COMMANDS: u64 = u64::MAX;
/// Between two messages about how many connections there are, in ns.
pub(super) const MESSAGE_INTERVAL_NS: u64 = 100_000_000;
const EVENTS: usize = 256;

/// What a part does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Role {
    /// Connects.
    Connect,
    /// Accepts.
    Sink,
}

impl Role {
    /// The word on the command line.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Connect => "connect",
            Self::Sink => "sink",
        }
    }
}

/// Does what the first line on stdin says, until stdin ends.
///
/// # Errors
/// When there is no room for the descriptors, or the kernel refuses what the part is built on.
pub fn run_part(role: Role) -> Result<(), Error> {
    match role {
        Role::Connect => connect::run(receive_spec()?),
        Role::Sink => sink::run(receive_spec()?),
    }
}

/// An epoll that watches for commands.
pub(super) fn epoll_with_commands() -> Result<OwnedFd, Error> {
    let epoll = epoll::create(CreateFlags::CLOEXEC).map_err(Error::system("create an epoll"))?;
    epoll::add(&epoll, std::io::stdin(), EventData::new_u64(COMMANDS), EventFlags::IN)
        .map_err(Error::system("watch for commands"))?;
    Ok(epoll)
}

/// Events, after `longest_ms` at most.
pub(super) fn wait(epoll: &OwnedFd, longest_ms: u32) -> Result<Vec<Event>, Error> {
    let mut events = Vec::with_capacity(EVENTS);
    let timeout = Timespec { tv_sec: 0, tv_nsec: i64::from(longest_ms) * 1_000_000 };
    match epoll::wait(epoll, spare_capacity(&mut events), Some(&timeout)) {
        Ok(_) | Err(Errno::INTR) => Ok(events),
        Err(errno) => Err(Error::system("wait for events")(errno)),
    }
}
