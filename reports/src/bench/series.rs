//! Several runs that belong together: repeats of the same, or one for each step of a sweep.

use serde::{Deserialize, Serialize};

use super::BenchResult;
use crate::histogram::Histogram;

/// What differs between the steps of a sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SweepOver {
    /// Connections at once.
    Connections,
    /// Requests due each second.
    Rate,
}

impl SweepOver {
    /// The word on the command line and in files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Connections => "connections",
            Self::Rate => "rate",
        }
    }

    /// What a run was asked for in this respect.
    #[must_use]
    pub fn value(self, result: &BenchResult) -> u64 {
        match self {
            Self::Connections => u64::from(result.settings.connections),
            Self::Rate => result.settings.rate_per_s.unwrap_or(0),
        }
    }
}

/// What was swept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sweep {
    /// What differs.
    pub over: SweepOver,
    /// The steps that were asked for, in order.
    pub steps: Vec<u64>,
    /// Why later steps were not run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped_because: Option<String>,
}

/// What `bench --json` writes for more than one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BenchSeries {
    /// [`super::SCHEMA`] at the time of writing.
    pub schema: u32,
    /// Runs of each step.
    pub repeat: u32,
    /// What was swept, unless all runs are the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sweep: Option<Sweep>,
    /// Ended before all runs were made (Ctrl-C).
    #[serde(default)]
    pub partial: bool,
    /// In the order in which they were made: every step once, then every step again.
    pub runs: Vec<BenchResult>,
}

impl BenchSeries {
    /// Latencies of all runs together; see [`BenchResult::latency`].
    #[must_use]
    pub fn latency(&self) -> Option<Histogram> {
        let mut latencies = self.runs.iter().map(BenchResult::latency);
        let mut all = latencies.next()?;
        latencies.for_each(|latency| all.merge(&latency));
        Some(all)
    }

    /// Runs of the same step together, in the order of the steps.
    #[must_use]
    pub fn by_step(&self) -> Vec<Vec<&BenchResult>> {
        let Some(sweep) = &self.sweep else { return vec![self.runs.iter().collect()] };
        let of = |&step: &u64| self.runs.iter().filter(|run| sweep.over.value(run) == step).collect::<Vec<_>>();
        sweep.steps.iter().map(of).filter(|runs| !runs.is_empty()).collect()
    }
}
