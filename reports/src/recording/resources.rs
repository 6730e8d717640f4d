//! What the machine and the traced processes used meanwhile, sampled.

use serde::{Deserialize, Serialize};

/// Samples over a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Resources {
    /// Names of the groups, in the order of [`Sample::groups`].
    pub groups: Vec<String>,
    /// Addresses of the listeners, in the order of [`Sample::listeners`].
    #[serde(default)]
    pub listeners: Vec<String>,
    /// In order of time. Each covers the time since the one before.
    pub samples: Vec<Sample>,
}

/// One look at the machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// Time since the start of the run, in ns.
    pub at_ns: u64,
    /// CPU time of the host since the sample before.
    pub cpu: HostCpu,
    /// Context switches of the host since the sample before.
    pub context_switches: u64,
    /// Load average over one minute.
    #[serde(deserialize_with = "crate::not_finite::or_nan")]
    pub load: f64,
    /// TCP sockets of the network namespace now.
    pub sockets: TcpSockets,
    /// Each group's processes.
    pub groups: Vec<GroupSample>,
    /// Each listener's queue.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub listeners: Vec<ListenerSample>,
}

/// CPU time of all CPUs together, in ns (`/proc/stat`: no finer than its tick of 10 ms).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostCpu {
    /// User code, niced included.
    pub user_ns: u64,
    /// Kernel code on behalf of processes.
    pub system_ns: u64,
    /// Soft interrupts: most of the network stack's receive side.
    pub softirq_ns: u64,
    /// Hard interrupts.
    pub irq_ns: u64,
    /// Taken by the hypervisor.
    pub steal_ns: u64,
    /// Nothing to do, waiting for disks included.
    pub idle_ns: u64,
}

/// `/proc/net/sockstat`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TcpSockets {
    /// In use in the namespace.
    pub in_use: u64,
    /// Without a process.
    pub orphan: u64,
    /// In `TIME_WAIT`.
    pub time_wait: u64,
    /// Buffer memory of the host, in bytes.
    pub memory_bytes: u64,
}

/// One group of processes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupSample {
    /// User time since the sample before, in ns.
    pub user_ns: u64,
    /// System time since the sample before, in ns.
    pub system_ns: u64,
    /// Resident memory now, in bytes.
    pub rss_bytes: u64,
    /// Processes now.
    pub processes: u32,
    /// Threads now.
    pub threads: u32,
}

/// One listening socket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListenerSample {
    /// Connections that wait for accept now.
    pub queue: u32,
    /// Drops since the sample before.
    pub drops: u32,
}
