//! System calls over time, from sums that only grow. Pure: does not read maps or clocks.

use std::{collections::BTreeMap, time::Duration};

use probes::{
    bucket::{self, SUB_BITS},
    syscalls::{CLIENT, RowKey, SERVER},
};
use reports::recording::{GroupSeries, SERIES_SUB_BITS, Series, SeriesPoint, SyscallSeries};

use crate::{
    bpf::syscalls::RowSum,
    kernel::calls::{abi_of, name_of},
};

/// What a call had counted at one moment, or gained within an interval.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Amounts {
    calls: u64,
    errors: u64,
    total_ns: u64,
    /// Latencies by bucket of the series' layout.
    buckets: BTreeMap<u32, u64>,
}

impl Amounts {
    fn of(row: &RowSum) -> Self {
        let mut buckets = BTreeMap::new();
        for (index, &count) in (0u32..).zip(&row.buckets).filter(|&(_, &count)| count > 0) {
            let (low, _) = bucket::bounds(index, SUB_BITS);
            // Each fine bucket lies within one coarse one.
            *buckets.entry(bucket::index(low, u32::from(SERIES_SUB_BITS))).or_default() += count;
        }
        Self { calls: row.stat.calls, errors: row.stat.errors, total_ns: row.stat.total_ns, buckets }
    }

    /// What came since `earlier`.
    fn since(&self, earlier: &Self) -> Self {
        let gained = |(&index, &count): (&u32, &u64)| {
            let gained = count.saturating_sub(earlier.buckets.get(&index).copied().unwrap_or(0));
            (gained > 0).then_some((index, gained))
        };
        Self {
            calls: self.calls.saturating_sub(earlier.calls),
            errors: self.errors.saturating_sub(earlier.errors),
            total_ns: self.total_ns.saturating_sub(earlier.total_ns),
            buckets: self.buckets.iter().filter_map(gained).collect(),
        }
    }

    fn add(&mut self, other: Self) {
        self.calls += other.calls;
        self.errors += other.errors;
        self.total_ns += other.total_ns;
        for (index, count) in other.buckets {
            *self.buckets.entry(index).or_default() += count;
        }
    }
}

/// A series that grows.
#[derive(Debug, Default)]
pub(crate) struct Growing {
    before: BTreeMap<RowKey, Amounts>,
    intervals: Vec<BTreeMap<RowKey, Amounts>>,
}

impl Growing {
    /// Ends an interval: what the rows gained since the last one belongs to it.
    pub(crate) fn end_interval(&mut self, rows: &[RowSum]) {
        let mut gained = BTreeMap::new();
        for row in rows {
            let now = Amounts::of(row);
            let gain = now.since(self.before.get(&row.key).unwrap_or(&Amounts::default()));
            if gain.calls > 0 {
                gained.insert(row.key, gain);
            }
            self.before.insert(row.key, now);
        }
        self.intervals.push(gained);
    }

    /// Intervals so far.
    pub(crate) fn len(&self) -> usize {
        self.intervals.len()
    }

    /// Makes one interval of every two.
    pub(crate) fn halve(&mut self) {
        let mut halved: Vec<BTreeMap<RowKey, Amounts>> = Vec::new();
        for (number, interval) in std::mem::take(&mut self.intervals).into_iter().enumerate() {
            match halved.last_mut().filter(|_| number % 2 == 1) {
                Some(first) => interval.into_iter().for_each(|(key, gain)| first.entry(key).or_default().add(gain)),
                None => halved.push(interval),
            }
        }
        self.intervals = halved;
    }

    /// As the recording has it.
    pub(crate) fn into_series(self, interval: Duration) -> Series {
        let group = |group: u32, name: &str| {
            let mut calls: BTreeMap<RowKey, Vec<SeriesPoint>> = BTreeMap::new();
            for (number, interval) in (0u32..).zip(&self.intervals) {
                for (key, gain) in interval.iter().filter(|(key, _)| key.group == group) {
                    calls.entry(*key).or_default().push(point(number, gain));
                }
            }
            let named = |(key, points): (RowKey, _)| SyscallSeries {
                name: name_of(key.abi, key.nr),
                abi: abi_of(key.abi),
                points,
            };
            GroupSeries { name: name.to_owned(), syscalls: calls.into_iter().map(named).collect() }
        };
        let groups = [group(SERVER, "server"), group(CLIENT, "client")];
        Series {
            interval_ns: u64::try_from(interval.as_nanos()).unwrap_or(u64::MAX),
            intervals: u32::try_from(self.intervals.len()).unwrap_or(u32::MAX),
            groups: groups.into_iter().filter(|group| !group.syscalls.is_empty()).collect(),
        }
    }
}

fn point(interval: u32, gain: &Amounts) -> SeriesPoint {
    SeriesPoint {
        interval,
        calls: gain.calls,
        errors: gain.errors,
        total_ns: gain.total_ns,
        buckets: gain.buckets.iter().map(|(&index, &count)| (index, count)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use probes::bucket::index_ns;

    fn row(calls: u64, latency_ns: u64) -> RowSum {
        let mut row = RowSum::new(RowKey::new(SERVER, 0, 0));
        row.stat.calls = calls;
        row.stat.total_ns = calls * latency_ns;
        row.buckets[index_ns(latency_ns) as usize] = calls;
        row
    }

    fn calls(series: &Series) -> Vec<(u32, u64)> {
        series.groups[0].syscalls[0].points.iter().map(|point| (point.interval, point.calls)).collect()
    }

    #[test]
    fn an_interval_holds_what_came_in_it_and_the_sum_is_the_total() {
        let mut growing = Growing::default();
        for total in [10, 10, 25, 40] {
            growing.end_interval(&[row(total, 1_000)]);
        }
        let series = growing.into_series(Duration::from_millis(100));
        assert_eq!((series.intervals, series.interval_ns), (4, 100_000_000));
        assert_eq!(calls(&series), [(0, 10), (2, 15), (3, 15)]);
        let point = &series.groups[0].syscalls[0].points[0];
        assert_eq!((point.total_ns, point.buckets.len(), point.buckets[0].1), (10_000, 1, 10));
        let (low, width) = bucket::bounds(point.buckets[0].0, u32::from(SERIES_SUB_BITS));
        assert!((low..low + width).contains(&1_000));
    }

    #[test]
    fn halving_keeps_every_call() {
        let mut growing = Growing::default();
        for total in [1, 3, 6, 10, 15] {
            growing.end_interval(&[row(total, 500)]);
        }
        growing.halve();
        assert_eq!(growing.len(), 3);
        assert_eq!(calls(&growing.into_series(Duration::from_millis(200))), [(0, 3), (1, 7), (2, 5)]);
    }
}
