//! The part that connects and keeps. Does not decide how many, from where, and until when.

use std::{net::SocketAddrV4, os::fd::OwnedFd, time::Duration};

use nix::sys::socket::{setsockopt, sockopt::IpBindAddressNoPort};
use reports::{
    histogram::{FINE, Histogram},
    hold::FirstFailure,
};
use rustix::{
    event::epoll::{self, EventData, EventFlags},
    io::Errno,
    net::{self, AddressFamily, RecvFlags, SocketFlags, SocketType, sockopt},
};
use slab::Slab;

use super::{
    message::{Command, ConnectSpec, Message, Opened, send},
    part::{COMMANDS, MESSAGE_INTERVAL_NS, epoll_with_commands, wait},
};
use crate::{
    Error,
    bench::{Failure, clock::now_ns},
    descriptors,
};

/// A part that has failed so often opens no more: the next would fail the same way.
const MOST_FAILURES: u64 = 10;
/// Connects between two looks at epoll.
const STARTS_PER_TURN: u32 = 64;

pub(super) fn run(spec: ConnectSpec) -> Result<(), Error> {
    descriptors::make_room(spec.connections, 1)?;
    let mut part = Part::new(spec)?;
    send(&Message::Ready(None))?;
    if Command::receive()? == Command::End || part.open()? == Command::End {
        return Ok(());
    }
    let Part { opened, held, .. } = part;
    send(&Message::Opened(opened))?;
    while Command::receive()? != Command::End {}
    let lost = held.iter().filter(|socket| has_ended(socket)).count();
    // Half a million connections in TIME_WAIT are of no use to whoever comes next.
    for socket in &held {
        let _ = sockopt::set_socket_linger(socket, Some(Duration::ZERO));
    }
    send(&Message::Ended { lost: u32::try_from(lost).unwrap_or(u32::MAX) })
}

fn has_ended(socket: &OwnedFd) -> bool {
    !matches!(
        net::recv(socket, &mut [0u8; 1][..], RecvFlags::PEEK | RecvFlags::DONTWAIT),
        Err(Errno::AGAIN) | Ok((_, 1..))
    )
}

struct Connecting {
    socket: OwnedFd,
    started_ns: u64,
}

struct Part {
    spec: ConnectSpec,
    epoll: OwnedFd,
    connecting: Slab<Connecting>,
    held: Vec<OwnedFd>,
    attempted: u32,
    failures: u64,
    opened: Opened,
}

impl Part {
    fn new(spec: ConnectSpec) -> Result<Self, Error> {
        let opened = Opened {
            count: 0,
            failed: [].into(),
            first_failure: None,
            first_ns: 0,
            last_ns: 0,
            connect: Histogram::new(FINE),
        };
        Ok(Self {
            epoll: epoll_with_commands()?,
            connecting: Slab::with_capacity(spec.at_once as usize),
            held: Vec::with_capacity(spec.connections as usize),
            attempted: 0,
            failures: 0,
            opened,
            spec,
        })
    }

    /// Opens them all, or as many as can be had. Gives [`Command::End`] when the pipe has ended.
    fn open(&mut self) -> Result<Command, Error> {
        self.opened.first_ns = now_ns();
        self.opened.last_ns = self.opened.first_ns;
        let mut told_ns = self.opened.first_ns;
        while self.has_more() || !self.connecting.is_empty() {
            for _ in 0..STARTS_PER_TURN {
                if !self.has_more() || self.connecting.len() >= self.spec.at_once as usize {
                    break;
                }
                self.start();
            }
            let is_full = !self.has_more() || self.connecting.len() >= self.spec.at_once as usize;
            for event in wait(&self.epoll, if is_full { 100 } else { 0 })? {
                match event.data.u64() {
                    COMMANDS => match Command::receive()? {
                        Command::Go => {}
                        command => return Ok(command),
                    },
                    token => self.finish(usize::try_from(token).unwrap_or(usize::MAX)),
                }
            }
            let now_ns = now_ns();
            if now_ns - told_ns >= MESSAGE_INTERVAL_NS {
                told_ns = now_ns;
                self.expire(now_ns);
                send(&Message::Has(self.opened.count))?;
            }
        }
        Ok(Command::Go)
    }

    fn has_more(&self) -> bool {
        self.attempted < self.spec.connections && self.failures < MOST_FAILURES
    }

    fn start(&mut self) {
        let number = self.attempted as usize;
        self.attempted += 1;
        let started_ns = now_ns();
        let socket = match self.connect(number) {
            Ok(socket) => socket,
            Err(errno) => return self.fail(errno),
        };
        // Over loopback the handshake is over when connect() returns, unless a queue was full.
        if net::getpeername(&socket).is_ok() {
            return self.keep(socket, started_ns);
        }
        let entry = self.connecting.vacant_entry();
        let flags = EventFlags::OUT | EventFlags::ET;
        match epoll::add(&self.epoll, &socket, EventData::new_u64(entry.key() as u64), flags) {
            Ok(()) => drop(entry.insert(Connecting { socket, started_ns })),
            Err(errno) => self.fail(errno),
        }
    }

    fn connect(&self, number: usize) -> Result<OwnedFd, Errno> {
        let server = self.spec.server;
        let family = if server.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
        let socket = net::socket_with(family, SocketType::STREAM, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC, None)?;
        if let Some(&source) = self.spec.sources.get(number % self.spec.sources.len().max(1)) {
            // The port is chosen by connect(), which may give the same one for another source.
            setsockopt(&socket, IpBindAddressNoPort, &true).map_err(|errno| Errno::from_raw_os_error(errno as i32))?;
            net::bind(&socket, &SocketAddrV4::new(source, 0))?;
        }
        match net::connect(&socket, &server) {
            Ok(()) | Err(Errno::INPROGRESS) => Ok(socket),
            Err(errno) => Err(errno),
        }
    }

    /// A connect that was in flight has an event.
    fn finish(&mut self, token: usize) {
        let Some(connecting) = self.connecting.try_remove(token) else { return };
        let error = sockopt::socket_error(&connecting.socket).unwrap_or_else(Err);
        // A kept connection is not watched: that would be memory of ours, not of the connection.
        let result = error.and_then(|()| epoll::delete(&self.epoll, &connecting.socket));
        match result {
            Ok(()) => self.keep(connecting.socket, connecting.started_ns),
            Err(errno) => self.fail(errno),
        }
    }

    fn keep(&mut self, socket: OwnedFd, started_ns: u64) {
        self.opened.last_ns = now_ns();
        self.opened.connect.record(self.opened.last_ns - started_ns);
        self.opened.count += 1;
        self.held.push(socket);
    }

    fn fail(&mut self, errno: Errno) {
        self.failures += 1;
        let kind = Failure::from(errno).name();
        *self.opened.failed.entry(kind.to_owned()).or_default() += 1;
        let opened_before = u64::from(self.opened.count);
        self.opened.first_failure.get_or_insert_with(|| FirstFailure {
            kind: kind.to_owned(),
            error: std::io::Error::from(errno).to_string(),
            opened_before,
            at_ns: now_ns(),
        });
    }

    fn expire(&mut self, now_ns: u64) {
        let limit_ns = now_ns.saturating_sub(self.spec.timeout_ns);
        let late = self.connecting.iter().filter(|(_, connecting)| connecting.started_ns <= limit_ns);
        for token in late.map(|(token, _)| token).collect::<Vec<_>>() {
            drop(self.connecting.try_remove(token));
            self.fail(Errno::TIMEDOUT);
        }
    }
}
