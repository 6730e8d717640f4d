//! The system-call probes in the kernel: marks threads, and reads what was counted for them.

use std::{
    io::{self, Read as _},
    os::fd::BorrowedFd,
};

use anyhow::{Context as _, Result};
use aya::{
    Ebpf, EbpfLoader,
    maps::{PerCpuArray, ProgramArray},
    programs::ProgramFd,
};
use aya_log::EbpfLogger;
use probes::{
    ABSENT,
    bucket::BUCKETS,
    prebuilt,
    syscalls::{
        COUNTERS, Counter, GROUPS, InFlight, SYSCALLS, SyscallStat, Thread, UNKNOWN_NR, counter_index, phase,
        stat_index,
    },
};
use reports::{
    histogram::{Histogram, KERNEL},
    recording::{Loss, Probe, Syscall},
};
use syscalls::Sysno;

use super::{
    Value,
    loading::{self, KernelTypes},
    sum, task_storage,
};
use crate::kernel::syscall_names::{Selection, name_of};

/// Hooks in the order of attaching: threads are followed before the first call is counted.
const HOOKS: [&str; 4] = ["sched_process_exit", "task_newtask", "sys_enter", "sys_exit"];

const NR_EXECVE: u32 = Sysno::execve as u32;
const NR_ACCEPT: u32 = Sysno::accept as u32;
const NR_ACCEPT4: u32 = Sysno::accept4 as u32;

/// The loaded probes. Dropping them detaches everything.
pub(crate) struct SyscallProbes {
    ebpf: Ebpf,
    links: Vec<(&'static str, aya::programs::tp_btf::BtfTracePointLinkId)>,
    logger: Option<EbpfLogger<&'static dyn log::Log>>,
    /// First threads that were marked, of running processes and of a held one, by group.
    first_threads: [u64; GROUPS as usize],
}

/// What was counted for one group.
pub(crate) struct GroupCounts {
    pub(crate) syscalls: Vec<Syscall>,
    pub(crate) loss: Loss,
    /// Returns of calls begun before the start whose name is not known.
    pub(crate) begun_before: u64,
    pub(crate) processes: u64,
    pub(crate) threads: u64,
}

impl SyscallProbes {
    /// Loads and verifies the programs; nothing is attached yet.
    ///
    /// # Errors
    /// When the kernel refuses, with what is missing.
    pub(crate) fn load(types: &KernelTypes, selection: &Selection) -> Result<Self> {
        let bitmap = selection.bitmap();
        let selective = u32::from(bitmap.is_some());
        let words = bitmap.unwrap_or_default();
        let log_level: u8 = if log::log_enabled!(log::Level::Debug) { aya_log::Level::Debug as u8 } else { 0 };
        let (pid, tgid) = (types.offset("task_struct.pid")?, types.offset("task_struct.tgid")?);
        let group_leader = types.offset("task_struct.group_leader")?;
        // TS_COMPAT is x86's way; elsewhere 32-bit calls do not share the 64-bit table's tracepoint numbers either.
        let status = x86_offset(types, "task_struct.thread_info.status");
        let (on_cpu, regs_nr) = call_in_progress_offsets(types);
        let mut loader = EbpfLoader::new();
        loader
            .btf(Some(&types.aya))
            .allow_unsupported_maps()
            .override_global("SELECTIVE", &selective, true)
            .override_global("SELECTION", words.as_slice(), true)
            .override_global("NR_EXECVE", &NR_EXECVE, true)
            .override_global("NR_ACCEPT", &NR_ACCEPT, true)
            .override_global("NR_ACCEPT4", &NR_ACCEPT4, true)
            .override_global("TASK_PID", &pid, true)
            .override_global("TASK_TGID", &tgid, true)
            .override_global("TASK_GROUP_LEADER", &group_leader, true)
            .override_global("TASK_ON_CPU", &on_cpu, true)
            .override_global("REGS_NR", &regs_nr, true)
            .override_global("TASK_STATUS", &status, true)
            .override_global(aya_log::LEVEL, &log_level, true);
        let mut ebpf = loader.load(prebuilt::SYSCALLS).map_err(loading::object_refused)?;
        for hook in HOOKS {
            loading::load_tracepoint(&mut ebpf, hook, types).map_err(|off| loading::required(hook, off))?;
        }
        for iterator in ["adopt", "in_flight"] {
            loading::load_task_iterator(&mut ebpf, iterator, types)?;
        }
        let logger = if log_level > 0 { Some(EbpfLogger::init(&mut ebpf)?) } else { None };
        Ok(Self { ebpf, links: Vec::new(), logger, first_threads: [0; GROUPS as usize] })
    }

