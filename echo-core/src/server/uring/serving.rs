//! The loop of `echo-uring`: what follows from each event. Does not know how the ring works.

use std::{
    os::fd::OwnedFd,
    time::{Duration, Instant},
};

use rustix::{
    io::Errno,
    net::{Shutdown, shutdown},
};
use slab::Slab;

use super::{
    super::{
        Listener, ServerOptions, Summary, Totals,
        accepting::Accepting,
        draining::DRAIN,
        echo::{burn, work},
        listener::Blocking,
        serve::{announce, conclude, get_ready},
    },
    buffers::Chunk,
    connection::{Connection, Step},
    ring::{Event, Ring},
};
use crate::Error;

/// Serves on a ring until SIGINT or SIGTERM.
///
/// # Errors
/// When the port or a ring cannot be had.
pub fn serve_by_ring(options: &ServerOptions) -> anyhow::Result<()> {
    let stop = get_ready()?;
    let mut ring = Ring::new(options.buffer)?;
    // The ring waits for them, which it does not do for those that say EAGAIN.
    let listener = Listener::open(options, Blocking::Yes)?;
    ring.watch(&stop)?;
    announce(listener.address())?;
    let server = Server {
        ring,
        listener: &listener,
        connections: Slab::new(),
        accepting: Accepting::new(options, Instant::now()),
        // Exactly so many can be had only one by one.
        multishot: options.max_connections.is_none(),
        is_accepting: false,
        stopped: None,
        buffer_bytes: options.buffer,
        work: work(options),
        totals: Totals::default(),
    };
    conclude(&Summary::of_one("io_uring_enter", server.run()?), options, false)
}

struct Server<'a> {
    ring: Ring,
    listener: &'a Listener,
    connections: Slab<Connection>,
    accepting: Accepting,
    multishot: bool,
    /// Whether a request to accept is under way.
    is_accepting: bool,
    stopped: Option<Instant>,
    buffer_bytes: usize,
    work: Duration,
    totals: Totals,
}

impl Server<'_> {
    fn run(mut self) -> Result<Totals, Error> {
        let mut events = Vec::new();
        loop {
            self.accept()?;
            if !self.ring.wait(self.longest_wait(), &mut events)? {
                continue;
            }
            self.totals.wake_ups += 1;
            let (work_before, stopped_before) = (self.totals.work(), self.stopped.is_some());
            for event in events.drain(..) {
                self.handle(event)?;
            }
            if self.is_over() {
                self.totals.system_calls.io_uring_enter = self.ring.enters;
                return Ok(self.totals);
            }
            let useless = self.totals.work() == work_before && self.stopped.is_some() == stopped_before;
            self.totals.useless_wake_ups += u64::from(useless);
        }
    }

    /// Asks for connections unless that was done, or has to wait.
    fn accept(&mut self) -> Result<(), Error> {
        self.accepting.resume(Instant::now, self.totals.closed);
        if self.is_accepting || self.accepting.is_paused() {
            return Ok(());
        }
        self.is_accepting = true;
        self.ring.accept(self.listener, self.multishot)
    }

    fn longest_wait(&self) -> Option<Duration> {
        match self.stopped {
            Some(at) => Some((at + DRAIN).saturating_duration_since(Instant::now())),
            None => self.accepting.longest_wait(Instant::now),
        }
    }

    fn is_over(&self) -> bool {
        let Some(at) = self.stopped else { return false };
        (self.connections.is_empty() && !self.listener.has_queued()) || at.elapsed() >= DRAIN
    }

    fn handle(&mut self, event: Event) -> Result<(), Error> {
        match event {
            Event::Accepted(result, more) => {
                self.is_accepting = more;
                self.accepted(result)
            }
            Event::Received(token, result, more) => {
                self.received(token, result, more);
                self.follow(token)
            }
            Event::Sent(token, result, bytes) => {
                match result {
                    Ok(sent) => {
                        self.totals.sent_bytes += sent as u64;
                        self.connections[token].sent(sent, bytes);
                    }
                    Err(_) => self.connections[token].broke(),
                }
                self.follow(token)
            }
            Event::Stopped => {
                self.stopped = Some(Instant::now());
                self.accepting.end_pause();
                self.connections.iter().for_each(|(_, connection)| end_of_input(connection));
                Ok(())
            }
        }
    }

    fn accepted(&mut self, result: Result<OwnedFd, Errno>) -> Result<(), Error> {
        match result {
            Ok(socket) => {
                self.totals.connections += 1;
                let token = self.connections.insert(Connection::new(socket));
                let connection = &self.connections[token];
                self.ring.receive(connection, token)?;
                if self.stopped.is_some() {
                    end_of_input(connection);
                }
                self.accepting.pause_if_full(self.totals.connections, self.totals.closed);
                Ok(())
            }
            Err(Errno::MFILE | Errno::NFILE | Errno::NOBUFS | Errno::NOMEM) => {
                self.accepting.pause(Instant::now(), self.totals.closed);
                Ok(())
            }
            Err(errno @ (Errno::BADF | Errno::INVAL | Errno::NOTSOCK | Errno::OPNOTSUPP | Errno::FAULT)) => {
                Err(Error::system("accept a connection")(errno))
            }
            // As for the other servers: the peer gave up.
            Err(_) => Ok(()),
        }
    }

    fn received(&mut self, token: usize, result: Result<Option<Chunk>, Errno>, more: bool) {
        let connection = &mut self.connections[token];
        match result {
            Ok(Some(chunk)) => {
                let bytes = self.ring.buffers.bytes(&chunk);
                let length = bytes.len();
                connection.received(bytes, more);
                self.ring.buffers.give_back(chunk);
                if length == 0 {
                    return connection.receive_ended(true);
                }
                self.totals.requests += 1;
                self.totals.received_bytes += length as u64;
                burn(self.work);
            }
            // Taken back by us, or no buffer was free at that moment.
            Err(Errno::CANCELED | Errno::NOBUFS | Errno::INTR | Errno::AGAIN) => connection.receive_ended(false),
            Ok(None) | Err(_) => connection.receive_ended(true),
        }
    }

    /// Asks for whatever a connection needs next.
    fn follow(&mut self, token: usize) -> Result<(), Error> {
        loop {
            let connection = &mut self.connections[token];
            match connection.next(self.buffer_bytes) {
                Step::Nothing => return Ok(()),
                Step::Send(bytes) => self.ring.send(&*connection, token, bytes)?,
                Step::Receive => self.ring.receive(&*connection, token)?,
                Step::StopReceiving => self.ring.stop_receiving(token)?,
                Step::Close => {
                    self.totals.closed += 1;
                    return self.ring.close(self.connections.remove(token).into_socket());
                }
            }
        }
    }
}

/// What has come is still received, then the stream is at its end.
fn end_of_input(connection: &Connection) {
    // Fails when the peer has gone, and then the stream is at its end anyway.
    let _ = shutdown(connection, Shutdown::Read);
}
