//! The intervals of a series, put together until a chart has room for them.

use crate::recording::{Series, SeriesPoint};

/// Columns of time, each of one or more whole intervals.
pub(super) struct Columns {
    interval_ns: f64,
    /// Intervals in one column.
    per: u32,
    number: u32,
    /// End of the run, which may cut the last column short.
    end_ns: f64,
}

impl Columns {
    /// At most `most` of them; `None` when the series covers no time.
    pub(super) fn of(series: &Series, duration_ns: u64, most: u32) -> Option<Self> {
        let points = series.groups.iter().flat_map(|group| &group.syscalls).flat_map(|call| &call.points);
        let used = points.map(|point| point.interval.saturating_add(1)).max()?;
        // What a file says it has may be less than what it has.
        let intervals = series.intervals.max(used);
        let per = intervals.div_ceil(most.max(1));
        let columns = Self {
            interval_ns: series.interval_ns as f64,
            per,
            number: intervals.div_ceil(per),
            end_ns: duration_ns as f64,
        };
        (series.interval_ns > 0).then_some(columns)
    }

    pub(super) fn number(&self) -> usize {
        self.number as usize
    }

    /// Start of a column, in ns.
    pub(super) fn start_ns(&self, column: usize) -> f64 {
        column as f64 * f64::from(self.per) * self.interval_ns
    }

    /// How long it is, in ns.
    pub(super) fn span_ns(&self, column: usize) -> f64 {
        let (start, end) = (self.start_ns(column), self.start_ns(column + 1));
        if self.end_ns > start { end.min(self.end_ns) - start } else { end - start }
    }

    /// Middle of each column, in ns.
    pub(super) fn middles_ns(&self) -> Vec<f64> {
        (0..self.number()).map(|column| self.start_ns(column) + self.span_ns(column) / 2.0).collect()
    }

    /// Column of a point; always below [`Self::number`].
    pub(super) fn column(&self, point: &SeriesPoint) -> usize {
        (point.interval / self.per).min(self.number - 1) as usize
    }

    /// How often something happened in each column, per second.
    pub(super) fn per_s(&self, points: &[SeriesPoint], figure: fn(&SeriesPoint) -> u64) -> Vec<f64> {
        let mut sums = vec![0.0; self.number()];
        for point in points {
            sums[self.column(point)] += figure(point) as f64;
        }
        sums.iter().enumerate().map(|(column, sum)| sum * 1e9 / self.span_ns(column).max(1.0)).collect()
    }

    /// Length of a whole column, in ns.
    pub(super) fn whole_ns(&self) -> f64 {
        f64::from(self.per) * self.interval_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::{Abi, GroupSeries, SyscallSeries};

    fn series(intervals: u32, points: &[(u32, u64)]) -> Series {
        let point = |&(interval, calls)| SeriesPoint { interval, calls, errors: 0, total_ns: 0, buckets: vec![] };
        let call = SyscallSeries { name: "close".into(), abi: Abi::Native, points: points.iter().map(point).collect() };
        let group = GroupSeries { name: "server".into(), syscalls: vec![call] };
        Series { interval_ns: 1_000_000_000, intervals, groups: vec![group] }
    }

    #[test]
    fn a_rate_is_taken_over_the_time_that_its_column_covers() {
        let series = series(4, &[(0, 10), (1, 10), (2, 10), (3, 5)]);
        let columns = Columns::of(&series, 3_500_000_000, 2).expect("points");
        assert_eq!(columns.per_s(&series.groups[0].syscalls[0].points, |point| point.calls), [10.0, 10.0]);
    }

    #[test]
    fn a_series_of_any_length_gets_no_more_columns_than_asked_for() {
        for (intervals, last) in [(0, 0), (1, u32::MAX), (u32::MAX, 3), (61, 60)] {
            let series = series(intervals, &[(last, 1)]);
            let columns = Columns::of(&series, 0, 60).expect("points");
            assert!((1..=60).contains(&columns.number()), "{intervals} {last}");
        }
        assert!(Columns::of(&series(5, &[]), 0, 60).is_none());
    }
}
