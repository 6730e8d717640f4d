//! Reading the rows: those of all CPUs added up, and each as the recording has it.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result};
use aya::maps::{Array, PerCpuArray};
use probes::{
    bucket::BUCKETS,
    syscalls::{Counter, ERRNOS, RETURN_BUCKETS, RETURN_SUB_BITS, RowKey, SyscallStat},
};
use reports::{
    histogram::{Histogram, KERNEL},
    recording::{IoUring, Loss, Returned, Split, Syscall},
};

use super::{super::Value, ON_CPU, SyscallProbes, uring};
use crate::kernel::calls::{abi_of, errno_name, kind_of_return, name_of};

/// What was counted for one group.
pub(crate) struct GroupCounts {
    pub(crate) syscalls: Vec<Syscall>,
    pub(crate) loss: Loss,
    /// Returns of calls begun before the start whose name is not known.
    pub(crate) begun_before: u64,
    pub(crate) processes: u64,
    pub(crate) threads: u64,
    pub(crate) split: Option<Split>,
    pub(crate) io_uring: Vec<IoUring>,
}

/// Which of a row's figures were measured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    pub(crate) latency: bool,
    pub(crate) on_cpu: bool,
}

/// One row, all CPUs together.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RowSum {
    pub(crate) key: RowKey,
    /// Sums, and the extremes of all.
    pub(crate) stat: Scalars,
    pub(crate) buckets: Vec<u64>,
    on_cpu: Vec<u64>,
    returned: Vec<u64>,
    errnos: Vec<u64>,
}

/// The figures of a [`SyscallStat`] that are no arrays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Scalars {
    pub(crate) calls: u64,
    pub(crate) errors: u64,
    pub(crate) total_ns: u64,
    restarted: u64,
    unreturned: u64,
    begun_before: u64,
    denied: u64,
    pub(super) submitted: u64,
    pub(super) untimed: u64,
    /// Complement of the smallest, and the largest.
    pub(super) latency: [u64; 2],
    off_cpu_ns: u64,
    runqueue_ns: u64,
    on_cpu: [u64; 2],
    returned_sum: u64,
    returned: [u64; 2],
}

impl RowSum {
    pub(crate) fn new(key: RowKey) -> Self {
        let (buckets, on_cpu) = (vec![0; BUCKETS], vec![0; BUCKETS]);
        let (returned, errnos) = (vec![0; RETURN_BUCKETS], vec![0; ERRNOS]);
        Self { key, stat: Scalars::default(), buckets, on_cpu, returned, errnos }
    }

    fn add(&mut self, other: &SyscallStat) {
        let stat = &mut self.stat;
        stat.calls += other.calls;
        stat.errors += other.errors;
        stat.total_ns += other.total_ns;
        stat.restarted += other.restarted;
        stat.unreturned += other.unreturned;
        stat.begun_before += other.begun_before;
        stat.denied += other.denied;
        stat.submitted += other.submitted;
        stat.untimed += other.untimed;
        stat.off_cpu_ns += other.off_cpu_ns;
        stat.runqueue_ns += other.runqueue_ns;
        stat.returned_sum += other.returned_sum;
        // Smallest values are kept as complements: the largest of these is theirs, and a row without calls has 0.
        let widen = |mine: &mut [u64; 2], complement: u64, max: u64| {
            *mine = [mine[0].max(complement), mine[1].max(max)];
        };
        widen(&mut stat.latency, other.min_complement_ns, other.max_ns);
        widen(&mut stat.on_cpu, other.on_cpu_min_complement_ns, other.on_cpu_max_ns);
        widen(&mut stat.returned, other.returned_min_complement, other.returned_max);
        let add = |mine: &mut Vec<u64>, other: &[u32]| {
            mine.iter_mut().zip(other).for_each(|(mine, &other)| *mine += u64::from(other));
        };
        add(&mut self.buckets, &other.buckets);
        add(&mut self.on_cpu, &other.on_cpu);
        add(&mut self.returned, &other.returned);
        add(&mut self.errnos, &other.errnos);
    }

    /// Nothing was counted here.
    fn is_empty(&self) -> bool {
        let stat = &self.stat;
        stat.calls + stat.unreturned + stat.begun_before + stat.denied + stat.submitted == 0
    }

