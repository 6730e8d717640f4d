//! One thread of the load generator: its epoll, its slots, when each goes on and what a failure leads to. Does not touch
//! sockets.

use std::{
    collections::VecDeque,
    net::SocketAddr,
    os::fd::OwnedFd,
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};

use reports::bench::Mode;
use rustix::{
    buffer::spare_capacity,
    event::{
        Timespec,
        epoll::{self, CreateFlags, Event, EventData, EventFlags},
    },
    io::Errno,
};

use super::{
    clock::now_ns,
    failure::Failure,
    pattern::Pattern,
    plan::Plan,
    slot::{Answer, Slot},
    tally::Tally,
};
use crate::{Error, Stop};

const STOP: u64 = u64::MAX;
const EVENTS: usize = 512;
const RECEIVE_BUFFER_BYTES: usize = 64 << 10;
/// Slots started between two looks at epoll, so that a burst of starts does not delay, and lengthen, the others' replies.
const STARTS_PER_TURN: usize = 16;

/// What all threads share.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) server: SocketAddr,
    pub(super) pattern: Pattern,
    pub(super) payload_bytes: usize,
    mode: Mode,
    rounds: Option<u64>,
    duration_ns: Option<u64>,
    timeout_ns: u64,
    connections: u32,
    /// Slots whose very first connect was refused.
    refused_at_first: AtomicU32,
}

impl Job {
    pub(super) fn new(plan: &Plan) -> Self {
        let settings = &plan.settings;
        let payload_bytes = settings.payload_bytes as usize;
        Self {
            server: plan.server,
            pattern: Pattern::new(payload_bytes),
            payload_bytes,
            mode: settings.mode,
            rounds: settings.rounds,
            duration_ns: settings.duration_ns,
            timeout_ns: settings.timeout_ns,
            connections: settings.connections,
            refused_at_first: AtomicU32::new(0),
        }
    }

    fn nobody_listens(&self) -> bool {
        self.refused_at_first.load(Ordering::Relaxed) == self.connections
    }

    /// Whether a slot at `round` has done what it was asked for.
    fn is_over(&self, round: u64, run_ns: u64) -> bool {
        self.rounds.is_some_and(|rounds| round >= rounds)
            || self.duration_ns.is_some_and(|duration_ns| run_ns >= duration_ns)
    }

    /// Requests that a slot at `round` has not made.
    fn rounds_left(&self, round: u64) -> u64 {
        self.rounds.map_or(0, |rounds| rounds - round)
    }
}

/// What a slot needs to do its work.
#[derive(Debug)]
pub(super) struct Gear<'a> {
    pub(super) job: &'a Job,
    pub(super) epoll: OwnedFd,
    pub(super) buffer: Vec<u8>,
    pub(super) tally: Tally,
}

/// One thread's share of the connections.
#[derive(Debug)]
pub(super) struct Worker<'a> {
    gear: Gear<'a>,
    slots: Vec<Slot>,
    /// Slots that are to start a request on a new connection.
    to_start: VecDeque<usize>,
    /// Slots that have not done all they were asked for.
    active: usize,
    expired_at_ns: u64,
}

impl<'a> Worker<'a> {
    pub(super) fn new(job: &'a Job, stop: &Stop, ids: impl Iterator<Item = u32>) -> Result<Self, Error> {
        let epoll = epoll::create(CreateFlags::CLOEXEC).map_err(Error::system("create an epoll"))?;
        epoll::add(&epoll, stop, EventData::new_u64(STOP), EventFlags::IN)
            .map_err(Error::system("watch for signals"))?;
        let slots: Vec<Slot> = ids.zip(0..).map(|(id, token)| Slot::new(id, token)).collect();
        let now_ns = now_ns();
        Ok(Self {
            gear: Gear { job, epoll, buffer: vec![0; RECEIVE_BUFFER_BYTES], tally: Tally::new(now_ns) },
            to_start: (0..slots.len()).collect(),
            active: slots.len(),
            slots,
            expired_at_ns: now_ns,
        })
    }

