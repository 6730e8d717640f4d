//! System calls over time: what was counted in each interval of a run.

use serde::{Deserialize, Serialize};

use super::{Abi, is_zero};

/// Layout of the histograms of a series: four buckets per power of two, enough for a heat map.
pub const SERIES_SUB_BITS: u8 = 2;

/// A run cut into intervals of equal length; the last may be shorter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Series {
    /// Length of an interval, in ns.
    pub interval_ns: u64,
    /// Number of intervals.
    pub intervals: u32,
    /// One per group that was traced.
    pub groups: Vec<GroupSeries>,
}

/// One group's calls over time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupSeries {
    /// `server` or `client`.
    pub name: String,
    /// One per system call that was seen.
    pub syscalls: Vec<SyscallSeries>,
}

/// One system call over time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SyscallSeries {
    /// Kernel's name.
    pub name: String,
    /// How it was called.
    #[serde(default, skip_serializing_if = "Abi::is_native")]
    pub abi: Abi,
    /// Intervals in which it returned, in order.
    pub points: Vec<SeriesPoint>,
}

/// One system call in one interval, by the moment of its return.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeriesPoint {
    /// Number of the interval, from 0.
    pub interval: u32,
    /// Calls that returned.
    pub calls: u64,
    /// Those of them that failed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub errors: u64,
    /// Their summed latency, in ns.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub total_ns: u64,
    /// Their latency: bucket in the layout of [`SERIES_SUB_BITS`] (`probes::bucket::bounds`), and how many.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub buckets: Vec<(u32, u64)>,
}
