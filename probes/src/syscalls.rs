//! Value types of the maps in `src/bin/syscalls.rs`.

use crate::bucket;

/// Process groups that are traced at once and never mixed.
pub const GROUPS: u32 = 3;
/// The target of a run.
pub const SERVER: u32 = 0;
/// The workload of a run.
pub const CLIENT: u32 = 1;
/// A thread of the tracer's own, with which it measures what a traced call costs.
pub const SELF: u32 = 2;

/// Tables of system calls, and that of `io_uring`'s opcodes.
pub const ABIS: u32 = 4;
/// The kernel's own.
pub const NATIVE: u32 = 0;
/// The 32-bit one.
pub const COMPAT: u32 = 1;
/// x32: the native entry with this bit in the number (v6.18 `arch/x86/include/uapi/asm/unistd.h`).
pub const X32: u32 = 2;
/// No system calls, but `io_uring` operations by opcode: `calls` are completions whose submission was seen.
pub const IO_URING: u32 = 3;
/// `__X32_SYSCALL_BIT`.
pub const X32_BIT: u32 = 0x4000_0000;

/// Numbers below this are found without a search: all that Linux 6.18 has (the highest is x32's 547).
pub const NUMBERS: u32 = 1024;
/// Places in the table from number to row.
pub const PLACES: usize = (GROUPS * ABIS * NUMBERS) as usize;

/// Words of the bitmap that says which system calls of one table are counted.
pub const SELECTION_WORDS: usize = (NUMBERS / 64) as usize;

/// Most rows that are made: beyond the number of system calls that Linux has.
pub const MOST_ROWS: u32 = 1024;

/// No row: none was free.
pub const NO_ROW: u32 = u32::MAX;

/// Error numbers below this have a count of their own (the highest with a name is `EHWPOISON`, 133).
pub const ERRNOS: usize = 136;

/// Layout of the histograms of return values: four buckets per power of two.
pub const RETURN_SUB_BITS: u32 = 2;
/// Return values of `2^RETURN_MAX_BITS` and above share the last bucket.
pub const RETURN_MAX_BITS: u32 = 32;
/// Buckets of return values.
pub const RETURN_BUCKETS: usize = ((RETURN_MAX_BITS - RETURN_SUB_BITS + 1) << RETURN_SUB_BITS) as usize;

/// What the last event of a traced thread was, when no counted call is in progress.
pub mod phase {
    /// Between calls.
    pub const OUTSIDE: u32 = 0;
    /// Inside a call that is not selected.
    pub const UNSELECTED: u32 = 1;
    /// Just made by fork or clone: its first exit has no enter, and misses nothing.
    pub const STARTING: u32 = 2;
    /// Marked while it ran: it may be inside a call whose start was not seen. `row` is that call's where it is known.
    pub const ADOPTED: u32 = 3;
    /// Held by us before its exec: what it does until it enters `execve` is ours, not the program's.
    pub const HELD: u32 = 4;
}

/// Task-storage value. It exists exactly while the thread is traced, and the kernel frees it with the thread.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Thread {
    /// `CLOCK_MONOTONIC` at the entry of the counted call in progress, 0 when there is none.
    pub entered_ns: u64,
    /// Time off the CPU within that call so far.
    pub off_cpu_ns: u64,
    /// `CLOCK_MONOTONIC` when it left the CPU within that call, 0 while it runs.
    pub left_cpu_ns: u64,
    /// `task_struct.sched_info.run_delay` at the entry: the kernel's sum of the time spent ready to run.
    pub run_delay_ns: u64,
    /// Row of the call in progress, or [`NO_ROW`].
    pub row: u32,
    /// [`SERVER`], [`CLIENT`] or [`SELF`].
    pub group: u32,
    /// One of [`phase`], meaningful while `entered_ns` is 0.
    pub phase: u32,
    /// Names the thread in the split; 0 until it has a row there.
    pub serial: u32,
}

impl Thread {
    /// A call begins: nothing of it was off the CPU yet.
    #[inline(always)]
    pub fn begin_on_cpu(&mut self, run_delay_ns: u64) {
        // Volatile, or two zeroes in a row become a call of `memset` in the kernel's programs.
        // SAFETY: both are members of ours.
        unsafe {
            core::ptr::write_volatile(&raw mut self.off_cpu_ns, 0);
            core::ptr::write_volatile(&raw mut self.left_cpu_ns, 0);
        }
        self.run_delay_ns = run_delay_ns;
    }
}

