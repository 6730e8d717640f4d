//! What a thread does once in every turn: what may begin by now, and what depends on the clock alone.

use std::{sync::atomic::Ordering, time::Duration};

use super::{STARTS_PER_TURN, Worker};
use crate::bench::{clock::now_ns, failure::Failure, tally::Tally, timing::Arrivals};

impl Worker<'_> {
    /// Lets begin what may by now: slots that have paused, requests that are due.
    pub(super) fn release(&mut self) {
        while let Some(index) = self.sleepers.pop(self.now_ns) {
            self.to_start.push_back((index, None));
        }
        let Some(arrivals) = &mut self.arrivals else { return };
        while !self.free.is_empty()
            && let Some(due_ns) = arrivals.pop(self.now_ns)
        {
            self.to_start.extend(self.free.pop().map(|index| (index, Some(due_ns))));
        }
        let ended = self.gear.job.end_ns().is_some_and(|end_ns| self.now_ns >= end_ns);
        if !self.draining && (ended || arrivals.next_ns().is_none()) && self.measuring {
            self.draining = true;
            for index in std::mem::take(&mut self.free) {
                self.end(index);
            }
        }
    }

    pub(super) fn start_some(&mut self) {
        for _ in 0..STARTS_PER_TURN {
            if self.to_start.is_empty() || self.budget.as_mut().is_some_and(|budget| !budget.take(self.now_ns)) {
                return;
            }
            if let Some((index, due_ns)) = self.to_start.pop_front() {
                self.start(index, due_ns);
            }
        }
    }

    /// Reads the clock, and sees to what depends on it alone. `longest_wait`: how long this turn may have slept.
    pub(super) fn look_at_clock(&mut self, longest_wait: Duration) {
        self.now_ns = now_ns();
        let turn = Duration::from_nanos(self.now_ns - self.turned_at_ns);
        let gap_ns = u64::try_from(turn.saturating_sub(longest_wait).as_nanos()).unwrap_or(u64::MAX);
        self.gear.tally.gap_ns = self.gear.tally.gap_ns.max(gap_ns);
        self.turned_at_ns = self.now_ns;
        if !self.measuring && self.now_ns >= self.gear.job.measure_ns {
            self.begin_measuring();
        }
        if Duration::from_nanos(self.now_ns - self.expired_at_ns) >= self.expiry_interval() {
            self.expired_at_ns = self.now_ns;
            self.publish();
            self.expire();
        }
    }

    /// Forgets the warm-up.
    pub(super) fn begin_measuring(&mut self) {
        self.publish();
        let since_ns = self.gear.job.measure_ns;
        let warm_up = std::mem::replace(&mut self.gear.tally, Tally::new(since_ns));
        self.gear.tally.stall = warm_up.stall.restart(since_ns);
        self.published = (0, 0);
        self.measuring = true;
        self.slots.iter_mut().for_each(|slot| slot.done = 0);
        self.arrivals.iter_mut().for_each(Arrivals::restart_count);
    }

    /// Looks at all slots, but seldom: a timeout is found late by a twentieth at most, or by a millisecond.
    fn expire(&mut self) {
        let Some(limit_ns) = self.now_ns.checked_sub(self.gear.job.timeout_ns) else { return };
        for index in 0..self.slots.len() {
            if !self.slots[index].waits_since(limit_ns) {
                continue;
            }
            if self.slots[index].is_closing() {
                self.gear.tally.unclosed += 1;
                self.slots[index].close();
                self.closed(index);
            } else {
                self.failed(index, Failure::Timeout);
            }
        }
    }

    fn publish(&mut self) {
        let (ended, connected) = (self.gear.tally.ended(), self.gear.tally.connected);
        if self.measuring {
            self.gear.job.ended.fetch_add(ended - self.published.0, Ordering::Relaxed);
        }
        self.gear.job.connected.fetch_add(connected - self.published.1, Ordering::Relaxed);
        self.published = (ended, connected);
    }

    /// At the end: takes into account what was due and not begun, and what was still waited for.
    pub(super) fn settle(&mut self) {
        self.publish();
        let (job, tally) = (self.gear.job, &mut self.gear.tally);
        tally.stall.close(self.now_ns);
        let end_ns = job.end_ns().filter(|_| !tally.interrupted && !self.gave_up);
        if let Some(end_ns) = end_ns {
            // Without a request at the very end, the run still lasted until then.
            tally.last_ns = tally.last_ns.max(end_ns);
        }
        let Some(arrivals) = &mut self.arrivals else { return };
        let cut_ns = end_ns.unwrap_or(self.now_ns);
        for (due_ns, requests) in arrivals.overdue(cut_ns) {
            tally.fail_many(Failure::NotSent, requests, cut_ns - due_ns);
        }
        if self.gave_up {
            tally.not_sent(arrivals.left());
        }
    }
}
