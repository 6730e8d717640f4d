//! When requests may begin, apart from "at once": pauses, bursts, and the arrivals of an open loop. Pure: times come in
//! and go out, nothing waits here.

use std::{cmp::Reverse, collections::BinaryHeap};

/// Slots that pause.
#[derive(Debug, Default)]
pub(super) struct Sleepers(BinaryHeap<Reverse<(u64, usize)>>);

impl Sleepers {
    pub(super) fn push(&mut self, until_ns: u64, slot: usize) {
        self.0.push(Reverse((until_ns, slot)));
    }

    /// A slot whose pause is over.
    pub(super) fn pop(&mut self, now_ns: u64) -> Option<usize> {
        self.next_ns().filter(|&due_ns| due_ns <= now_ns)?;
        self.0.pop().map(|Reverse((_, slot))| slot)
    }

    pub(super) fn next_ns(&self) -> Option<u64> {
        self.0.peek().map(|&Reverse((due_ns, _))| due_ns)
    }
}

/// At most so many starts in each interval: one thread's share.
#[derive(Debug)]
pub(super) struct Budget {
    per_interval: u64,
    interval_ns: u64,
    left: u64,
    interval_end_ns: u64,
}

impl Budget {
    pub(super) fn new(per_interval: u64, interval_ns: u64, start_ns: u64) -> Self {
        Self { per_interval, interval_ns, left: per_interval, interval_end_ns: start_ns + interval_ns }
    }

    /// Takes one start, if there is one left.
    pub(super) fn take(&mut self, now_ns: u64) -> bool {
        if now_ns >= self.interval_end_ns {
            let passed = (now_ns - self.interval_end_ns) / self.interval_ns + 1;
            self.interval_end_ns += passed * self.interval_ns;
            self.left = self.per_interval;
        }
        let took = self.left > 0;
        self.left = self.left.saturating_sub(1);
        took
    }

    /// When there will be one again; nothing while there is.
    pub(super) fn next_ns(&self) -> Option<u64> {
        (self.left == 0).then_some(self.interval_end_ns)
    }
}

/// What is due in an open loop: one thread's share, every `threads`-th request.
#[derive(Debug)]
pub(super) struct Arrivals {
    rate_per_s: u64,
    first: u64,
    threads: u64,
    start_ns: u64,
    /// Those of this thread that were begun.
    begun: u64,
    /// Those that this thread is to begin, in a run by count.
    total: Option<u64>,
    /// When nothing is due any more, in a run by time.
    end_ns: Option<u64>,
}

impl Arrivals {
    /// The share of thread `first` of `threads`.
    pub(super) fn new(rate_per_s: u64, first: u32, threads: u32, start_ns: u64) -> Self {
        let (first, threads) = (first.into(), threads.into());
        Self { rate_per_s, first, threads, start_ns, begun: 0, total: None, end_ns: None }
    }

    pub(super) fn until(mut self, total: Option<u64>, end_ns: Option<u64>) -> Self {
        (self.total, self.end_ns) = (total, end_ns);
        self
    }

    /// Counts from here on: what was begun before was warm-up.
    pub(super) fn restart_count(&mut self) {
        self.total = self.total.map(|total| total + self.begun);
    }

    fn due_ns(&self, number: u64) -> u64 {
        let place = u128::from(self.first) + u128::from(number) * u128::from(self.threads);
        let after_ns = place * 1_000_000_000 / u128::from(self.rate_per_s);
        self.start_ns.saturating_add(u64::try_from(after_ns).unwrap_or(u64::MAX))
    }

    /// When the next one is due; nothing when all were begun.
    pub(super) fn next_ns(&self) -> Option<u64> {
        let due_ns = self.due_ns(self.begun);
        let more = self.total.is_none_or(|total| self.begun < total);
        (more && self.end_ns.is_none_or(|end_ns| due_ns < end_ns)).then_some(due_ns)
    }

    /// The next one, if it is due: when it was.
    pub(super) fn pop(&mut self, now_ns: u64) -> Option<u64> {
        let due_ns = self.next_ns().filter(|&due_ns| due_ns <= now_ns)?;
        self.begun += 1;
        Some(due_ns)
    }

    /// Takes all that were due before `cut_ns` and not begun: when, and how many with it. A million is told apart.
    pub(super) fn overdue(&mut self, cut_ns: u64) -> Vec<(u64, u64)> {
        const TOLD_APART: u64 = 1_000_000;
        let share = u128::from(self.rate_per_s) * u128::from(cut_ns.saturating_sub(self.start_ns));
        let due = u64::try_from(share / 1_000_000_000 / u128::from(self.threads)).unwrap_or(u64::MAX);
        let together = due.saturating_sub(self.begun) / TOLD_APART + 1;
        let mut overdue = Vec::new();
        while let Some(due_ns) = self.next_ns().filter(|&due_ns| due_ns < cut_ns) {
            // Further ones of a group were due later: at most a millionth of the run.
            let due = self.total.map_or(together, |total| together.min(total - self.begun));
            overdue.push((due_ns, due));
            self.begun += due;
        }
        overdue
    }

    /// Those of a run by count that were not begun.
    pub(super) fn left(&self) -> u64 {
        self.total.map_or(0, |total| total.saturating_sub(self.begun))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_share_the_arrivals_of_one_steady_rate() {
        let mut due: Vec<u64> = Vec::new();
        for first in 0..3 {
            let mut arrivals = Arrivals::new(1000, first, 3, 50).until(None, Some(50 + 10_000_000));
            due.extend(std::iter::from_fn(|| arrivals.pop(u64::MAX)));
        }
        due.sort_unstable();
        assert_eq!(due, (0..10).map(|number| 50 + number * 1_000_000).collect::<Vec<_>>());
    }

    #[test]
    fn nothing_is_begun_before_it_is_due_and_late_ones_keep_their_time() {
        let mut arrivals = Arrivals::new(1000, 0, 1, 0).until(Some(3), None);
        assert_eq!([arrivals.pop(0), arrivals.pop(0), arrivals.pop(999_999)], [Some(0), None, None]);
        assert_eq!(arrivals.left(), 2);
        assert_eq!([arrivals.pop(9_000_000), arrivals.pop(9_000_000)], [Some(1_000_000), Some(2_000_000)]);
        assert_eq!((arrivals.pop(u64::MAX), arrivals.next_ns(), arrivals.left()), (None, None, 0));
    }

    #[test]
    fn a_budget_is_spent_at_once_and_never_saved() {
        let mut budget = Budget::new(2, 100, 0);
        assert_eq!([0, 1, 2].map(|now_ns| budget.take(now_ns)), [true, true, false]);
        assert_eq!(budget.next_ns(), Some(100));
        assert_eq!([350, 350, 399, 400].map(|now_ns| budget.take(now_ns)), [true, true, false, true]);
    }

    #[test]
    fn sleepers_wake_in_the_order_of_their_times() {
        let mut sleepers = Sleepers::default();
        for (until_ns, slot) in [(30, 1), (10, 2), (20, 3)] {
            sleepers.push(until_ns, slot);
        }
        assert_eq!((sleepers.pop(9), sleepers.next_ns()), (None, Some(10)));
        assert_eq!([sleepers.pop(20), sleepers.pop(20), sleepers.pop(20)], [Some(2), Some(3), None]);
    }
}
