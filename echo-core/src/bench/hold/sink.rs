//! The part that accepts and keeps: a server whose price in memory is its sockets and nothing else.

use std::{
    net::{Ipv4Addr, TcpListener},
    os::fd::OwnedFd,
};

use rustix::{
    event::epoll::{self, EventData, EventFlags},
    io::Errno,
    net::{self, SocketFlags},
};

use super::{
    message::{Command, Message, SinkSpec, send},
    part::{COMMANDS, MESSAGE_INTERVAL_NS, epoll_with_commands, wait},
};
use crate::{Error, bench::clock::now_ns, descriptors};

const LISTENER: u64 = 0;
/// As long as the kernel allows: it caps this at somaxconn.
const BACKLOG: i32 = 65_535;

pub(super) fn run(spec: SinkSpec) -> Result<(), Error> {
    descriptors::make_room(spec.connections, 1)?;
    let listener = listen().map_err(|source| Error::Listen { address: (Ipv4Addr::LOCALHOST, 0).into(), source })?;
    let epoll = epoll_with_commands()?;
    epoll::add(&epoll, &listener, EventData::new_u64(LISTENER), EventFlags::IN)
        .map_err(Error::system("watch a listener"))?;
    send(&Message::Ready(listener.local_addr().ok()))?;
    let mut sockets = Vec::with_capacity(spec.connections as usize);
    let (mut told, mut told_ns) = (0, now_ns());
    loop {
        let events = wait(&epoll, if told == sockets.len() { 1000 } else { 100 })?;
        for event in events {
            match event.data.u64() {
                COMMANDS if Command::receive()? == Command::End => return Ok(()),
                COMMANDS => {}
                _ => accept_all(&listener, &mut sockets)?,
            }
        }
        if sockets.len() > told && now_ns() - told_ns >= MESSAGE_INTERVAL_NS {
            (told, told_ns) = (sockets.len(), now_ns());
            send(&Message::Has(u32::try_from(told).unwrap_or(u32::MAX)))?;
        }
    }
}

fn listen() -> std::io::Result<TcpListener> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    // Again, for a longer queue than the library's.
    net::listen(&listener, BACKLOG)?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

fn accept_all(listener: &TcpListener, sockets: &mut Vec<OwnedFd>) -> Result<(), Error> {
    loop {
        match net::accept_with(listener, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC) {
            Ok(socket) => sockets.push(socket),
            Err(Errno::AGAIN) => return Ok(()),
            // Gone before it was accepted.
            Err(Errno::CONNABORTED | Errno::INTR) => {}
            Err(errno) => return Err(Error::system("accept a connection")(errno)),
        }
    }
}
