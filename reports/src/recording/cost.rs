//! What tracing itself cost: measured beside the run, never guessed.

use serde::{Deserialize, Serialize};

/// Cost of the probes, and the memory they took.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OwnCost {
    /// Added to a call, measured on this machine just before the run; `None` when that could not be done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_call: Option<CallCost>,
    /// Each eBPF program.
    pub programs: Vec<ProgramCost>,
    /// Share of the run in which the kernel timed the programs (`BPF_ENABLE_STATS`), 0 to 1: their counts and times are
    /// taken from that share alone.
    #[serde(deserialize_with = "crate::not_finite::or_nan")]
    pub sampled_share: f64,
    /// CPU time of the tracer's own process during the run, in ns.
    pub tracer_cpu_ns: u64,
    /// Memory of all maps, in bytes.
    pub map_bytes: u64,
}

/// Time that tracing adds to one system call, least of several repeats, in ns.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CallCost {
    /// To a call that is counted.
    #[serde(deserialize_with = "crate::not_finite::or_nan")]
    pub traced_ns: f64,
    /// To a call of any other process.
    #[serde(deserialize_with = "crate::not_finite::or_nan")]
    pub bystander_ns: f64,
    /// Calls timed per repeat.
    pub calls: u64,
    /// Repeats.
    pub repeats: u32,
}

/// One eBPF program, over the sampled share of the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramCost {
    /// Its name.
    pub name: String,
    /// Runs while the kernel timed them.
    pub runs: u64,
    /// Time of these runs, in ns, without the way into the program.
    pub run_time_ns: u64,
    /// Instructions as verified.
    pub verified_instructions: u32,
    /// Machine code, in bytes.
    pub jited_bytes: u32,
}

impl ProgramCost {
    /// Mean time of a run; `None` when none was timed.
    #[must_use]
    pub fn mean_ns(&self) -> Option<f64> {
        (self.runs > 0).then(|| self.run_time_ns as f64 / self.runs as f64)
    }
}