    /// Makes all requests, or as many as a signal leaves time for.
    pub(super) fn run(mut self) -> Result<Tally, Error> {
        let mut events = Vec::with_capacity(EVENTS);
        let now_ns = now_ns();
        (self.gear.tally.first_ns, self.gear.tally.last_ns) = (now_ns, now_ns);
        while self.active > 0 {
            for _ in 0..STARTS_PER_TURN.min(self.to_start.len()) {
                self.to_start.pop_front().into_iter().for_each(|index| self.start(index));
            }
            self.wait(&mut events)?;
            let mut stopped = false;
            for event in events.drain(..) {
                match usize::try_from(event.data.u64()) {
                    Ok(index) if index < self.slots.len() => self.serve(index, event.flags),
                    _ => stopped = true,
                }
            }
            if stopped {
                // What ends together with the signal is whole.
                self.gear.tally.interrupted = self.active > 0;
                break;
            }
            if self.gear.job.nobody_listens() {
                self.give_up();
            }
            self.expire();
        }
        Ok(self.gear.tally)
    }

    fn wait(&self, events: &mut Vec<Event>) -> Result<(), Error> {
        let longest = if self.to_start.is_empty() { self.expiry_interval() } else { Duration::ZERO };
        let timeout = Timespec { tv_sec: 0, tv_nsec: longest.subsec_nanos().into() };
        match epoll::wait(&self.gear.epoll, spare_capacity(events), Some(&timeout)) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(errno) => Err(Error::system("wait for events")(errno)),
        }
    }

    fn start(&mut self, index: usize) {
        let (job, slot) = (self.gear.job, &mut self.slots[index]);
        if job.is_over(slot.round, self.gear.tally.elapsed_ns()) {
            slot.close();
            self.active -= 1;
        } else if let Err(failure) = slot.begin(&mut self.gear) {
            self.failed(index, failure);
        }
    }

    fn serve(&mut self, index: usize, flags: EventFlags) {
        match self.slots[index].on_event(flags, &mut self.gear) {
            Ok(None) => {}
            Ok(Some(answer)) => self.answered(index, answer),
            Err(failure) => self.failed(index, failure),
        }
    }

    fn answered(&mut self, index: usize, answer: Answer) {
        let tally = &mut self.gear.tally;
        tally.ok += 1;
        tally.request.record(answer.latency_ns);
        tally.last_ns = answer.at_ns;
        let slot = &mut self.slots[index];
        slot.round += 1;
        if self.gear.job.mode == Mode::Short {
            slot.close();
        }
        self.start(index);
    }

    /// The slot goes on with its next round on a new connection; in long mode there is to be no second connection, so
    /// what it still had to send is never sent.
    fn failed(&mut self, index: usize, failure: Failure) {
        let (job, tally) = (self.gear.job, &mut self.gear.tally);
        let slot = &mut self.slots[index];
        slot.close();
        tally.fail(failure, 1);
        tally.last_ns = now_ns();
        if slot.round == 0 && failure == Failure::Refused {
            job.refused_at_first.fetch_add(1, Ordering::Relaxed);
        }
        slot.round += 1;
        match job.mode {
            Mode::Short => self.to_start.push_back(index),
            Mode::Long => {
                tally.fail(Failure::NotSent, job.rounds_left(slot.round));
                self.active -= 1;
            }
        }
    }

    /// Ends a run against nobody after one refusal for each slot, instead of collecting the same answer to the end.
    fn give_up(&mut self) {
        let job = self.gear.job;
        // In long mode every slot has ended by its own failure.
        if job.mode == Mode::Short {
            for slot in &mut self.slots {
                slot.close();
                self.gear.tally.fail(Failure::NotSent, job.rounds_left(slot.round));
            }
        }
        self.active = 0;
    }

    /// Looks at all slots, but seldom: a timeout is found late by a twentieth at most, or by a millisecond.
    fn expire(&mut self) {
        let now_ns = now_ns();
        if Duration::from_nanos(now_ns - self.expired_at_ns) < self.expiry_interval() {
            return;
        }
        self.expired_at_ns = now_ns;
        let Some(limit_ns) = now_ns.checked_sub(self.gear.job.timeout_ns) else { return };
        for index in 0..self.slots.len() {
            if self.slots[index].waits_since(limit_ns) {
                self.failed(index, Failure::Timeout);
            }
        }
    }

    fn expiry_interval(&self) -> Duration {
        Duration::from_nanos(self.gear.job.timeout_ns / 20).clamp(Duration::from_millis(1), Duration::from_millis(100))
    }
}
