//! One connection slot: connect, send, receive, compare, one request after the other. Does not choose when to start, nor
//! what a failure leads to.

use std::os::fd::OwnedFd;

use rustix::{
    event::epoll::{self, EventData, EventFlags},
    io::Errno,
    net::{self, AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, sockopt},
};

use super::{clock::now_ns, failure::Failure, worker::Gear};

/// Nagle's algorithm holds back what follows a first unacknowledged segment. A payload that fits in any path's segment
/// has nothing that follows, and is spared the call.
const ONE_SEGMENT_BYTES: usize = 512;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Nothing is asked for.
    Idle,
    Connecting,
    Exchanging,
}

/// A place for one connection at a time, and one request at a time on it.
#[derive(Debug)]
pub(super) struct Slot {
    id: u32,
    /// Token in the worker's epoll.
    token: u64,
    pub(super) round: u64,
    socket: Option<OwnedFd>,
    phase: Phase,
    /// Start of `connect()` while connecting, of the first byte sent while exchanging.
    started_ns: u64,
    sent: usize,
    received: usize,
    /// Epoll also reports room to send.
    watches_room: bool,
}

/// A request that was answered.
#[derive(Clone, Copy, Debug)]
pub(super) struct Answer {
    pub(super) at_ns: u64,
    pub(super) latency_ns: u64,
}

impl Slot {
    pub(super) fn new(id: u32, token: u64) -> Self {
        Self {
            id,
            token,
            round: 0,
            socket: None,
            phase: Phase::Idle,
            started_ns: 0,
            sent: 0,
            received: 0,
            watches_room: false,
        }
    }

    /// Starts the request of this round, on a new connection if there is none. Its answer comes by [`Self::on_event`].
    pub(super) fn begin(&mut self, gear: &mut Gear) -> Result<(), Failure> {
        self.sent = 0;
        self.received = 0;
        if self.socket.is_none() {
            return self.connect(gear);
        }
        self.phase = Phase::Exchanging;
        self.send(gear)?;
        self.watch_for_room(gear)
    }

    fn connect(&mut self, gear: &mut Gear) -> Result<(), Failure> {
        let server = gear.job.server;
        let family = if server.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        let socket = net::socket_with(family, SocketType::STREAM, flags, None)?;
        if gear.job.payload_bytes > ONE_SEGMENT_BYTES {
            sockopt::set_tcp_nodelay(&socket, true)?;
        }
        self.started_ns = now_ns();
        match net::connect(&socket, &server) {
            Ok(()) | Err(Errno::INPROGRESS) => {}
            Err(errno) => return Err(errno.into()),
        }
        self.phase = Phase::Connecting;
        let socket = self.socket.insert(socket);
        // Over loopback the handshake is mostly over when connect() returns: sending at once saves a wake-up, and the
        // connect time is the kernel's, without the wait in our own queue of events.
        if server.ip().is_loopback() {
            self.send(gear)?;
            return self.register(gear);
        }
        self.watches_room = true;
        Ok(epoll::add(&gear.epoll, socket, EventData::new_u64(self.token), flags_of(true))?)
    }

    fn register(&mut self, gear: &Gear) -> Result<(), Failure> {
        let Some(socket) = &self.socket else { return Ok(()) };
        // Without an unsent rest, watching for room would be one wake-up for nothing.
        self.watches_room = self.sent < gear.job.payload_bytes;
        Ok(epoll::add(&gear.epoll, socket, EventData::new_u64(self.token), flags_of(self.watches_room))?)
    }

    fn watch_for_room(&mut self, gear: &Gear) -> Result<(), Failure> {
        let Some(socket) = &self.socket else { return Ok(()) };
        if self.watches_room || self.sent == gear.job.payload_bytes {
            return Ok(());
        }
        self.watches_room = true;
        Ok(epoll::modify(&gear.epoll, socket, EventData::new_u64(self.token), flags_of(true))?)
    }

    /// Goes on with what the socket is ready for; the answer when it is whole and right.
    pub(super) fn on_event(&mut self, flags: EventFlags, gear: &mut Gear) -> Result<Option<Answer>, Failure> {
        if self.phase == Phase::Connecting || flags.contains(EventFlags::OUT) {
            self.send(gear)?;
        }
        if self.phase == Phase::Exchanging && flags.intersects(EventFlags::IN | EventFlags::HUP | EventFlags::ERR) {
            return self.receive(gear);
        }
        Ok(None)
    }

    /// Sends until all is sent or the socket is full. While connecting, the first success is the proof of it.
    fn send(&mut self, gear: &mut Gear) -> Result<(), Failure> {
        let Some(socket) = &self.socket else { return Ok(()) };
        let payload = gear.job.pattern.payload(self.id, self.round);
        while self.sent < payload.len() {
            let before_ns = if self.sent == 0 { now_ns() } else { 0 };
            let sent = match net::send(socket, &payload[self.sent..], SendFlags::NOSIGNAL) {
                Ok(sent) => sent,
                Err(Errno::AGAIN) => return Ok(()),
                Err(errno) => return Err(errno.into()),
            };
            if self.phase == Phase::Connecting {
                self.phase = Phase::Exchanging;
                gear.tally.connected += 1;
                gear.tally.connect.record(before_ns - self.started_ns);
            }
            if self.sent == 0 {
                self.started_ns = before_ns;
            }
            self.sent += sent;
        }
        Ok(())
    }

    /// Receives until the reply is whole or nothing more is there. To EAGAIN, not to a short receive: an end of the stream
    /// that came together with the last bytes gives no second edge.
    fn receive(&mut self, gear: &mut Gear) -> Result<Option<Answer>, Failure> {
        let Some(socket) = &self.socket else { return Ok(None) };
        let payload = gear.job.pattern.payload(self.id, self.round);
        while self.received < payload.len() {
            let end = match net::recv(socket, &mut *gear.buffer, RecvFlags::empty()) {
                Ok((_, 0)) => return Err(Failure::Closed),
                Ok((_, received)) => self.received + received,
                Err(Errno::AGAIN) => return Ok(None),
                Err(errno) => return Err(errno.into()),
            };
            if payload.get(self.received..end) != Some(&gear.buffer[..end - self.received]) {
                return Err(Failure::WrongPayload);
            }
            self.received = end;
        }
        self.phase = Phase::Idle;
        let at_ns = now_ns();
        Ok(Some(Answer { at_ns, latency_ns: at_ns - self.started_ns }))
    }

    /// Whether a connect or a request began at `limit_ns` or before and is not over.
    pub(super) fn waits_since(&self, limit_ns: u64) -> bool {
        self.phase != Phase::Idle && self.started_ns <= limit_ns
    }

    /// Closes the connection, if there is one.
    pub(super) fn close(&mut self) {
        self.socket = None;
        self.phase = Phase::Idle;
    }
}

/// Registered once, edge-triggered: no call is needed to switch between sending and receiving.
fn flags_of(watches_room: bool) -> EventFlags {
    let flags = EventFlags::IN | EventFlags::ET;
    if watches_room { flags | EventFlags::OUT } else { flags }
}
