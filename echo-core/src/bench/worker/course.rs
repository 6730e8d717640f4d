//! What becomes of a slot: where an answer, a failure or the end of a connection leads.

use reports::bench::Mode;
use rustix::event::epoll::EventFlags;

use super::Worker;
use crate::bench::{
    clock::now_ns,
    failure::Failure,
    slot::{Answer, Step},
};

impl Worker<'_> {
    pub(super) fn start(&mut self, index: usize, due_ns: Option<u64>) {
        if due_ns.is_none() && self.is_over(index) {
            return self.end(index);
        }
        self.gear.tally.stall.begun(self.now_ns);
        match self.slots[index].begin(due_ns, &mut self.gear) {
            Ok(step) => self.went(index, step),
            Err(failure) => self.failed(index, failure),
        }
    }

    /// Whether a slot of a closed loop has done what it was asked for; the warm-up asks for nothing.
    fn is_over(&self, index: usize) -> bool {
        self.measuring && self.gear.job.is_over(self.slots[index].done, self.now_ns)
    }

    /// A slot has nothing more to begin: it ends, when its connection is closed.
    pub(super) fn end(&mut self, index: usize) {
        let slot = &mut self.slots[index];
        if let Step::Closed = slot.finish(&mut self.gear) {
            self.active -= 1;
        } else {
            slot.ends = true;
        }
    }

    pub(super) fn serve(&mut self, index: usize, flags: EventFlags) {
        match self.slots[index].on_event(flags, &mut self.gear) {
            Ok(step) => self.went(index, step),
            Err(failure) => self.failed(index, failure),
        }
    }

    fn went(&mut self, index: usize, step: Step) {
        match step {
            Step::Waits => {}
            Step::Answered(answer) => self.answered(index, answer),
            Step::Closed => self.closed(index),
        }
    }

    fn answered(&mut self, index: usize, answer: Answer) {
        self.now_ns = answer.at_ns;
        if !self.measuring && self.now_ns >= self.gear.job.measure_ns {
            self.begin_measuring();
        }
        self.gear.tally.succeed(answer.at_ns, answer.latency_ns);
        let slot = &mut self.slots[index];
        slot.round += 1;
        slot.done += 1;
        if slot.connection_is_done(&self.gear)
            && let Step::Waits = slot.finish(&mut self.gear)
        {
            return;
        }
        self.freed(index);
    }

    /// The server has closed a connection that it was to close, or was waited for in vain.
    pub(super) fn closed(&mut self, index: usize) {
        if self.slots[index].ends {
            self.active -= 1;
        } else {
            self.freed(index);
        }
    }

    /// A slot goes on with its next request, when that may begin.
    fn freed(&mut self, index: usize) {
        let job = self.gear.job;
        if self.draining {
            self.end(index);
        } else if self.arrivals.is_some() {
            self.free.push(index);
        } else if job.think_ns > 0 && !self.is_over(index) {
            self.sleepers.push(self.now_ns + job.think_ns, index);
        } else if self.budget.is_some() || job.mode == Mode::Connect {
            // Connecting over loopback answers at once: starting here would never come back.
            self.to_start.push_back((index, None));
        } else {
            self.start(index, None);
        }
    }

    /// The slot goes on with its next request on a new connection; a long connection of a run by count is not replaced,
    /// so what it still had to send is never sent.
    pub(super) fn failed(&mut self, index: usize, failure: Failure) {
        let (job, tally) = (self.gear.job, &mut self.gear.tally);
        let slot = &mut self.slots[index];
        self.now_ns = now_ns();
        tally.fail(failure, slot.waited_ns(self.now_ns));
        tally.last_ns = self.now_ns;
        tally.stall.failed();
        slot.fail();
        if failure == Failure::Refused {
            job.refused();
        }
        slot.round += 1;
        slot.done += 1;
        if !job.replaces_connections && self.arrivals.is_none() {
            tally.not_sent(job.rounds_left(slot.done));
            self.active -= 1;
        } else if self.draining || self.arrivals.is_some() || job.think_ns > 0 {
            self.freed(index);
        } else {
            // Not at once: a failure that repeats itself would never come back.
            self.to_start.push_back((index, None));
        }
    }

    /// Ends a run against nobody after one refusal for each slot, instead of collecting the same answer to the end.
    pub(super) fn give_up(&mut self) {
        let job = self.gear.job;
        // Where connections are not replaced, every slot has ended by its own failure.
        if job.replaces_connections && self.arrivals.is_none() {
            for slot in &mut self.slots {
                slot.close();
                self.gear.tally.not_sent(job.rounds_left(slot.done));
            }
        }
        self.gave_up = true;
        self.active = 0;
    }
}
