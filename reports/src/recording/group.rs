//! A set of processes that were traced together, and what was counted for them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::is_zero;
use crate::histogram::Histogram;

/// A set of processes that were traced together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Group {
    /// `server` or `client`.
    pub name: String,
    /// Program's short name, such as `echo-epoll-lt`.
    pub label: String,
    /// Its command line.
    pub argv: Vec<String>,
    /// Process ids named or started by us, in our pid namespace.
    pub pids: Vec<u32>,
    /// How the process ended, when it did and we are told: `exit 0`, `signal 9`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<String>,
    /// Addresses it listened on.
    #[serde(default)]
    pub listeners: Vec<String>,
    /// The last of what it printed, where we held its output.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub output: String,
    /// `pids` as their own pid namespaces number them, in the same order; empty when the numbers are the same.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inner_pids: Vec<u32>,
    /// Processes that were traced: there at the start, or made by traced ones since.
    pub processes: u64,
    /// Threads of all of them.
    pub threads: u64,
    /// One row per system call that was seen.
    pub syscalls: Vec<Syscall>,
    /// Returns of calls that were in progress when tracing began and could not be named.
    #[serde(default)]
    pub begun_before: u64,
    /// Calls still in progress at the end.
    #[serde(default)]
    pub in_flight: Vec<InFlight>,
    /// What was not counted.
    pub loss: Loss,
    /// The same calls by thread or process; what was asked for with `--by`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub split: Option<Split>,
    /// `io_uring` operations, which are not system calls.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub io_uring: Vec<IoUring>,
    /// Counters of the kernel's perf events.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub perf: Vec<PerfCount>,
}

/// By which table a system call was called.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Abi {
    /// The kernel's own.
    #[default]
    Native,
    /// The 32-bit table (`int 0x80` and 32-bit programs).
    Compat,
    /// The x32 table: 64-bit registers, 32-bit pointers.
    X32,
}

impl Abi {
    /// The kernel's own table, which needs no mention.
    #[must_use]
    pub fn is_native(&self) -> bool {
        *self == Self::Native
    }
}

/// Counts and latency of one system call in one group.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Syscall {
    /// Kernel's name, or `syscall_0xNNN`.
    pub name: String,
    /// Number in its table.
    pub nr: u32,
    /// Its table.
    #[serde(default, skip_serializing_if = "Abi::is_native")]
    pub abi: Abi,
    /// Calls that returned.
    #[serde(default)]
    pub calls: u64,
    /// Returns of an error number.
    pub errors: u64,
    /// `errors` by name, such as `EAGAIN`; those without a name are under `other`. Empty where they were not told apart.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub errnos: BTreeMap<String, u64>,
    /// Returns of a kernel-internal restart code.
    #[serde(default)]
    pub restarted: u64,
    /// Calls whose thread ended inside.
    #[serde(default)]
    pub unreturned: u64,
    /// Returns of calls that were in progress when tracing began: without a start they have no latency.
    #[serde(default)]
    pub begun_before: u64,
    /// Calls that seccomp (or a tracer) refused before they began; not among `calls`.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub denied: u64,
    /// Summed wall time of the calls that returned, in ns; `None` when no clock was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_ns: Option<u64>,
    /// Wall time between entry and return, in ns, of the calls that returned; `None` where only sums are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency: Option<Histogram>,
    /// Of that, the time on a CPU; `None` where it was not measured. Its count is that of `latency`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_cpu: Option<Histogram>,
    /// Summed time off the CPU and asleep, in ns (0 where `on_cpu` is `None`).
    #[serde(default, skip_serializing_if = "is_zero")]
    pub blocked_ns: u64,
    /// Summed time ready to run, waiting for a CPU, in ns (0 where `on_cpu` is `None`).
    #[serde(default, skip_serializing_if = "is_zero")]
    pub runqueue_ns: u64,
    /// What successful calls returned, where that is a size or a number of events.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub returned: Option<Returned>,
}

/// Return values of successful calls.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Returned {
    /// What they mean.
    pub kind: ReturnKind,
    /// Their distribution, 0 included.
    pub values: Histogram,
}

/// Meaning of a return value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReturnKind {
    /// Bytes moved.
    Bytes,
    /// Events reported.
    Events,
}

/// A call that had not returned when the run ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InFlight {
    /// Kernel's name of the call.
    pub name: String,
    /// Thread.
    pub tid: u32,
    /// Its process; 0 where that was not kept.
    #[serde(default)]
    pub pid: u32,
    /// How long it had been inside: a lower bound of its latency.
    pub age_ns: u64,
    /// It was inside when tracing began already: `age_ns` is then counted from there.
    #[serde(default)]
    pub begun_before: bool,
}

/// Calls by thread or process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Split {
    /// `thread` or `process`.
    pub by: String,
    /// Rows by falling time.
    pub rows: Vec<SplitRow>,
}