    /// As the recording has it.
    fn into_syscall(self, layout: Layout) -> Syscall {
        let stat = self.stat;
        let name = name_of(self.key.abi, self.key.nr);
        let mut row = Syscall {
            nr: self.key.nr,
            abi: abi_of(self.key.abi),
            calls: stat.calls,
            errors: stat.errors,
            errnos: named(&self.errnos, stat.errors),
            restarted: stat.restarted,
            unreturned: stat.unreturned,
            begun_before: stat.begun_before,
            denied: stat.denied,
            returned: returned(&name, &stat, self.returned).filter(|_| row_is_native(self.key)),
            name,
            ..Syscall::default()
        };
        let [min_complement, max] = stat.latency;
        if layout.latency {
            row.set_latency(Histogram::from_parts(
                KERNEL,
                stat.calls,
                stat.total_ns,
                !min_complement,
                max,
                self.buckets,
            ));
        }
        if layout.on_cpu {
            let [min_complement, max] = stat.on_cpu;
            let on_cpu_ns = stat.total_ns.saturating_sub(stat.off_cpu_ns);
            row.on_cpu = Some(Histogram::from_parts(KERNEL, stat.calls, on_cpu_ns, !min_complement, max, self.on_cpu));
            row.runqueue_ns = stat.runqueue_ns;
            row.blocked_ns = stat.off_cpu_ns.saturating_sub(stat.runqueue_ns);
        }
        row
    }
}

fn row_is_native(key: RowKey) -> bool {
    key.abi == probes::syscalls::NATIVE
}

/// Errors by name; what has none is `other`.
fn named(errnos: &[u64], errors: u64) -> BTreeMap<String, u64> {
    let mut named = BTreeMap::new();
    for (errno, &count) in (0..).zip(errnos).filter(|&(_, &count)| count > 0) {
        let name = errno_name(errno).map_or_else(|| format!("errno_{errno}"), str::to_owned);
        *named.entry(name).or_default() += count;
    }
    let other = errors.saturating_sub(named.values().sum());
    if other > 0 {
        named.insert("other".to_owned(), other);
    }
    named
}

fn returned(name: &str, stat: &Scalars, counts: Vec<u64>) -> Option<Returned> {
    let kind = kind_of_return(name)?;
    let count: u64 = counts.iter().sum();
    let [min_complement, max] = stat.returned;
    let sub_bits = u8::try_from(RETURN_SUB_BITS).expect("bug: a layout of few bits");
    let values = Histogram::from_parts(sub_bits, count, stat.returned_sum, !min_complement, max, counts);
    (count > 0).then_some(Returned { kind, values })
}

impl SyscallProbes {
    /// Which figures the rows have.
    pub(crate) fn layout(&self) -> Layout {
        let latency = !self.options.count_only;
        Layout { latency, on_cpu: latency && self.options.on_cpu && self.is_on(ON_CPU) }
    }

    /// What each row that was given out is for.
    ///
    /// # Errors
    /// When the map cannot be read.
    pub(crate) fn row_keys(&self) -> Result<Vec<RowKey>> {
        let keys: Array<_, Value<RowKey>> = Array::try_from(self.map("ROW_KEYS")?)?;
        let all = (0..keys.len()).map(|row| Ok(keys.get(&row, 0)?.0)).collect::<Result<Vec<_>>>()?;
        Ok(all.into_iter().take_while(|key| key.made != 0).collect())
    }

    /// System calls counted so far, one entry per group and call.
    ///
    /// # Errors
    /// When a map cannot be read.
    pub(crate) fn rows(&self) -> Result<Vec<RowSum>> {
        Ok(self.all_rows()?.into_iter().filter(|row| !uring::is_operation(row)).collect())
    }

    fn all_rows(&self) -> Result<Vec<RowSum>> {
        let stats: PerCpuArray<_, Value<SyscallStat>> = PerCpuArray::try_from(self.map("STATS")?)?;
        let mut rows: BTreeMap<RowKey, RowSum> = BTreeMap::new();
        for (row, key) in (0u32..).zip(self.row_keys()?) {
            let sum = rows.entry(key).or_insert_with(|| RowSum::new(key));
            stats.get(&row, 0)?.iter().for_each(|value| sum.add(&value.0));
        }
        Ok(rows.into_values().filter(|row| !row.is_empty()).collect())
    }

    /// Calls of a group that have returned so far.
    ///
    /// # Errors
    /// When the map cannot be read.
    pub(crate) fn calls_so_far(&self, group: u32) -> Result<u64> {
        Ok(self.rows()?.iter().filter(|row| row.key.group == group).map(|row| row.stat.calls).sum())
    }

