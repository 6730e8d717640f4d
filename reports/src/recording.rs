//! The recording of one run: full histograms and counts with all that is needed to judge them. Percentiles are never stored.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{bench::BenchResult, histogram::Histogram};

/// Version of [`Recording`]'s form. Older ones are read, newer ones refused.
pub const SCHEMA: u32 = 1;

/// One run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Recording {
    /// [`SCHEMA`] at the time of writing.
    pub schema: u32,
    /// Version of the tool that wrote it.
    pub tool: String,
    /// The run came to its planned end and everything was read from the kernel.
    pub complete: bool,
    /// Why `complete` is false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub incomplete_because: Option<String>,
    /// Command line of the tracer.
    pub argv: Vec<String>,
    /// Wall-clock start of the traced part, RFC 3339 in UTC.
    pub started: String,
    /// From the release of the workload (or the attach) to the last reading, `CLOCK_MONOTONIC`.
    pub duration_ns: u64,
    /// Machine.
    pub host: Host,
    /// Settings that change how TCP behaves, by their sysctl names.
    pub sysctls: BTreeMap<String, String>,
    /// Every hook that was asked for, attached or not.
    pub probes: Vec<Probe>,
    /// `server` and `client`, whichever there were.
    pub groups: Vec<Group>,
    /// TCP in the network namespace of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tcp: Option<Tcp>,
    /// Results that load generators handed over, in order.
    #[serde(default)]
    pub bench: Vec<BenchResult>,
    /// Names given to `-e`; empty when every call was counted.
    #[serde(default)]
    pub selection: Vec<String>,
}

/// Machine and kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Host {
    /// `uname -r`.
    pub kernel: String,
    /// `uname -m`.
    pub arch: String,
    /// CPUs online.
    pub cpus: u32,
    /// Clock of every latency taken in the kernel.
    pub clock: String,
}

/// One hook in the kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Probe {
    /// Kernel's name of the hook, such as `sys_enter`.
    pub hook: String,
    /// Kind of program, such as `tp_btf`.
    pub kind: String,
    /// Why it is off; attached when there is no reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub off_because: Option<String>,
}

/// A set of processes that were traced together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
}

/// Counts and latency of one system call in one group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Syscall {
    /// Kernel's name, or `syscall_0xNNN`.
    pub name: String,
    /// Number in the native table.
    pub nr: u32,
    /// Returns of an error number.
    pub errors: u64,
    /// Returns of a kernel-internal restart code.
    #[serde(default)]
    pub restarted: u64,
    /// Calls whose thread ended inside.
    #[serde(default)]
    pub unreturned: u64,
    /// Returns of calls that were in progress when tracing began: without a start they have no latency.
    #[serde(default)]
    pub begun_before: u64,
    /// Wall time between entry and return, in ns, of the calls that returned. Its count is the number of calls.
    pub latency: Histogram,
}

/// A call that had not returned when the run ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InFlight {
    /// Kernel's name of the call.
    pub name: String,
    /// Thread.
    pub tid: u32,
    /// How long it had been inside: a lower bound of its latency.
    pub age_ns: u64,
    /// It was inside when tracing began already: `age_ns` is then counted from there.
    #[serde(default)]
    pub begun_before: bool,
}

/// Every way of not counting something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Loss {
    /// New threads that could not be marked.
    pub threads_not_followed: u64,
    /// Returns without an entry (seccomp-denied calls).
    pub exit_without_enter: u64,
    /// Calls with a number outside the table.
    pub number_out_of_range: u64,
    /// Calls through a foreign ABI.
    pub foreign_abi: u64,
    /// Calls counted but absent from the latency histogram because a bucket was full.
    pub histogram_full: u64,
}

impl Loss {
    /// Each kind with the words that name it.
    #[must_use]
    pub fn kinds(&self) -> [(&'static str, u64); 5] {
        [
            ("new threads not followed", self.threads_not_followed),
            ("returns without an entry (seccomp)", self.exit_without_enter),
            ("numbers outside the table", self.number_out_of_range),
            ("calls through the 32-bit ABI", self.foreign_abi),
            ("latencies beyond a full bucket", self.histogram_full),
        ]
    }

    /// Everything that was not counted.
    #[must_use]
    pub fn total(&self) -> u64 {
        // Saturating, because a recording may hold any number.
        self.kinds().iter().fold(0, |total, (_, count)| total.saturating_add(*count))
    }
}

/// TCP in one network namespace, from the kernel's own counters and from the TCP probes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tcp {
    /// Inode of the network namespace.
    pub netns: u64,
    /// How far each counter of `/proc/net/snmp` (Tcp) and `/proc/net/netstat` (`TcpExt`) moved; absent means it did not.
    pub counters: BTreeMap<String, i64>,
    /// Sockets in `TIME_WAIT` before and after.
    pub time_wait: (u64, u64),
    /// State changes counted by `inet_sock_set_state`; `None` when that probe is off.
    pub transitions: Option<Vec<Transition>>,
    /// Retransmitted segments counted by the probes; `None` when they are off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retransmits: Option<Retransmits>,
}

/// How often sockets went from one state to another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Transition {
    /// State before, in the kernel's spelling.
    pub from: String,
    /// State after.
    pub to: String,
    /// Times.
    pub count: u64,
}

/// Retransmitted segments by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Retransmits {
    /// SYNs.
    pub syn: u64,
    /// SYN-ACKs.
    pub syn_ack: u64,
    /// Segments of established or closing connections.
    pub data: u64,
}

impl Tcp {
    /// How far a kernel counter moved, by a name such as `TcpExt.ListenOverflows`.
    #[must_use]
    pub fn counter(&self, name: &str) -> i64 {
        self.counters.get(name).copied().unwrap_or(0)
    }

    /// Times that sockets went from one state to another.
    #[must_use]
    pub fn transition(&self, from: &str, to: &str) -> u64 {
        let same = self.transitions.iter().flatten().filter(|change| change.from == from && change.to == to);
        same.fold(0, |total, change| total.saturating_add(change.count))
    }
}

impl Recording {
    /// The group of that name.
    #[must_use]
    pub fn group(&self, name: &str) -> Option<&Group> {
        self.groups.iter().find(|group| group.name == name)
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
    /// Calls that returned.
    #[must_use]
    pub fn calls(&self) -> u64 {
        self.latency.count()
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