/// What is kept per CPU and row: one row for each group and system call that was seen.
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
    /// Returns without an entry: refused by seccomp or skipped by a tracer.
    pub denied: u64,
    /// Of `IO_URING`: operations handed to the kernel.
    pub submitted: u64,
    /// Of `IO_URING`: operations whose start could not be kept.
    pub untimed: u64,
    /// Summed latency of the calls that returned, in ns.
    pub total_ns: u64,
    /// `u64::MAX` less the smallest latency, so that zeroed memory is the right start.
    pub min_complement_ns: u64,
    /// Largest latency, in ns.
    pub max_ns: u64,
    /// Summed time off the CPU, in ns.
    pub off_cpu_ns: u64,
    /// Of that, time ready to run, in ns.
    pub runqueue_ns: u64,
    /// `u64::MAX` less the smallest time on the CPU.
    pub on_cpu_min_complement_ns: u64,
    /// Largest time on the CPU, in ns.
    pub on_cpu_max_ns: u64,
    /// Sum of the values in `returned`.
    pub returned_sum: u64,
    /// `u64::MAX` less the smallest of them.
    pub returned_min_complement: u64,
    /// Largest of them.
    pub returned_max: u64,
    /// Latency histogram over [`bucket::index_ns`]; a full bucket stays at `u32::MAX`.
    pub buckets: [u32; bucket::BUCKETS],
    /// Time on the CPU, in the same layout.
    pub on_cpu: [u32; bucket::BUCKETS],
    /// Successful return values of the calls in `VALUED`, over [`return_index`].
    pub returned: [u32; RETURN_BUCKETS],
    /// Errors by number.
    pub errnos: [u32; ERRNOS],
}

/// Bucket of a return value, always below [`RETURN_BUCKETS`].
#[inline(always)]
#[must_use]
pub const fn return_index(value: u64) -> u32 {
    let largest = (1 << RETURN_MAX_BITS) - 1;
    bucket::index(if value > largest { largest } else { value }, RETURN_SUB_BITS)
}

/// Names a row: group, table and number.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RowKey {
    /// [`SERVER`], [`CLIENT`] or [`SELF`].
    pub group: u32,
    /// [`NATIVE`], [`COMPAT`], [`X32`] or [`IO_URING`].
    pub abi: u32,
    /// Number in that table.
    pub nr: u32,
    /// 1 in the key of a row that was given out; a row that was not is all zero.
    pub made: u32,
}

impl RowKey {
    /// The key of a call.
    #[inline(always)]
    #[must_use]
    pub const fn new(group: u32, abi: u32, nr: u32) -> Self {
        Self { group, abi, nr, made: 1 }
    }

    /// Place in the table from number to row, for numbers below [`NUMBERS`].
    #[inline(always)]
    #[must_use]
    pub const fn place(&self) -> usize {
        ((self.group * ABIS + self.abi) * NUMBERS + self.nr) as usize
    }
}

/// Names a row of the split.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SplitKey {
    /// [`Thread::serial`].
    pub serial: u32,
    /// Row of the call.
    pub row: u32,
}

/// One thread's calls of one kind.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SplitStat {
    /// Calls that returned.
    pub calls: u64,
    /// Those of them that failed.
    pub errors: u64,
    /// Their summed latency, in ns.
    pub total_ns: u64,
    /// The longest, in ns.
    pub max_ns: u64,
    /// Process id in the initial pid namespace.
    pub tgid: u32,
    /// Thread id in the initial pid namespace.
    pub tid: u32,
    /// `comm` when the row was made.
    pub command: [u8; 16],
}

/// Most rows of the split.
pub const SPLIT_ROWS: u32 = 262_144;

/// Opcodes of `io_uring` are below this.
pub const OPCODES: u32 = 256;
/// Opcode of completions that no request came with: the further ones of multishot operations.
pub const FURTHER: u32 = OPCODES - 1;

/// An `io_uring` operation in flight.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Submission {
    /// `CLOCK_MONOTONIC`.
    pub at_ns: u64,
    /// Group of the thread that submitted it.
    pub group: u32,
    /// Its opcode.
    pub opcode: u32,
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
    /// Processes marked because their name or cgroup is the one asked for.
    Matched,
    /// New threads that could not be marked: their calls are missing.
    StorageFailed,
    /// Returns of calls that were in progress when tracing began and whose number is not known.
    BegunBefore,
    /// Returns without an entry whose number is not known.
    ExitWithoutEnter,
    /// Calls that found no free row.
    NoRow,
    /// Calls that found no room in the split.
    SplitFull,
}

/// Number of [`Counter`]s.
pub const COUNTERS: u32 = 9;

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
    /// Row of the call.
    pub row: u32,
    /// [`SERVER`] or [`CLIENT`].
    pub group: u32,
    /// Thread id in the initial pid namespace.
    pub tid: u32,
    /// Process id in the initial pid namespace.
    pub tgid: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_group_table_and_number_has_its_own_place() {
        let mut seen = [false; PLACES];
        for group in 0..GROUPS {
            for abi in 0..ABIS {
                for nr in 0..NUMBERS {
                    let place = RowKey::new(group, abi, nr).place();
                    assert!(!core::mem::replace(&mut seen[place], true));
                }
            }
        }
    }

    #[test]
    fn a_return_value_never_indexes_past_the_end() {
        for value in (0..64).map(|bit| 1u64 << bit).chain([0, u64::MAX, (1 << 32) - 1]) {
            assert!((return_index(value) as usize) < RETURN_BUCKETS, "{value}");
        }
    }
}
