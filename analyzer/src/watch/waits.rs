//! Waits in the accept queue of one listener: since the start, and lately. Pure.

use std::collections::VecDeque;

use probes::bucket;
use reports::histogram::{Histogram, KERNEL};

use super::round::{Wait, Waits};

/// Intervals that are lately.
pub(crate) const WINDOW: usize = 10;

/// What the probes had counted at the end of each of the last intervals.
#[derive(Debug, Default)]
pub(crate) struct WaitHistory {
    ends: VecDeque<Histogram>,
}

impl WaitHistory {
    /// Takes the count since the start at the end of an interval.
    pub(crate) fn push(&mut self, since_start: Histogram) {
        if self.ends.len() > WINDOW {
            self.ends.pop_front();
        }
        self.ends.push_back(since_start);
    }

    /// In short; `None` when nothing was measured.
    pub(crate) fn summary(&self) -> Option<Waits> {
        let (first, last) = (self.ends.front()?, self.ends.back()?);
        // In the first intervals, lately is since the start.
        let recent = if self.ends.len() > WINDOW { short(&difference(last, first)) } else { short(last) };
        Some(Waits { since_start: short(last), recent })
    }
}

fn short(waits: &Histogram) -> Wait {
    Wait {
        count: waits.count(),
        p50_ns: waits.quantile(0.5),
        p90_ns: waits.quantile(0.9),
        p99_ns: waits.quantile(0.99),
        max_ns: waits.max(),
    }
}

/// What `later` counted beyond `earlier`. Least and largest are those of the buckets: exact ones are not kept.
fn difference(later: &Histogram, earlier: &Histogram) -> Histogram {
    let mut counts = vec![0; bucket::BUCKETS];
    let index = |low| bucket::index(low, bucket::SUB_BITS) as usize;
    later.buckets().for_each(|(low, _, count)| counts[index(low)] += count);
    earlier.buckets().for_each(|(low, _, count)| counts[index(low)] = counts[index(low)].saturating_sub(count));
    let highest = later.buckets().filter(|&(low, ..)| counts[index(low)] > 0).last();
    let max = highest.map_or(0, |(low, width, _)| low + width - 1);
    let count = later.count().saturating_sub(earlier.count());
    Histogram::from_parts(KERNEL, count, later.sum().saturating_sub(earlier.sum()), 0, max, counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lately_forgets_what_is_older_than_the_window_and_the_start_does_not() {
        let (mut history, mut counted) = (WaitHistory::default(), Histogram::new(KERNEL));
        assert!(history.summary().is_none());
        for _ in 0..200 {
            counted.record(1_000_000_000);
        }
        history.push(counted.clone());
        let first = history.summary().expect("measured");
        assert_eq!((first.recent.count, first.since_start.count), (200, 200));
        for _ in 0..WINDOW {
            (0..10).for_each(|_| counted.record(1_000));
            history.push(counted.clone());
        }
        let waits = history.summary().expect("measured");
        assert_eq!((waits.since_start.count, waits.recent.count), (300, 100));
        assert_eq!(waits.since_start.max_ns, Some(1_000_000_000));
        assert!(waits.recent.p99_ns.expect("100 samples") < 1_100);
        assert!(waits.recent.max_ns.expect("samples") < 1_100);
        assert!(waits.since_start.p50_ns.expect("samples") > 900_000_000);
    }

    #[test]
    fn too_few_samples_have_no_percentile() {
        let (mut history, mut counted) = (WaitHistory::default(), Histogram::new(KERNEL));
        (0..99).for_each(|_| counted.record(5));
        history.push(counted);
        let wait = history.summary().expect("measured").recent;
        assert_eq!((wait.p50_ns, wait.p99_ns), (Some(5), None));
    }
}
