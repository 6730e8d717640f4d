//! What one run measured.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{BenchSettings, Finding, Mode};
use crate::histogram::{FINE, Histogram};

/// Version of the form of [`BenchResult`] and [`super::BenchSeries`]. Fields that schema 1 did not have are optional.
pub const SCHEMA: u32 = 2;

/// The whole machine during a run, and its TCP sockets at the end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// CPUs online.
    pub cpus: u32,
    /// CPU time in user space, all CPUs together.
    pub user_ns: u64,
    /// CPU time in the kernel, interrupts not included.
    pub system_ns: u64,
    /// CPU time in interrupts and softirqs.
    pub softirq_ns: u64,
    /// Time of idle CPUs.
    pub idle_ns: u64,
    /// Time that the hypervisor gave to others.
    pub steal_ns: u64,
    /// Load average over the last minute.
    #[serde(deserialize_with = "crate::not_finite::or_nan")]
    pub load_1m: f64,
    /// TCP sockets in use (`sockstat` inuse) in the client's network namespace.
    pub tcp_in_use: u64,
    /// TCP sockets in `TIME_WAIT` there.
    pub time_wait: u64,
}

impl Machine {
    /// Shares of all CPUs' time in user space, in the kernel, and in interrupts.
    #[must_use]
    pub fn shares(&self) -> Option<[f64; 3]> {
        let all = [self.user_ns, self.system_ns, self.softirq_ns, self.idle_ns, self.steal_ns];
        let all = all.into_iter().fold(0, u64::saturating_add);
        (all > 0).then(|| [self.user_ns, self.system_ns, self.softirq_ns].map(|part| part as f64 / all as f64))
    }
}

/// What was measured. Clock: `CLOCK_MONOTONIC`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BenchResult {
    /// [`SCHEMA`] at the time of writing.
    pub schema: u32,
    /// What was asked for.
    pub settings: BenchSettings,
    /// Ended before it was done (Ctrl-C); the figures are of what was done.
    pub partial: bool,
    /// From the beginning (of what was counted, after the warm-up) to the end of the last request.
    pub elapsed_ns: u64,
    /// CPU time that the client itself used, user and system.
    pub client_cpu_ns: u64,
    /// Requests whose reply came whole and right.
    pub ok: u64,
    /// Requests that failed, by kind: `refused`, `reset`, `timeout`, `closed`, `wrong-payload`, ...
    pub failed: BTreeMap<String, u64>,
    /// Replies of a web server by status code; those from 400 on are failures of kind `bad-status` too.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub statuses: BTreeMap<u16, u64>,
    /// Connections that were established.
    pub connected: u64,
    /// Start of `connect()` to established, in ns.
    pub connect: Histogram,
    /// First byte sent to first byte of the reply, in ns, of every request that had one.
    #[serde(default = "none")]
    pub first_byte: Histogram,
    /// Latency of the requests in `ok`, in ns. Closed loop: first byte sent to last byte of the reply (in mode `connect`,
    /// start of `connect()` to established). Open loop: from when the request was due.
    pub request: Histogram,
    /// Time, in ns, that each failed request had waited when it was given up: its latency is at least that.
    #[serde(default = "none")]
    pub censored: Histogram,
    /// Connections that replaced one that had failed.
    #[serde(default)]
    pub reconnects: u64,
    /// Connections that the server did not close within the timeout, where it was to.
    #[serde(default)]
    pub unclosed: u64,
    /// Longest time in which requests waited and none was answered.
    #[serde(default)]
    pub stall_ns: u64,
    /// Longest time for which the client's own loop did not run.
    #[serde(default)]
    pub client_gap_ns: u64,
    /// The machine meanwhile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<Machine>,
    /// Kernel counters that moved meanwhile in the client's network namespace, such as `TcpExt.ListenOverflows`.
    #[serde(default)]
    pub kernel_counters: BTreeMap<String, i64>,
    /// What the run found out about its own figures.
    #[serde(default)]
    pub findings: Vec<Finding>,
}

fn none() -> Histogram {
    Histogram::new(FINE)
}

impl BenchResult {
    /// Of a run in which nothing was measured yet.
    #[must_use]
    pub fn of(settings: BenchSettings) -> Self {
        Self {
            schema: SCHEMA,
            settings,
            partial: false,
            elapsed_ns: 0,
            client_cpu_ns: 0,
            ok: 0,
            failed: BTreeMap::new(),
            statuses: BTreeMap::new(),
            connected: 0,
            connect: none(),
            first_byte: none(),
            request: none(),
            censored: none(),
            reconnects: 0,
            unclosed: 0,
            stall_ns: 0,
            client_gap_ns: 0,
            machine: None,
            kernel_counters: BTreeMap::new(),
            findings: Vec::new(),
        }
    }

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

    /// `request` and `censored` together: quantiles of it are lower bounds, but no failure makes them smaller.
    #[must_use]
    pub fn latency(&self) -> Histogram {
        let mut all = self.request.clone();
        if all.same_layout(&self.censored) {
            all.merge(&self.censored);
        }
        all
    }

    /// A quantile of the latency that no failure makes smaller: of the answered requests, or of all with failed ones at
    /// the time they had waited, whichever is more.
    #[must_use]
    pub fn latency_quantile(&self, q: f64) -> Option<u64> {
        self.request.quantile(q).max(self.latency().quantile(q))
    }

    /// The longest that a request took, or had waited when it failed.
    #[must_use]
    pub fn latency_max(&self) -> Option<u64> {
        self.request.max().max(self.censored.max())
    }

    /// CPU time of the client per client thread and elapsed time, in 0..=1 or a little above.
    #[must_use]
    pub fn client_cpu_share(&self) -> f64 {
        let threads = f64::from(self.settings.threads.max(1));
        self.client_cpu_ns as f64 / (self.elapsed_ns as f64).max(1.0) / threads
    }

    /// Whether requests open connections of their own, so that connecting is part of what is measured.
    #[must_use]
    pub fn reconnects_by_design(&self) -> bool {
        self.settings.mode != Mode::Long
    }
}