    /// Everything counted for a group.
    ///
    /// # Errors
    /// When a map cannot be read.
    pub(crate) fn read(&self, group: u32) -> Result<GroupCounts> {
        let layout = self.layout();
        let rows = self.all_rows()?.into_iter().filter(|row| row.key.group == group);
        let (operations, calls): (Vec<RowSum>, Vec<RowSum>) = rows.partition(uring::is_operation);
        let syscalls: Vec<Syscall> = calls.into_iter().map(|row| row.into_syscall(layout)).collect();
        let io_uring_untimed = operations.iter().map(|row| row.stat.untimed).sum();
        let processes = self.first_threads[group as usize]
            + self.counter(group, Counter::FollowedProcesses)?
            + self.counter(group, Counter::Matched)?;
        let missing = |row: &Syscall| row.latency.as_ref().map_or(0, Histogram::missing);
        let loss = Loss {
            threads_not_followed: self.counter(group, Counter::StorageFailed)?,
            exit_without_enter: self.counter(group, Counter::ExitWithoutEnter)?,
            number_out_of_range: self.counter(group, Counter::NoRow)?,
            histogram_full: syscalls.iter().map(missing).sum(),
            split_full: self.counter(group, Counter::SplitFull)?,
            io_uring_untimed,
            ..Loss::default()
        };
        Ok(GroupCounts {
            syscalls,
            loss,
            begun_before: self.counter(group, Counter::BegunBefore)?,
            processes,
            threads: processes
                + self.counter(group, Counter::Adopted)?
                + self.counter(group, Counter::FollowedThreads)?,
            split: self.split(group)?,
            io_uring: operations.into_iter().map(uring::operation).collect(),
        })
    }

    pub(super) fn map(&self, name: &str) -> Result<&aya::maps::Map> {
        self.ebpf.map(name).with_context(|| format!("bug: no map `{name}`"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use probes::bucket::index_ns;

    const BOTH: Layout = Layout { latency: true, on_cpu: true };

    fn stat(latencies: &[u64]) -> SyscallStat {
        // SAFETY: a structure of integers, for which zero is a value.
        let mut stat: SyscallStat = unsafe { std::mem::zeroed() };
        for &latency in latencies {
            stat.calls += 1;
            stat.total_ns += latency;
            stat.max_ns = stat.max_ns.max(latency);
            stat.min_complement_ns = stat.min_complement_ns.max(!latency);
            stat.buckets[index_ns(latency) as usize] += 1;
        }
        stat
    }

    fn row(stats: Vec<SyscallStat>) -> RowSum {
        let mut sum = RowSum::new(RowKey::new(0, 0, 0));
        for stat in &stats {
            sum.add(stat);
        }
        sum
    }

    #[test]
    fn rows_of_several_cpus_add_up_and_an_idle_cpu_does_not_disturb_the_minimum() {
        let row = row(vec![stat(&[100, 300]), stat(&[]), stat(&[50])]).into_syscall(BOTH);
        assert_eq!((row.name.as_str(), row.calls, row.time_ns()), ("read", 3, 450));
        let latency = row.latency.expect("measured");
        assert_eq!((latency.min(), latency.max(), latency.missing()), (Some(50), Some(300), 0));
    }

    #[test]
    fn time_off_the_cpu_is_what_was_blocked_and_what_waited() {
        let mut stat = stat(&[1_000]);
        (stat.off_cpu_ns, stat.runqueue_ns) = (700, 200);
        let row = row(vec![stat]).into_syscall(BOTH);
        assert_eq!((row.on_cpu.expect("measured").sum(), row.blocked_ns, row.runqueue_ns), (300, 500, 200));
    }

    #[test]
    fn errors_are_told_apart_and_none_is_dropped() {
        let mut stat = stat(&[1]);
        stat.errors = 9;
        (stat.errnos[11], stat.errnos[2]) = (5, 1);
        let row = row(vec![stat]).into_syscall(BOTH);
        let names: Vec<_> = row.errnos.iter().map(|(name, &count)| (name.as_str(), count)).collect();
        assert_eq!(names, [("EAGAIN", 5), ("ENOENT", 1), ("other", 3)]);
    }

    #[test]
    fn a_row_without_calls_is_left_out_and_without_clocks_there_are_no_times() {
        assert!(row(vec![stat(&[])]).is_empty());
        let row = row(vec![stat(&[7])]).into_syscall(Layout { latency: false, on_cpu: false });
        assert_eq!((row.calls, row.total_ns, row.latency), (1, None, None));
    }
}
