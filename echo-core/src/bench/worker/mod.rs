//! One thread of the load generator: its epoll, its slots, and its turns. Does not touch sockets.

mod course;
mod turn;

use std::{collections::VecDeque, time::Duration};

use rustix::{
    buffer::spare_capacity,
    event::{
        Timespec,
        epoll::{self, CreateFlags, Event, EventData, EventFlags},
    },
    io::Errno,
};

use super::{
    alarm::Alarm,
    clock::now_ns,
    job::{Gear, Job},
    slot::Slot,
    tally::Tally,
    timing::{Arrivals, Budget, Sleepers},
};
use crate::{Error, Stop};

const STOP: u64 = u64::MAX;
const ALARM: u64 = u64::MAX - 1;
const EVENTS: usize = 512;
const RECEIVE_BUFFER_BYTES: usize = 64 << 10;
/// Slots started between two looks at epoll, so that a burst of starts does not delay, and lengthen, the others' replies.
const STARTS_PER_TURN: usize = 16;

/// One thread's share of the connections.
#[derive(Debug)]
pub(super) struct Worker<'a> {
    gear: Gear<'a>,
    slots: Vec<Slot>,
    /// Slots that are to start a request, and when it was due in an open loop.
    to_start: VecDeque<(usize, Option<u64>)>,
    /// Slots of an open loop that wait for the next request to be due.
    free: Vec<usize>,
    sleepers: Sleepers,
    arrivals: Option<Arrivals>,
    budget: Option<Budget>,
    /// Wakes epoll at a moment; only where requests have moments.
    alarm: Option<Alarm>,
    /// Slots that have not done all they were asked for.
    active: usize,
    /// Nothing more is begun: slots end as they become free.
    draining: bool,
    measuring: bool,
    /// The latest reading of the clock.
    now_ns: u64,
    /// The reading of the latest turn.
    turned_at_ns: u64,
    expired_at_ns: u64,
    gave_up: bool,
    /// What of the tally's ended requests and connections the others know already.
    published: (u64, u64),
}

impl<'a> Worker<'a> {
    pub(super) fn new(job: &'a Job, stop: &Stop, thread: u32, ids: impl Iterator<Item = u32>) -> Result<Self, Error> {
        let epoll = epoll::create(CreateFlags::CLOEXEC).map_err(Error::system("create an epoll"))?;
        epoll::add(&epoll, stop, EventData::new_u64(STOP), EventFlags::IN)
            .map_err(Error::system("watch for signals"))?;
        let slots: Vec<Slot> = ids.zip(0..).map(|(id, token)| Slot::new(id, token)).collect();
        let (arrivals, budget) = (job.arrivals(thread, slots.len()), job.budget(thread));
        let is_timed = arrivals.is_some() || budget.is_some() || job.think_ns > 0;
        let alarm = is_timed.then(|| Alarm::new(&epoll, ALARM)).transpose()?;
        let indices = 0..slots.len();
        let (free, to_start) = if arrivals.is_some() {
            (indices.rev().collect(), VecDeque::new())
        } else {
            (Vec::new(), indices.map(|index| (index, None)).collect())
        };
        Ok(Self {
            gear: Gear { job, epoll, buffer: vec![0; RECEIVE_BUFFER_BYTES], tally: Tally::new(job.start_ns) },
            to_start,
            free,
            sleepers: Sleepers::default(),
            arrivals,
            budget,
            alarm,
            active: slots.len(),
            draining: false,
            measuring: job.measure_ns <= job.start_ns,
            slots,
            now_ns: job.start_ns,
            turned_at_ns: job.start_ns,
            expired_at_ns: job.start_ns,
            gave_up: false,
            published: (0, 0),
        })
    }

    /// Makes all requests, or as many as a signal leaves time for.
    pub(super) fn run(mut self) -> Result<Tally, Error> {
        let mut events = Vec::with_capacity(EVENTS);
        self.now_ns = now_ns();
        self.turned_at_ns = self.now_ns;
        while self.active > 0 {
            if self.alarm.is_some() {
                self.release();
            }
            self.start_some();
            let longest = self.wait(&mut events)?;
            let mut stopped = false;
            for event in events.drain(..) {
                match event.data.u64() {
                    STOP => stopped = true,
                    ALARM => {}
                    // A token is an index.
                    token => self.serve(usize::try_from(token).unwrap_or(usize::MAX), event.flags),
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
            self.look_at_clock(longest);
        }
        self.settle();
        Ok(self.gear.tally)
    }

    /// Waits for events; gives the longest time for which it was ready to wait.
    fn wait(&mut self, events: &mut Vec<Event>) -> Result<Duration, Error> {
        let has_budget = self.budget.as_ref().is_none_or(|budget| budget.next_ns().is_none());
        let mut longest = Duration::ZERO;
        if self.to_start.is_empty() || !has_budget {
            longest = self.expiry_interval();
            if !self.measuring {
                let warm_up = self.gear.job.measure_ns.saturating_sub(self.now_ns);
                longest = longest.min(Duration::from_nanos(warm_up));
            }
            if let Some(next_ns) = self.next_moment() {
                let until = Duration::from_nanos(next_ns.saturating_sub(self.now_ns));
                longest = longest.min(until);
                self.alarm.iter_mut().try_for_each(|alarm| alarm.set(next_ns))?;
            }
        }
        // The kernel waits whole milliseconds, which the alarm ends earlier where it matters.
        let timeout = Timespec { tv_sec: 0, tv_nsec: longest.subsec_nanos().into() };
        match epoll::wait(&self.gear.epoll, spare_capacity(events), Some(&timeout)) {
            Ok(_) | Err(Errno::INTR) => Ok(longest),
            Err(errno) => Err(Error::system("wait for events")(errno)),
        }
    }

    fn next_moment(&self) -> Option<u64> {
        let due_ns = self.arrivals.as_ref().filter(|_| !self.free.is_empty()).and_then(Arrivals::next_ns);
        let paced_ns = self.budget.as_ref().filter(|_| !self.to_start.is_empty()).and_then(Budget::next_ns);
        [due_ns, paced_ns, self.sleepers.next_ns()].into_iter().flatten().min()
    }

    fn expiry_interval(&self) -> Duration {
        Duration::from_nanos(self.gear.job.timeout_ns / 20).clamp(Duration::from_millis(1), Duration::from_millis(100))
    }
}
