//! Result of one run of the load generator: what `bench --json` writes and a recording embeds.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::histogram::Histogram;

/// Version of [`BenchResult`]'s form.
pub const SCHEMA: u32 = 1;

/// How requests use connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Every request opens its own connection and closes it.
    Short,
    /// Connect once, then request after request.
    Long,
}

impl Mode {
    /// The word on the command line and in files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Short => "short",
            Self::Long => "long",
        }
    }
}

/// What was asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BenchSettings {
    /// Server, as `ADDRESS:PORT`.
    pub address: String,
    /// How requests use connections.
    pub mode: Mode,
    /// Connections kept busy at once (closed loop: one request in flight on each).
    pub connections: u32,
    /// Requests of each connection slot, when the run is bounded by count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rounds: Option<u64>,
    /// Length of the run, when it is bounded by time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ns: Option<u64>,
    /// Size of a request, and of its reply.
    pub payload_bytes: u32,
    /// Client threads.
    pub threads: u32,
    /// After this a connect or a request counts as failed.
    pub timeout_ns: u64,
}

/// What was measured. Clock: `CLOCK_MONOTONIC`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BenchResult {
    /// [`SCHEMA`] at the time of writing.
    pub schema: u32,
    /// What was asked for.
    pub settings: BenchSettings,
    /// Ended before it was done (Ctrl-C); the figures are of what was done.
    pub partial: bool,
    /// From the first connect to the last reply.
    pub elapsed_ns: u64,
    /// CPU time that the client itself used, user and system.
    pub client_cpu_ns: u64,
    /// Requests whose reply came whole and right.
    pub ok: u64,
    /// Requests that failed, by kind: `refused`, `reset`, `timeout`, `closed`, `wrong-payload`, ...
    pub failed: BTreeMap<String, u64>,
    /// Connections that were established.
    pub connected: u64,
    /// Start of `connect()` to established, in ns.
    pub connect: Histogram,
    /// First byte sent to last byte of the reply, in ns, of the requests in `ok`.
    pub request: Histogram,
    /// Kernel counters that moved meanwhile in the client's network namespace, such as `TcpExt.ListenOverflows`.
    #[serde(default)]
    pub kernel_counters: BTreeMap<String, i64>,
}

impl BenchResult {
    /// Successful requests per second of elapsed time; `None` when no time passed.
    #[must_use]
    pub fn requests_per_s(&self) -> Option<f64> {
        (self.elapsed_ns > 0).then(|| self.ok as f64 * 1e9 / self.elapsed_ns as f64)
    }

    /// Failed requests of all kinds.
    #[must_use]
    pub fn failures(&self) -> u64 {
        self.failed.values().fold(0, |total, count| total.saturating_add(*count))
    }
}
