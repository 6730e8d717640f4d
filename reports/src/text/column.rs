//! The columns of the system-call table: their names, and what each shows of a row.

use std::{cmp::Ordering, str::FromStr};

use crate::{
    histogram::Histogram,
    printable::clipped,
    recording::{Abi, Syscall},
    units,
};

/// One column, under the name by which it is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    /// Name of the call.
    Syscall,
    /// Calls that returned.
    Calls,
    /// Those of them that failed.
    Errors,
    /// Summed wall time.
    Total,
    /// Share of the wall time of all working calls.
    Share,
    /// Mean wall time.
    Mean,
    /// Shortest.
    Min,
    /// Median.
    P50,
    /// 90th percentile.
    P90,
    /// 99th percentile.
    P99,
    /// 99.9th percentile.
    P999,
    /// Longest.
    Max,
    /// Share of the wall time on a CPU.
    OnCpu,
    /// Summed time on a CPU.
    OnCpuTotal,
    /// 99th percentile of the time on a CPU.
    OnCpuP99,
    /// Summed time asleep.
    Blocked,
    /// Summed time ready to run, waiting for a CPU.
    Runqueue,
    /// Returns that the kernel restarted.
    Restarts,
}

/// Every column with the word that names it.
const NAMES: [(Column, &str); 18] = [
    (Column::Syscall, "syscall"),
    (Column::Calls, "calls"),
    (Column::Errors, "errors"),
    (Column::Total, "total"),
    (Column::Share, "share"),
    (Column::Mean, "mean"),
    (Column::Min, "min"),
    (Column::P50, "p50"),
    (Column::P90, "p90"),
    (Column::P99, "p99"),
    (Column::P999, "p99.9"),
    (Column::Max, "max"),
    (Column::OnCpu, "on-cpu"),
    (Column::OnCpuTotal, "on-cpu-total"),
    (Column::OnCpuP99, "on-cpu-p99"),
    (Column::Blocked, "blocked"),
    (Column::Runqueue, "runqueue"),
    (Column::Restarts, "restarts"),
];

/// A word that names no column.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("no column `{0}`; there are {list}", list = Column::names().join(", "))]
pub struct UnknownColumn(String);

impl FromStr for Column {
    type Err = UnknownColumn;

    fn from_str(word: &str) -> Result<Self, UnknownColumn> {
        let word = word.trim();
        let known = NAMES.iter().find(|(_, name)| name.eq_ignore_ascii_case(word));
        known.map(|&(column, _)| column).ok_or_else(|| UnknownColumn(word.to_owned()))
    }
}

impl Column {
    /// Every column's word.
    #[must_use]
    pub fn names() -> [&'static str; NAMES.len()] {
        NAMES.map(|(_, name)| name)
    }

    /// The word that names it, which is also its heading.
    #[must_use]
    pub fn name(self) -> &'static str {
        NAMES.iter().find(|&&(column, _)| column == self).map_or("", |&(_, name)| name)
    }

    /// The cell of a row; `share` is its part of the whole, where it has one.
    pub(super) fn cell(self, row: &Syscall, mark: &str, share: Option<f64>) -> String {
        let duration = |ns: Option<u64>| ns.map_or("-".to_owned(), units::duration);
        let measured = |ns: u64| if row.on_cpu.is_some() { units::duration(ns) } else { "-".to_owned() };
        match self {
            Self::Syscall => format!("{}{mark}", label(row)),
            Self::Calls => units::count(row.calls),
            Self::Errors => units::count(row.errors),
            Self::Restarts => units::count(row.restarted),
            Self::Share => share.map_or(String::new(), units::percent),
            Self::Mean => row.mean_ns().map_or("-".to_owned(), units::duration_f64),
            Self::OnCpu => row.on_cpu_share().map_or("-".to_owned(), whole_percent),
            Self::Blocked => measured(row.blocked_ns),
            Self::Runqueue => measured(row.runqueue_ns),
            Self::Total | Self::Min | Self::P50 | Self::P90 | Self::P99 | Self::P999 | Self::Max => {
                duration(self.time(row))
            }
            Self::OnCpuTotal | Self::OnCpuP99 => duration(self.time(row)),
        }
    }

    fn time(self, row: &Syscall) -> Option<u64> {
        let (latency, on_cpu) = (row.latency.as_ref(), row.on_cpu.as_ref());
        match self {
            Self::Total => row.total_ns,
            Self::Min => latency.and_then(Histogram::min),
            Self::P50 => row.quantile(0.5),
            Self::P90 => row.quantile(0.9),
            Self::P99 => row.quantile(0.99),
            Self::P999 => row.quantile(0.999),
            Self::Max => latency.and_then(Histogram::max),
            Self::OnCpuTotal => on_cpu.map(Histogram::sum),
            Self::OnCpuP99 => on_cpu.and_then(|on_cpu| on_cpu.quantile(0.99)),
            Self::Blocked => on_cpu.map(|_| row.blocked_ns),
            Self::Runqueue => on_cpu.map(|_| row.runqueue_ns),
            Self::Mean => row.mean_ns().map(saturating),
            _ => None,
        }
    }

    /// Order of two rows by this column: names rise, figures fall, and what is not known comes last.
    pub(super) fn compare(self, a: &Syscall, b: &Syscall) -> Ordering {
        if self == Self::Syscall {
            return label_order(a).cmp(&label_order(b));
        }
        let falling = match self {
            Self::Calls => b.calls.cmp(&a.calls),
            Self::Errors => b.errors.cmp(&a.errors),
            Self::Restarts => b.restarted.cmp(&a.restarted),
            Self::OnCpu => b.on_cpu_share().partial_cmp(&a.on_cpu_share()).unwrap_or(Ordering::Equal),
            Self::Share => b.total_ns.cmp(&a.total_ns),
            _ => self.time(b).cmp(&self.time(a)),
        };
        falling.then_with(|| b.total_ns.cmp(&a.total_ns)).then_with(|| label_order(a).cmp(&label_order(b)))
    }
}

fn label_order(row: &Syscall) -> (&str, Abi) {
    (&row.name, row.abi)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a mean of times, not negative")]
fn saturating(ns: f64) -> u64 {
    ns as u64
}

/// Name of a call, with its table where that is not the kernel's own.
pub(super) fn label(row: &Syscall) -> String {
    let name = clipped(&row.name, super::NAME_COLUMNS);
    match row.abi {
        Abi::Native => name,
        Abi::Compat => format!("{name} [32-bit]"),
        Abi::X32 => format!("{name} [x32]"),
    }
}

fn whole_percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_column_is_found_by_its_name_and_another_word_lists_them() {
        for (column, name) in NAMES {
            assert_eq!((name.parse(), column.name()), (Ok(column), name));
        }
        assert!("p98".parse::<Column>().expect_err("none").to_string().contains("p99.9"));
    }

    #[test]
    fn rows_are_ordered_by_the_column_and_the_unknown_come_last() {
        let row = |name: &str, calls, total_ns| Syscall { name: name.into(), calls, total_ns, ..Syscall::default() };
        let mut rows = [row("b", 1, None), row("c", 5, Some(10)), row("a", 3, Some(20))];
        let names = |rows: &[Syscall]| rows.iter().map(|row| row.name.clone()).collect::<String>();
        for (column, expected) in [(Column::Syscall, "abc"), (Column::Calls, "cab"), (Column::Total, "acb")] {
            rows.sort_by(|a, b| column.compare(a, b));
            assert_eq!(names(&rows), expected, "{column:?}");
        }
    }
}