    /// Attaches every hook. Nothing is counted until a thread is marked.
    ///
    /// # Errors
    /// When the kernel refuses one.
    pub(crate) fn attach(&mut self) -> Result<Vec<Probe>> {
        for hook in HOOKS {
            let program = loading::tracepoint(&mut self.ebpf, hook);
            let link = program.attach().with_context(|| format!("failed to attach `{hook}` (tp_btf)"))?;
            self.links.push((hook, link));
        }
        Ok(HOOKS.iter().map(|hook| loading::tracepoint_entry(hook, None)).collect())
    }

    /// Names the program (of the same hook as `sys_exit`) that goes on with descriptors which accept returned.
    ///
    /// # Errors
    /// When the kernel finds that it does not fit.
    pub(crate) fn hand_accepted_to(&mut self, program: &ProgramFd) -> Result<()> {
        let map = self.ebpf.map_mut("ACCEPTED").context("bug: no map `ACCEPTED`")?;
        ProgramArray::try_from(map)?.set(0, program, 0).context("failed to hand accept's returns to the TCP probes")
    }

    /// Marks the only thread of a process that we hold before its exec.
    ///
    /// # Errors
    /// When the process has ended, or memory is short.
    pub(crate) fn mark_held(&mut self, pidfd: BorrowedFd<'_>, group: u32) -> io::Result<()> {
        self.mark(pidfd, Thread { group, phase: phase::HELD, ..Thread::default() })
    }

    /// Marks the first thread of a running process; one that is marked already stays as it is.
    ///
    /// # Errors
    /// When the process has ended, or memory is short.
    pub(crate) fn mark_running(&mut self, pidfd: BorrowedFd<'_>, group: u32) -> io::Result<()> {
        self.mark(pidfd, Thread { group, phase: phase::ADOPTED, nr: UNKNOWN_NR, ..Thread::default() })
    }

    fn mark(&mut self, pidfd: BorrowedFd<'_>, thread: Thread) -> io::Result<()> {
        let map = self.ebpf.map("THREADS").ok_or_else(|| io::Error::other("bug: no map `THREADS`"))?;
        let is_new = task_storage::add(map, pidfd, &thread)?;
        self.first_threads[thread.group as usize] += u64::from(is_new);
        Ok(())
    }

    /// Marks the other threads of processes whose first thread is marked; returns how many there have been so far.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub(crate) fn adopt_threads(&mut self) -> Result<u64> {
        self.iterate("adopt")?;
        (0..GROUPS).map(|group| self.counter(group, Counter::Adopted)).sum()
    }

    /// Stops counting and lists the calls that had not returned. The counts stay readable.
    ///
    /// # Errors
    /// When the kernel refuses to list them.
    pub(crate) fn stop(&mut self) -> Result<Vec<InFlight>> {
        // Returns first: from here on the counts are fixed, and what is inside a call is in flight.
        while let Some((hook, link)) = self.links.pop() {
            loading::tracepoint(&mut self.ebpf, hook).detach(link)?;
        }
        let bytes = self.iterate("in_flight")?;
        let (records, _) = bytes.as_chunks::<{ size_of::<InFlight>() }>();
        // SAFETY: the program writes whole `InFlight`s, which are plain integers.
        Ok(records.iter().map(|record| unsafe { record.as_ptr().cast::<InFlight>().read_unaligned() }).collect())
    }

    /// Runs an iterator over all tasks once; returns what it wrote.
    fn iterate(&mut self, name: &str) -> Result<Vec<u8>> {
        let program = loading::task_iterator(&mut self.ebpf, name);
        let link = program.attach().with_context(|| format!("failed to attach `{name}` (iter/task)"))?;
        let mut written = Vec::new();
        program
            .take_link(link)?
            .into_file()?
            .read_to_end(&mut written)
            .with_context(|| format!("failed to run `{name}`"))?;
        Ok(written)
    }

    /// Calls of a group that have returned so far.
    ///
    /// # Errors
    /// When the map cannot be read.
    pub(crate) fn calls_so_far(&self, group: u32) -> Result<u64> {
        let stats = self.stats()?;
        let per_call = (0..SYSCALLS).map(|nr| {
            let per_cpu = stats.get(&stat_index(group, nr), 0)?;
            Ok(per_cpu.iter().map(|value| value.0.calls).sum::<u64>())
        });
        per_call.sum()
    }

