//! The recording of one run: full histograms and counts with all that is needed to judge them. Percentiles are never stored.

mod cost;
mod group;
mod origin;
mod resources;
mod series;
mod stated;
mod tcp;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::bench::BenchResult;

pub use cost::{CallCost, OwnCost, ProgramCost};
pub use group::{Abi, Group, InFlight, IoUring, Loss, PerfCount, ReturnKind, Returned, Split, SplitRow, Syscall};
pub use origin::{Fact, Origin, Unknown};
pub use resources::{GroupSample, HostCpu, ListenerSample, Resources, Sample, TcpSockets};
pub use series::{GroupSeries, SERIES_SUB_BITS, Series, SeriesPoint, SyscallSeries};
pub use stated::Stated;
pub use tcp::{
    Closes, Connects, Lifetimes, ListenerQueue, Outcome, Peer, PortUse, Retransmits, Side, StateTime, Tcp, Tracked,
    Transition,
};

/// Version of [`Recording`]'s form. Older ones are read, newer ones refused.
pub const SCHEMA: u32 = 2;

/// One run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
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
    /// What made the figures, where that was not our own tracer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
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
    /// What was given to `-e`; empty when every call was counted.
    #[serde(default)]
    pub selection: Vec<String>,
    /// Calls and errors only: no clock was read (`--count-only`).
    #[serde(default, skip_serializing_if = "is_false")]
    pub count_only: bool,
    /// System calls over time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub series: Option<Series>,
    /// CPU, memory and sockets over time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resources: Option<Resources>,
    /// What tracing itself cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_cost: Option<OwnCost>,
}

/// Machine and kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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

impl Recording {
    /// The group of that name.
    #[must_use]
    pub fn group(&self, name: &str) -> Option<&Group> {
        self.groups.iter().find(|group| group.name == name)
    }

    /// Brings what an older version wrote into today's form.
    pub(crate) fn upgrade(&mut self) {
        if self.schema < 2 {
            // Until then a row's count was its histogram's.
            for row in self.groups.iter_mut().flat_map(|group| &mut group.syscalls) {
                row.calls = row.latency.as_ref().map_or(0, crate::histogram::Histogram::count);
                row.total_ns = row.latency.as_ref().map(crate::histogram::Histogram::sum);
            }
        }
        self.complete_unknown();
    }
}

/// For fields that are left out while they are 0.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
pub(crate) fn is_zero(value: &u64) -> bool {
    *value == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
fn is_false(value: &bool) -> bool {
    !value
}