/// One system call of one thread or process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SplitRow {
    /// Process.
    pub pid: u32,
    /// Thread; 0 in a split by process.
    #[serde(default, skip_serializing_if = "is_zero_u32")]
    pub tid: u32,
    /// Its name when it was first seen.
    pub command: String,
    /// Kernel's name of the call.
    pub name: String,
    /// How it was called.
    #[serde(default, skip_serializing_if = "Abi::is_native")]
    pub abi: Abi,
    /// Calls that returned.
    pub calls: u64,
    /// Those of them that failed.
    pub errors: u64,
    /// Summed wall time, in ns.
    pub total_ns: u64,
    /// Longest, in ns.
    pub max_ns: u64,
}

/// Operations of `io_uring` with one opcode.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IoUring {
    /// Name of the opcode in lower case, such as `recv`, or `op_NN`.
    pub opcode: String,
    /// Operations handed to the kernel.
    pub submitted: u64,
    /// Completions; a multishot operation gives many.
    pub completed: u64,
    /// Completions with an error number.
    pub errors: u64,
    /// Submission to first completion, in ns.
    pub latency: Histogram,
}

/// One of the kernel's perf counters over a group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PerfCount {
    /// perf's name, such as `page-faults`.
    pub name: String,
    /// `None` when the machine has no such counter.
    pub count: Option<u64>,
}

/// Every way of not counting something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Loss {
    /// New threads that could not be marked.
    pub threads_not_followed: u64,
    /// Returns without an entry whose call could not be named.
    pub exit_without_enter: u64,
    /// Calls that found no free row (schema 1: numbers outside the table).
    pub number_out_of_range: u64,
    /// Calls through a foreign ABI (schema 1; since then they have rows of their own).
    pub foreign_abi: u64,
    /// Calls counted but absent from the latency histogram because a bucket was full.
    pub histogram_full: u64,
    /// Calls counted in their row, but in no row of the split.
    pub split_full: u64,
    /// `io_uring` operations without a latency, because too many were in flight.
    pub io_uring_untimed: u64,
}

impl Loss {
    /// Each kind with the words that name it.
    #[must_use]
    pub fn kinds(&self) -> [(&'static str, u64); 7] {
        [
            ("new threads not followed", self.threads_not_followed),
            ("returns without an entry", self.exit_without_enter),
            ("calls without a free row", self.number_out_of_range),
            ("calls through the 32-bit ABI", self.foreign_abi),
            ("latencies beyond a full bucket", self.histogram_full),
            ("calls missing in the split", self.split_full),
            ("io_uring operations without a latency", self.io_uring_untimed),
        ]
    }

    /// Everything that was not counted.
    #[must_use]
    pub fn total(&self) -> u64 {
        // Saturating, because a recording may hold any number.
        self.kinds().iter().fold(0, |total, (_, count)| total.saturating_add(*count))
    }
}

impl Group {
    /// The row of that system call.
    #[must_use]
    pub fn syscall(&self, name: &str) -> Option<&Syscall> {
        self.syscalls.iter().find(|row| row.name == name)
    }
}

impl Syscall {
    /// Takes a full distribution of the wall time; the number of calls and their sum are its own.
    pub fn set_latency(&mut self, latency: Histogram) {
        self.calls = latency.count();
        self.total_ns = Some(latency.sum());
        self.latency = Some(latency);
    }

    /// Summed wall time, in ns; 0 when no clock was read.
    #[must_use]
    pub fn time_ns(&self) -> u64 {
        self.total_ns.unwrap_or(0)
    }

    /// Quantile of the wall time, in ns; `None` where it is not known or too few calls make it a guess.
    #[must_use]
    pub fn quantile(&self, q: f64) -> Option<u64> {
        self.latency.as_ref()?.quantile(q)
    }

    /// Mean wall time, in ns.
    #[must_use]
    pub fn mean_ns(&self) -> Option<f64> {
        self.total_ns.filter(|_| self.calls > 0).map(|total| total as f64 / self.calls as f64)
    }

    /// Part of the wall time that was spent on a CPU.
    #[must_use]
    pub fn on_cpu_share(&self) -> Option<f64> {
        let total = self.total_ns.filter(|&total| total > 0)?;
        Some((self.on_cpu.as_ref()?.sum() as f64 / total as f64).min(1.0))
    }

    /// A call that waits by design: its time says how idle the caller was, not what the call cost.
    #[must_use]
    pub fn waits_by_design(&self) -> bool {
        const WAITING: [&str; 23] = [
            "accept",
            "accept4",
            "clock_nanosleep",
            "epoll_pwait",
            "epoll_pwait2",
            "epoll_wait",
            "futex",
            "futex_wait",
            "futex_waitv",
            "io_getevents",
            "io_pgetevents",
            "io_uring_enter",
            "nanosleep",
            "pause",
            "poll",
            "ppoll",
            "pselect6",
            "restart_syscall",
            "rt_sigsuspend",
            "rt_sigtimedwait",
            "select",
            "wait4",
            "waitid",
        ];
        WAITING.contains(&self.name.as_str())
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
fn is_zero_u32(value: &u32) -> bool {
    *value == 0
}
