//! Result of `bench --hold`: connections that were opened and kept, nothing sent.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::histogram::Histogram;

/// Version of [`HoldResult`]'s form.
pub const SCHEMA: u32 = 1;

/// What was asked for, and how it was split.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HoldSettings {
    /// Server, as `ADDRESS:PORT`; absent where processes of the run accepted, one for each that connected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// Connections asked for.
    pub connections: u32,
    /// Processes that connected.
    pub processes: u32,
    /// Local addresses that were used; 0: the kernel's choice.
    pub sources: u32,
    /// After this a connect counts as failed.
    pub timeout_ns: u64,
}

/// The first connection that could not be had.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FirstFailure {
    /// As in [`HoldResult::failed`].
    pub kind: String,
    /// The system's words.
    pub error: String,
    /// Connections that its process had opened before.
    pub opened_before: u64,
    /// When, by `CLOCK_MONOTONIC`.
    pub at_ns: u64,
}

/// What memory changed by while connections were opened; the machine's figures contain what others did meanwhile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HoldMemory {
    /// `Slab` of `/proc/meminfo`: the kernel's objects, on loopback those of both ends.
    pub slab_bytes: i64,
    /// `sockstat` mem: data in TCP's queues.
    pub tcp_bytes: i64,
    /// Anonymous memory of the processes that connect.
    pub client_bytes: i64,
    /// The same of those that accept, where they belong to the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sink_bytes: Option<i64>,
    /// What `MemAvailable` went down by: all of the above, tables of descriptors, and whatever else.
    pub used_bytes: i64,
}

/// What was measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HoldResult {
    /// [`SCHEMA`] at the time of writing.
    pub schema: u32,
    /// What was asked for.
    pub settings: HoldSettings,
    /// Opening ended before it was done.
    pub partial: bool,
    /// Why it did, unless connections failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped_because: Option<String>,
    /// Connections that were open at once.
    pub opened: u64,
    /// Connections that could not be had, by kind; what was not tried after them is in neither figure.
    pub failed: BTreeMap<String, u64>,
    /// The first of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_failure: Option<FirstFailure>,
    /// From the first connect to the last connection established.
    pub elapsed_ns: u64,
    /// Start of `connect()` to established, in ns.
    pub connect: Histogram,
    /// Memory, before and after opening.
    pub memory: HoldMemory,
    /// Kernel counters that moved while opening, in the network namespace.
    #[serde(default)]
    pub kernel_counters: BTreeMap<String, i64>,
    /// How long they were kept.
    pub held_ns: u64,
    /// Connections that ended while they were kept.
    pub lost: u64,
}

impl HoldResult {
    /// Connections opened per second; `None` when no time passed.
    #[must_use]
    pub fn opened_per_s(&self) -> Option<f64> {
        (self.elapsed_ns > 0).then(|| self.opened as f64 * 1e9 / self.elapsed_ns as f64)
    }

    /// Connections asked for that were neither opened nor failed.
    #[must_use]
    pub fn not_tried(&self) -> u64 {
        let failed = self.failed.values().fold(0, |total: u64, count| total.saturating_add(*count));
        u64::from(self.settings.connections).saturating_sub(self.opened).saturating_sub(failed)
    }
}
