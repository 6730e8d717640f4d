//! One connection slot: connect, send, receive, compare, one request after the other. Does not choose when to start, nor
//! what a failure leads to.

mod connect;
mod exchange;

use std::{ops::Range, os::fd::OwnedFd};

use reports::bench::Mode;
use rustix::event::epoll::EventFlags;

use super::{clock::now_ns, failure::Failure, job::Gear};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Nothing is asked for.
    Idle,
    Connecting,
    Exchanging,
    /// All requests of this connection were answered; the server's FIN is to come.
    Closing,
}

/// A place for one connection at a time, and one request at a time on it.
#[derive(Debug)]
pub(super) struct Slot {
    id: u32,
    /// Token in the worker's epoll.
    token: u64,
    /// Requests begun so far: which payload is next.
    pub(super) round: u64,
    /// Requests that count towards what the slot was asked for.
    pub(super) done: u64,
    /// Requests answered on this connection.
    on_connection: u64,
    /// Connections opened so far: which source address is next.
    connects: u32,
    /// Nothing more is to begin: the slot ends with its connection.
    pub(super) ends: bool,
    /// The connection before failed.
    replaces_failed: bool,
    socket: Option<OwnedFd>,
    phase: Phase,
    /// Start of `connect()` while connecting, of the first byte sent while exchanging, of the wait while closing.
    started_ns: u64,
    /// When the request was due, in an open loop.
    due_ns: Option<u64>,
    /// Where its payload is.
    window: Range<usize>,
    sent: usize,
    received: usize,
    watch: Watch,
    /// The server's FIN came with the last reply, and its edge is gone by.
    peer_ended: bool,
}

/// What epoll reports of the socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Watch {
    Nothing,
    Input,
    /// Input, and room to send.
    Room,
}

/// A request that was answered.
#[derive(Clone, Copy, Debug)]
pub(super) struct Answer {
    pub(super) at_ns: u64,
    pub(super) latency_ns: u64,
}

/// What became of a slot.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    /// It waits for the peer.
    Waits,
    /// Its request was answered.
    Answered(Answer),
    /// Its connection, which was to be closed by the server, is.
    Closed,
}

impl Slot {
    pub(super) fn new(id: u32, token: u64) -> Self {
        Self {
            id,
            token,
            round: 0,
            done: 0,
            on_connection: 0,
            connects: id,
            ends: false,
            replaces_failed: false,
            socket: None,
            phase: Phase::Idle,
            started_ns: 0,
            due_ns: None,
            window: 0..0,
            sent: 0,
            received: 0,
            watch: Watch::Nothing,
            peer_ended: false,
        }
    }

    /// Starts the request of this round, on a new connection if there is none. `due_ns`: when it was to start, in an open
    /// loop.
    pub(super) fn begin(&mut self, due_ns: Option<u64>, gear: &mut Gear) -> Result<Step, Failure> {
        self.due_ns = due_ns;
        self.window = gear.job.pattern.window(self.id, self.round);
        self.sent = 0;
        self.received = 0;
        if self.socket.is_none() {
            return self.connect(gear);
        }
        self.phase = Phase::Exchanging;
        if self.peer_ended {
            self.start_clock();
            return Err(Failure::Closed);
        }
        self.send(gear)?;
        self.watch_for_room(gear)?;
        Ok(Step::Waits)
    }

    /// Goes on with what the socket is ready for.
    pub(super) fn on_event(&mut self, flags: EventFlags, gear: &mut Gear) -> Result<Step, Failure> {
        match self.phase {
            Phase::Idle => return Ok(Step::Waits),
            Phase::Closing => return Ok(self.await_close(gear)),
            Phase::Connecting if gear.job.mode == Mode::Connect => return self.check_connected(gear),
            Phase::Connecting => self.send(gear)?,
            Phase::Exchanging if flags.contains(EventFlags::OUT) => self.send(gear)?,
            Phase::Exchanging => {}
        }
        let input = EventFlags::IN | EventFlags::RDHUP | EventFlags::HUP | EventFlags::ERR;
        if self.phase == Phase::Exchanging && flags.intersects(input) {
            self.peer_ended = flags.contains(EventFlags::RDHUP);
            return self.receive(gear);
        }
        Ok(Step::Waits)
    }

    /// Whether a connect, a request or a close began at `limit_ns` or before and is not over.
    pub(super) fn waits_since(&self, limit_ns: u64) -> bool {
        self.phase != Phase::Idle && self.started_ns <= limit_ns
    }

    /// Whether all that is missing is the server's FIN.
    pub(super) fn is_closing(&self) -> bool {
        self.phase == Phase::Closing
    }

    /// How long the request had waited at `now_ns`, counted as its latency is.
    pub(super) fn waited_ns(&self, now_ns: u64) -> u64 {
        // Idle: not even a socket could be had.
        let since_ns = if self.phase == Phase::Idle { now_ns } else { self.started_ns };
        now_ns.saturating_sub(self.due_ns.unwrap_or(since_ns))
    }

    /// Gives up the connection after a failure.
    pub(super) fn fail(&mut self) {
        self.replaces_failed = true;
        self.close();
    }

    /// Closes the connection, if there is one.
    pub(super) fn close(&mut self) {
        self.socket = None;
        self.on_connection = 0;
        self.watch = Watch::Nothing;
        self.peer_ended = false;
        self.phase = Phase::Idle;
    }

    fn answer(&mut self, at_ns: u64) -> Step {
        self.phase = Phase::Idle;
        self.on_connection += 1;
        Step::Answered(Answer { at_ns, latency_ns: at_ns.saturating_sub(self.due_ns.unwrap_or(self.started_ns)) })
    }

    /// Whether the connection has done its requests.
    pub(super) fn connection_is_done(&self, gear: &Gear) -> bool {
        match gear.job.mode {
            Mode::Short | Mode::Connect => true,
            Mode::Long => false,
            Mode::Reconnect => self.on_connection >= gear.job.requests_per_connection,
        }
    }

    fn start_clock(&mut self) {
        self.started_ns = now_ns();
    }
}
