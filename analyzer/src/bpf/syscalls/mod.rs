//! The system-call probes in the kernel: loading and attaching them, marking threads.

mod options;
mod rows;
mod split;
mod uring;

use std::{
    io::{self, Read as _},
    os::fd::BorrowedFd,
};

use anyhow::{Context as _, Result};
use aya::{
    Ebpf, EbpfLoader,
    maps::{PerCpuArray, ProgramArray},
    programs::{ProgramFd, tp_btf::BtfTracePointLinkId},
};
use aya_log::EbpfLogger;
use probes::{
    prebuilt,
    syscalls::{COUNTERS, Counter, GROUPS, InFlight, NO_ROW, Thread, counter_index, phase},
};
use reports::recording::Probe;

use super::{
    loading::{self, KernelTypes, Off},
    sum, task_storage,
};

pub(crate) use options::{Match, ProbeOptions};
pub(crate) use rows::{GroupCounts, RowSum};
pub(crate) use split::by_process;

use options::Globals;

/// Hooks without which nothing is counted, in the order of attaching: threads are followed before the first call is.
const REQUIRED: [&str; 4] = ["sched_process_exit", "task_newtask", "sys_enter", "sys_exit"];
const ON_CPU: &str = "sched_switch";
const EXEC: &str = "sched_process_exec";
const IO_URING: [&str; 2] = ["io_uring_submit_req", "io_uring_complete"];

/// The loaded probes. Dropping them detaches everything.
pub(crate) struct SyscallProbes {
    ebpf: Ebpf,
    options: ProbeOptions,
    /// Hooks to attach, and those that this kernel refuses.
    hooks: Vec<(&'static str, Option<Off>)>,
    links: Vec<(&'static str, BtfTracePointLinkId)>,
    logger: Option<EbpfLogger<&'static dyn log::Log>>,
    /// First threads that were marked, of running processes and of a held one, by group.
    first_threads: [u64; GROUPS as usize],
}

impl SyscallProbes {
    /// Loads and verifies the programs; nothing is attached yet.
    ///
    /// # Errors
    /// When the kernel refuses what is needed, with what is missing.
    pub(crate) fn load(types: &KernelTypes, options: ProbeOptions) -> Result<Self> {
        let log_level: u8 = if log::log_enabled!(log::Level::Debug) { aya_log::Level::Debug as u8 } else { 0 };
        let globals = Globals::new(types, &options)?;
        let mut loader = EbpfLoader::new();
        loader.btf(Some(&types.aya)).allow_unsupported_maps().override_global(aya_log::LEVEL, &log_level, true);
        globals.apply(&mut loader);
        let mut ebpf = loader.load(prebuilt::SYSCALLS).map_err(loading::object_refused)?;
        for hook in REQUIRED {
            loading::load_tracepoint(&mut ebpf, hook, types).map_err(|off| loading::required(hook, off))?;
        }
        for iterator in ["adopt", "in_flight"] {
            loading::load_task_iterator(&mut ebpf, iterator, types)?;
        }
        let mut hooks: Vec<_> = REQUIRED.map(|hook| (hook, None)).into();
        let on_cpu = options.on_cpu && !options.count_only;
        let exec = options.matching != Match::Nothing;
        for (hook, wanted) in [(ON_CPU, on_cpu), (EXEC, exec), (IO_URING[0], true), (IO_URING[1], true)] {
            if wanted {
                hooks.push((hook, loading::load_tracepoint(&mut ebpf, hook, types).err()));
            }
        }
        let logger = if log_level > 0 { Some(EbpfLogger::init(&mut ebpf)?) } else { None };
        Ok(Self { ebpf, options, hooks, links: Vec::new(), logger, first_threads: [0; GROUPS as usize] })
    }

    /// Attaches every hook. Nothing is counted until a thread is marked.
    ///
    /// # Errors
    /// When the kernel refuses one that is needed.
    pub(crate) fn attach(&mut self) -> Result<Vec<Probe>> {
        for (hook, off) in self.hooks.iter_mut().filter(|(_, off)| off.is_none()) {
            match loading::tracepoint(&mut self.ebpf, hook).attach() {
                Ok(link) => self.links.push((hook, link)),
                Err(error) if REQUIRED.contains(hook) => {
                    return Err(error).with_context(|| format!("failed to attach `{hook}` (tp_btf)"));
                }
                Err(error) => *off = Some(Off::Refused(error)),
            }
        }
        Ok(self.hooks.iter().map(|(hook, off)| loading::tracepoint_entry(hook, off.as_ref())).collect())
    }

    /// Whether a hook is attached, or could be.
    fn is_on(&self, hook: &str) -> bool {
        self.hooks.iter().any(|(name, off)| *name == hook && off.is_none())
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
        self.mark(pidfd, Thread { group, phase: phase::HELD, row: NO_ROW, ..Thread::default() })
    }

    /// Marks the first thread of a running process; one that is marked already stays as it is.
    ///
    /// # Errors
    /// When the process has ended, or memory is short.
    pub(crate) fn mark_running(&mut self, pidfd: BorrowedFd<'_>, group: u32) -> io::Result<()> {
        self.mark(pidfd, Thread { group, phase: phase::ADOPTED, row: NO_ROW, ..Thread::default() })
    }

    fn mark(&mut self, pidfd: BorrowedFd<'_>, thread: Thread) -> io::Result<()> {
        let map = self.ebpf.map("THREADS").ok_or_else(|| io::Error::other("bug: no map `THREADS`"))?;
        let is_new = task_storage::add(map, pidfd, &thread)?;
        self.first_threads[thread.group as usize] += u64::from(is_new);
        Ok(())
    }

    /// Takes the mark off the first thread of a process.
    ///
    /// # Errors
    /// When it had none.
    pub(crate) fn unmark(&mut self, pidfd: BorrowedFd<'_>) -> io::Result<()> {
        task_storage::remove(self.ebpf.map("THREADS").ok_or_else(|| io::Error::other("bug: no map `THREADS`"))?, pidfd)
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
        self.links.sort_by_key(|(hook, _)| *hook == "sys_exit");
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

    /// The loaded object, for what is told of every object.
    pub(crate) fn object(&self) -> &Ebpf {
        &self.ebpf
    }

    /// Prints the programs' own messages; they come with `-v`.
    pub(crate) fn flush_log(&mut self) {
        if let Some(logger) = &mut self.logger {
            logger.flush();
        }
    }

    fn counter(&self, group: u32, counter: Counter) -> Result<u64> {
        const { assert!(COUNTERS == Counter::SplitFull as u32 + 1) };
        let counts = PerCpuArray::try_from(self.ebpf.map("COUNTS").context("bug: no map `COUNTS`")?)?;
        sum(&counts, counter_index(group, counter))
    }
}
