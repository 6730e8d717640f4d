//! What one thread counts, and how threads add up. Does not decide what counts as what.

use std::collections::BTreeMap;

use reports::histogram::{FINE, Histogram};

use super::failure::Failure;

/// Counts and latencies of one thread.
#[derive(Debug)]
pub(super) struct Tally {
    pub(super) ok: u64,
    pub(super) connected: u64,
    pub(super) reconnects: u64,
    pub(super) unclosed: u64,
    pub(super) connect: Histogram,
    pub(super) first_byte: Histogram,
    pub(super) request: Histogram,
    pub(super) censored: Histogram,
    failed: [u64; Failure::ALL.len()],
    /// When the run, or the counting after its warm-up, began.
    pub(super) first_ns: u64,
    /// When the last request ended, well or not.
    pub(super) last_ns: u64,
    pub(super) stall: Stall,
    /// Longest time for which the thread's loop did not run.
    pub(super) gap_ns: u64,
    /// A signal ended the run before it was done.
    pub(super) interrupted: bool,
}

impl Tally {
    pub(super) fn new(now_ns: u64) -> Self {
        Self {
            ok: 0,
            connected: 0,
            reconnects: 0,
            unclosed: 0,
            connect: Histogram::new(FINE),
            first_byte: Histogram::new(FINE),
            request: Histogram::new(FINE),
            censored: Histogram::new(FINE),
            failed: [0; Failure::ALL.len()],
            first_ns: now_ns,
            last_ns: now_ns,
            stall: Stall::default(),
            gap_ns: 0,
            interrupted: false,
        }
    }

    /// From the beginning to the end of the last request.
    pub(super) fn elapsed_ns(&self) -> u64 {
        self.last_ns - self.first_ns
    }

    pub(super) fn succeed(&mut self, at_ns: u64, latency_ns: u64) {
        self.ok += 1;
        self.request.record(latency_ns);
        self.last_ns = at_ns;
        self.stall.answered(at_ns);
    }

    /// A request that was begun, or was due, and had waited so long when it was given up.
    pub(super) fn fail(&mut self, kind: Failure, waited_ns: u64) {
        self.failed[kind as usize] += 1;
        self.censored.record(waited_ns);
    }

    /// The same of many that had waited as long.
    pub(super) fn fail_many(&mut self, kind: Failure, requests: u64, waited_ns: u64) {
        self.failed[kind as usize] += requests;
        self.censored.record_many(waited_ns, requests);
    }

    /// Requests that were never begun and never due.
    pub(super) fn not_sent(&mut self, requests: u64) {
        self.failed[Failure::NotSent as usize] += requests;
    }

    /// Requests that ended, well or not.
    pub(super) fn ended(&self) -> u64 {
        self.ok + self.censored.count()
    }

    pub(super) fn failed(&self) -> BTreeMap<String, u64> {
        let kinds = Failure::ALL.iter().zip(self.failed);
        kinds.filter(|&(_, count)| count > 0).map(|(kind, count)| (kind.name().to_owned(), count)).collect()
    }

    pub(super) fn merge(&mut self, other: &Self) {
        self.ok += other.ok;
        self.connected += other.connected;
        self.reconnects += other.reconnects;
        self.unclosed += other.unclosed;
        self.connect.merge(&other.connect);
        self.first_byte.merge(&other.first_byte);
        self.request.merge(&other.request);
        self.censored.merge(&other.censored);
        for (mine, theirs) in self.failed.iter_mut().zip(other.failed) {
            *mine += theirs;
        }
        self.first_ns = self.first_ns.min(other.first_ns);
        self.last_ns = self.last_ns.max(other.last_ns);
        self.stall.longest_ns = self.stall.longest_ns.max(other.stall.longest_ns);
        self.gap_ns = self.gap_ns.max(other.gap_ns);
        self.interrupted |= other.interrupted;
    }
}

/// The longest time in which requests waited and none was answered.
#[derive(Debug, Default)]
pub(super) struct Stall {
    in_flight: u64,
    /// Since when requests have waited without an answer; nothing while none waits.
    since_ns: Option<u64>,
    pub(super) longest_ns: u64,
}

impl Stall {
    pub(super) fn begun(&mut self, at_ns: u64) {
        self.in_flight += 1;
        self.since_ns.get_or_insert(at_ns);
    }

    pub(super) fn answered(&mut self, at_ns: u64) {
        self.in_flight = self.in_flight.saturating_sub(1);
        self.close(at_ns);
        self.since_ns = (self.in_flight > 0).then_some(at_ns);
    }

    /// A failure answers nothing: the time goes on.
    pub(super) fn failed(&mut self) {
        self.in_flight = self.in_flight.saturating_sub(1);
    }

    /// Takes what goes on into account.
    pub(super) fn close(&mut self, at_ns: u64) {
        let waited_ns = self.since_ns.map_or(0, |since_ns| at_ns.saturating_sub(since_ns));
        self.longest_ns = self.longest_ns.max(waited_ns);
    }

    /// Counts from `at_ns` on.
    pub(super) fn restart(&self, at_ns: u64) -> Self {
        Self { since_ns: self.since_ns.map(|_| at_ns), longest_ns: 0, in_flight: self.in_flight }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stall_is_the_longest_wait_without_an_answer_and_failures_do_not_end_it() {
        let mut stall = Stall::default();
        stall.begun(100);
        stall.answered(110);
        stall.begun(500);
        stall.begun(501);
        stall.failed();
        stall.begun(700);
        stall.answered(900);
        assert_eq!(stall.longest_ns, 400);
        stall.answered(950);
        stall.close(5000);
        assert_eq!(stall.longest_ns, 400, "nothing waited at the end");
    }
}
