//! Value types of the maps in `src/bin/syscalls.rs`.

use crate::bucket;

/// Native system-call numbers below this have a row of their own (the highest in Linux 6.18 is 469).
pub const SYSCALLS: u32 = 512;

/// Words of the bitmap that says which system calls are counted.
pub const SELECTION_WORDS: usize = (SYSCALLS / 64) as usize;

/// Process groups that are traced at once and never mixed.
pub const GROUPS: u32 = 2;
/// The target of a run.
pub const SERVER: u32 = 0;
/// The workload of a run.
pub const CLIENT: u32 = 1;

/// What the last event of a traced thread was, when no counted call is in progress.
pub mod phase {
    /// Between calls.
    pub const OUTSIDE: u32 = 0;
    /// Inside a call that is not selected.
    pub const UNSELECTED: u32 = 1;
    /// Just made by fork or clone: its first exit has no enter, and misses nothing.
    pub const STARTING: u32 = 2;
    /// Marked while it ran: it may be inside a call whose start was not seen. `nr` names that call where it is known.
    pub const ADOPTED: u32 = 3;
    /// Inside a call that is counted elsewhere: foreign ABI or number out of range.
    pub const OUTLYING: u32 = 4;
    /// Held by us before its exec: what it does until it enters `execve` is ours, not the program's.
    pub const HELD: u32 = 5;
}

/// Number of a call in progress that could not be told.
pub const UNKNOWN_NR: u32 = u32::MAX;

/// Task-storage value. It exists exactly while the thread is traced, and the kernel frees it with the thread.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Thread {
    /// `CLOCK_MONOTONIC` at the entry of the counted call in progress, 0 when there is none.
    pub entered_ns: u64,
    /// Number of the call in progress, or [`UNKNOWN_NR`].
    pub nr: u32,
    /// [`SERVER`] or [`CLIENT`].
    pub group: u32,
    /// One of [`phase`], meaningful while `entered_ns` is 0.
    pub phase: u32,
    /// Keeps the size a multiple of 8 without hidden padding.
    pub reserved: u32,
}

/// What is kept per CPU, group and system call.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct SyscallStat {
    /// Calls that returned.
    pub calls: u64,
    /// Returns of an error number that user space sees (-4095..=-1 without the kernel's restart codes).
    pub errors: u64,
    /// Returns of a restart code (`ERESTARTSYS` and its kin): the kernel restarts the call or turns it into `EINTR`.
    pub restarted: u64,
    /// Calls whose thread ended inside: `exit`, `exit_group`, or killed.
    pub unreturned: u64,
    /// Returns of calls that were in progress when tracing began: without a start they have no latency.
    pub begun_before: u64,
    /// Summed latency of the calls that returned, in ns.
    pub total_ns: u64,
    /// `u64::MAX` less the smallest latency, so that zeroed memory is the right start.
    pub min_complement_ns: u64,
    /// Largest latency, in ns.
    pub max_ns: u64,
    /// Latency histogram over [`bucket::index_ns`]; a full bucket stays at `u32::MAX`.
    pub buckets: [u32; bucket::BUCKETS],
}

/// Place of a system call's [`SyscallStat`] in the per-CPU array.
#[inline(always)]
#[must_use]
pub const fn stat_index(group: u32, nr: u32) -> u32 {
    group * SYSCALLS + nr
}

/// What happened outside the table. Each has a slot per group; see [`counter_index`].
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counter {
    /// Threads, other than a process's first, marked because they were there at the start.
    Adopted,
    /// Threads marked because a traced thread made them within its process.
    FollowedThreads,
    /// Processes marked because a traced thread made them.
    FollowedProcesses,
    /// New threads that could not be marked: their calls are missing.
    StorageFailed,
    /// Returns of calls that were in progress when tracing began and whose number is not known.
    BegunBefore,
    /// Returns without an entry for another reason, such as a call that seccomp denied.
    ExitWithoutEnter,
    /// Calls with a native number of [`SYSCALLS`] or more (x32 calls have bit 30 set).
    NumberOutOfRange,
    /// Calls made through the 32-bit ABI, whose numbers mean something else.
    ForeignAbi,
}

/// Number of [`Counter`]s.
pub const COUNTERS: u32 = 8;

/// Place of a counter in the per-CPU array.
#[inline(always)]
#[must_use]
pub const fn counter_index(group: u32, counter: Counter) -> u32 {
    group * COUNTERS + counter as u32
}

/// What the `in_flight` iterator writes for each traced thread that is inside a counted call.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InFlight {
    /// `CLOCK_MONOTONIC` at the entry of the call; 0 when that was before tracing began.
    pub entered_ns: u64,
    /// System-call number.
    pub nr: u32,
    /// [`SERVER`] or [`CLIENT`].
    pub group: u32,
    /// Thread id in the initial pid namespace.
    pub tid: u32,
    /// Process id in the initial pid namespace.
    pub tgid: u32,
}
