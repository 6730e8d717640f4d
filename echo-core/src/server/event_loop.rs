//! One epoll, one listener, many connections: who is ready and what follows from it. Does not read or write bytes.

use std::{
    os::fd::{AsFd, OwnedFd},
    time::Instant,
};

use rustix::{
    buffer::spare_capacity,
    event::{
        Timespec,
        epoll::{self, CreateFlags, Event, EventData, EventFlags},
    },
    io::Errno,
};
use slab::Slab;

use super::{
    accepting::Accepting,
    connection::{Connection, Next},
    listener::{Accepted, Listener},
    totals::Totals,
    trigger::{Interest, Trigger},
};
use crate::{Error, Stop};

const STOP: u64 = u64::MAX;
const LISTENER: u64 = u64::MAX - 1;

/// Events taken by one `epoll_wait`.
const EVENTS: usize = 512;
/// Connections accepted in one visit to the listener, so that a flood of them does not starve those that are there.
const ACCEPTS_PER_VISIT: u32 = 256;

/// A single-threaded echo server over one listener.
#[derive(Debug)]
pub struct EventLoop<'a> {
    epoll: OwnedFd,
    listener: &'a Listener,
    trigger: Trigger,
    /// By token. One descriptor gives at most one event in a batch and is closed only while that event is handled, so no
    /// later event of the batch can mean a connection that took over the token.
    connections: Slab<Connection>,
    accepting: Accepting,
    buffer: Vec<u8>,
    totals: Totals,
}

impl<'a> EventLoop<'a> {
    /// A loop that serves `listener` until `stop`, with receives of at most `buffer_bytes`.
    ///
    /// # Errors
    /// When the kernel gives no epoll.
    pub fn new(listener: &'a Listener, stop: &Stop, trigger: Trigger, buffer_bytes: usize) -> Result<Self, Error> {
        let epoll = epoll::create(CreateFlags::CLOEXEC).map_err(Error::system("create an epoll"))?;
        epoll::add(&epoll, stop, EventData::new_u64(STOP), EventFlags::IN)
            .map_err(Error::system("watch for signals"))?;
        epoll::add(&epoll, listener, EventData::new_u64(LISTENER), trigger.flags(Interest::Read))
            .map_err(Error::system("watch the listener"))?;
        Ok(Self {
            epoll,
            listener,
            trigger,
            connections: Slab::new(),
            accepting: Accepting::default(),
            buffer: vec![0; buffer_bytes],
            totals: Totals::default(),
        })
    }

    /// Serves until a signal comes; connections that are open then are closed.
    ///
    /// # Errors
    /// When epoll or the listener itself fails; what happens to a connection never ends the loop.
    pub fn run(mut self) -> Result<Totals, Error> {
        let mut events = Vec::with_capacity(EVENTS);
        loop {
            self.wait(&mut events)?;
            let work_before = self.totals.work();
            let mut stopped = false;
            for event in events.drain(..) {
                match event.data.u64() {
                    STOP => stopped = true,
                    LISTENER => self.accept()?,
                    token => self.serve(token)?,
                }
            }
            if stopped {
                return Ok(self.totals);
            }
            self.totals.useless_wake_ups += u64::from(self.totals.work() == work_before);
            if self.accepting.resume(Instant::now, self.totals.closed) {
                self.watch(self.listener, LISTENER, Interest::Read)?;
            }
        }
    }

    fn wait(&mut self, events: &mut Vec<Event>) -> Result<(), Error> {
        let timeout =
            self.accepting.longest_wait().map(|longest| Timespec { tv_sec: 0, tv_nsec: longest.subsec_nanos().into() });
        loop {
            match epoll::wait(&self.epoll, spare_capacity(events), timeout.as_ref()) {
                Ok(_) => break,
                Err(Errno::INTR) => {}
                Err(errno) => return Err(Error::system("wait for events")(errno)),
            }
        }
        self.totals.epoll_waits += 1;
        Ok(())
    }

    fn accept(&mut self) -> Result<(), Error> {
        for _ in 0..ACCEPTS_PER_VISIT {
            match self.listener.accept()? {
                Accepted::Connection(socket) => self.adopt(socket),
                Accepted::Gone => {}
                Accepted::Empty => return Ok(()),
                Accepted::Exhausted => {
                    self.accepting.pause(Instant::now(), self.totals.closed);
                    return self.watch(self.listener, LISTENER, Interest::Nothing);
                }
            }
        }
        if self.trigger.must_rearm() { self.watch(self.listener, LISTENER, Interest::Read) } else { Ok(()) }
    }

    fn adopt(&mut self, socket: OwnedFd) {
        self.totals.connections += 1;
        let entry = self.connections.vacant_entry();
        let token = EventData::new_u64(entry.key() as u64);
        // Fails when the kernel is out of memory or of the user's watches: this connection is lost, the server is not.
        match epoll::add(&self.epoll, &socket, token, self.trigger.flags(Interest::Read)) {
            Ok(()) => {
                entry.insert(Connection::new(socket));
            }
            Err(_) => self.totals.closed += 1,
        }
    }

    fn serve(&mut self, token: u64) -> Result<(), Error> {
        let index = usize::try_from(token).expect("bug: a token is an index");
        let receives = self.trigger.receives_per_visit();
        let connection = &mut self.connections[index];
        match connection.visit(receives, &mut self.buffer, &mut self.totals) {
            Next::Wait => Ok(()),
            Next::MoreToRead if !self.trigger.must_rearm() => Ok(()),
            Next::MoreToRead => self.watch(&self.connections[index], token, Interest::Read),
            // Modifying an edge-triggered registration also reports what is ready already.
            Next::Watch(interest) => self.watch(&self.connections[index], token, interest),
            Next::Close => {
                // The kernel takes a closed descriptor out of the epoll by itself.
                self.connections.remove(index);
                self.totals.closed += 1;
                Ok(())
            }
        }
    }

    fn watch(&self, source: impl AsFd, token: u64, interest: Interest) -> Result<(), Error> {
        epoll::modify(&self.epoll, source, EventData::new_u64(token), self.trigger.flags(interest))
            .map_err(Error::system("change what epoll watches"))
    }
}