    /// Everything counted for a group.
    ///
    /// # Errors
    /// When a map cannot be read.
    pub(crate) fn read(&self, group: u32) -> Result<GroupCounts> {
        let stats = self.stats()?;
        let mut syscalls = Vec::new();
        for nr in 0..SYSCALLS {
            let per_cpu = stats.get(&stat_index(group, nr), 0)?;
            let values = per_cpu.iter().map(|value| &value.0);
            syscalls.extend(merge(nr, values));
        }
        let processes = self.first_threads[group as usize] + self.counter(group, Counter::FollowedProcesses)?;
        let loss = Loss {
            threads_not_followed: self.counter(group, Counter::StorageFailed)?,
            exit_without_enter: self.counter(group, Counter::ExitWithoutEnter)?,
            number_out_of_range: self.counter(group, Counter::NumberOutOfRange)?,
            foreign_abi: self.counter(group, Counter::ForeignAbi)?,
            histogram_full: syscalls.iter().map(|row| row.latency.as_ref().map_or(0, Histogram::missing)).sum(),
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
        })
    }

    /// Prints the programs' own messages; they come with `-v`.
    pub(crate) fn flush_log(&mut self) {
        if let Some(logger) = &mut self.logger {
            logger.flush();
        }
    }

    fn stats(&self) -> Result<PerCpuArray<&aya::maps::MapData, Value<SyscallStat>>> {
        Ok(PerCpuArray::try_from(self.ebpf.map("STATS").context("bug: no map `STATS`")?)?)
    }

    fn counter(&self, group: u32, counter: Counter) -> Result<u64> {
        const { assert!(COUNTERS == Counter::ForeignAbi as u32 + 1) };
        let counts = PerCpuArray::try_from(self.ebpf.map("COUNTS").context("bug: no map `COUNTS`")?)?;
        sum(&counts, counter_index(group, counter))
    }
}

/// Where to find the call that a thread is inside: `on_cpu` of the task, and its number among the saved registers.
fn call_in_progress_offsets(types: &KernelTypes) -> (u32, u32) {
    let on_cpu = types.offset_if_any("task_struct.on_cpu");
    let can_tell = on_cpu != ABSENT && types.own.has_function("bpf_task_pt_regs");
    (on_cpu, if can_tell { x86_offset(types, "pt_regs.orig_ax") } else { ABSENT })
}

/// Offset of a member that means what we take it for on x86 only.
fn x86_offset(types: &KernelTypes, path: &str) -> u32 {
    if cfg!(target_arch = "x86_64") { types.offset_if_any(path) } else { ABSENT }
}

/// Adds up one call's rows of all CPUs; `None` when it was not seen.
fn merge<'a>(nr: u32, per_cpu: impl Iterator<Item = &'a SyscallStat> + Clone) -> Option<Syscall> {
    let total = |field: fn(&SyscallStat) -> u64| per_cpu.clone().map(field).sum::<u64>();
    let (calls, unreturned) = (total(|stat| stat.calls), total(|stat| stat.unreturned));
    let begun_before = total(|stat| stat.begun_before);
    if calls == 0 && unreturned == 0 && begun_before == 0 {
        return None;
    }
    let mut counts = vec![0u64; BUCKETS];
    for stat in per_cpu.clone() {
        for (slot, &count) in counts.iter_mut().zip(&stat.buckets) {
            *slot += u64::from(count);
        }
    }
    let min_ns = per_cpu.clone().map(|stat| !stat.min_complement_ns).min().unwrap_or(u64::MAX);
    let max_ns = per_cpu.clone().map(|stat| stat.max_ns).max().unwrap_or(0);
    let mut row = Syscall {
        name: name_of(nr),
        nr,
        errors: total(|stat| stat.errors),
        restarted: total(|stat| stat.restarted),
        unreturned,
        begun_before,
        ..Syscall::default()
    };
    row.set_latency(Histogram::from_parts(KERNEL, calls, total(|stat| stat.total_ns), min_ns, max_ns, counts));
    Some(row)
}

#[cfg(test)]
mod tests {
    use super::*;
    use probes::bucket::index_ns;

    fn stat(latencies: &[u64]) -> SyscallStat {
        let mut stat = SyscallStat {
            calls: 0,
            errors: 1,
            restarted: 0,
            unreturned: 0,
            begun_before: 0,
            total_ns: 0,
            min_complement_ns: 0,
            max_ns: 0,
            buckets: [0; BUCKETS],
        };
        for &latency in latencies {
            stat.calls += 1;
            stat.total_ns += latency;
            stat.max_ns = stat.max_ns.max(latency);
            stat.min_complement_ns = stat.min_complement_ns.max(!latency);
            stat.buckets[index_ns(latency) as usize] += 1;
        }
        stat
    }

    #[test]
    fn rows_of_several_cpus_add_up_and_an_idle_cpu_does_not_disturb_the_minimum() {
        let idle = SyscallStat { errors: 0, ..stat(&[]) };
        let rows = [stat(&[100, 300]), idle, stat(&[50])];
        let row = merge(0, rows.iter()).expect("seen");
        assert_eq!((row.calls, row.errors, row.time_ns()), (3, 2, 450));
        let latency = row.latency.expect("measured");
        assert_eq!((latency.min(), latency.max(), latency.missing()), (Some(50), Some(300), 0));
    }

    #[test]
    fn a_call_that_was_never_seen_has_no_row() {
        assert_eq!(merge(0, [SyscallStat { errors: 0, ..stat(&[]) }].iter()), None);
    }
}
