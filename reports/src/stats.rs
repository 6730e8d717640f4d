//! Figures derived from a recording that more than one renderer shows. Nothing here is stored.
//!
//! Does not format: units and layout belong to `units` and the renderers.

use std::path::PathBuf;

use crate::{
    bench::{BenchResult, BenchSettings, Mode},
    histogram::Histogram,
    recording::{Group, Recording, Syscall, Tcp},
};

/// A group's system calls that returned at least once, by falling total time.
pub struct ByTime<'a> {
    /// Calls that do work: their time is cost.
    pub working: Vec<&'a Syscall>,
    /// Calls that wait by design: their time is idleness.
    pub waiting: Vec<&'a Syscall>,
}

impl<'a> ByTime<'a> {
    /// Sorts the calls of `group`.
    #[must_use]
    pub fn of(group: &'a Group) -> Self {
        let mut seen: Vec<&Syscall> = group.syscalls.iter().filter(|row| row.calls > 0).collect();
        seen.sort_by(|a, b| b.time_ns().cmp(&a.time_ns()).then_with(|| a.name.cmp(&b.name)));
        let (waiting, working) = seen.into_iter().partition(|row| row.waits_by_design());
        Self { working, waiting }
    }

    /// Wall time of all working calls, in ns.
    #[must_use]
    pub fn working_ns(&self) -> u64 {
        self.working.iter().fold(0, |total, row| total.saturating_add(row.time_ns()))
    }

    /// Number of all calls, waiting ones included.
    #[must_use]
    pub fn calls(&self) -> u64 {
        self.working.iter().chain(&self.waiting).fold(0, |total, row| total.saturating_add(row.calls))
    }
}

/// Sockets that went into `TIME_WAIT`, seen from both sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeWait {
    /// `FIN_WAIT2` or `CLOSING` to `CLOSE` by the probe; `None` when it is off. Not proof: orphans in
    /// `FIN_WAIT2`, data after close and bucket overflow look the same.
    pub candidates: Option<u64>,
    /// Counted by the kernel when each was made: TW, and TWKilled for those of less than 4 s
    /// (v6.18 `__inet_twsk_schedule`).
    pub confirmed: i64,
    /// Not made because there were `tcp_max_tw_buckets` of them.
    pub skipped: i64,
}

impl TimeWait {
    /// Candidates beyond what the kernel confirms or says it skipped.
    #[must_use]
    pub fn unexplained(&self) -> Option<i64> {
        let candidates = i64::try_from(self.candidates?).unwrap_or(i64::MAX);
        Some(candidates.saturating_sub(self.confirmed).saturating_sub(self.skipped))
    }
}

impl Tcp {
    /// Connections that ended, each end for itself; `None` when the probe is off.
    #[must_use]
    pub fn closed(&self) -> Option<u64> {
        // LISTEN and SYN_SENT never were connections.
        let ended = |from: &str| !matches!(from, "LISTEN" | "SYN_SENT");
        let closings = self.transitions.as_ref()?.iter().filter(|change| change.to == "CLOSE" && ended(&change.from));
        Some(closings.fold(0, |total, change| change.count.saturating_add(total)))
    }

    /// Sockets that went into `TIME_WAIT`.
    #[must_use]
    pub fn time_wait_created(&self) -> TimeWait {
        let into_close = |from| self.transition(from, "CLOSE");
        TimeWait {
            candidates: self
                .transitions
                .as_ref()
                .map(|_| into_close("FIN_WAIT2").saturating_add(into_close("CLOSING"))),
            confirmed: self.counter("TcpExt.TW").saturating_add(self.counter("TcpExt.TWKilled")),
            skipped: self.counter("TcpExt.TCPTimeWaitOverflow"),
        }
    }
}

/// The server's calls beside the requests that they served.
#[derive(Clone, Debug)]
pub struct PerRequest {
    /// Successful requests.
    pub ok: u64,
    /// Calls by name, most first.
    pub calls: Vec<(String, u64)>,
}

impl PerRequest {
    /// `None` without a server that made calls, or without successful requests.
    #[must_use]
    pub fn of(recording: &Recording) -> Option<Self> {
        let ok = recording.bench.iter().fold(0u64, |sum, result| sum.saturating_add(result.ok));
        let rows = &recording.group("server")?.syscalls;
        let mut calls: Vec<_> =
            rows.iter().filter(|row| row.calls > 0).map(|row| (row.name.clone(), row.calls)).collect();
        calls.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        (ok > 0 && !calls.is_empty()).then_some(Self { ok, calls })
    }

    /// That many calls for each request.
    #[must_use]
    pub fn ratio(&self, calls: u64) -> f64 {
        calls as f64 / self.ok as f64
    }

    /// Calls of all names.
    #[must_use]
    pub fn all(&self) -> u64 {
        self.calls.iter().fold(0, |sum, (_, calls)| sum.saturating_add(*calls))
    }
}

/// One run in a row of a comparison: small, so that thousands of runs can be held.
#[derive(Clone, Debug)]
pub struct RunFigures {
    /// The recording.
    pub path: PathBuf,
    /// Name of the run's folder.
    pub name: String,
    /// How requests used connections; `None` without load results or when they differ.
    pub mode: Option<Mode>,
    /// Successful requests per second of elapsed time.
    pub requests_per_s: Option<f64>,
    /// Successful requests.
    pub ok: Option<u64>,
    /// Failed requests.
    pub failed: Option<u64>,
    /// Median and 99th percentile of connecting, in ns.
    pub connect_ns: [Option<u64>; 2],
    /// Median and 99th percentile of a request, in ns.
    pub request_ns: [Option<u64>; 2],
    /// System calls of the server, or of the client where there is no server.
    /// `None` without both.
    pub calls: Option<u64>,
    /// Wall time of those that do not wait by design, in ns; `None` where another tool told none.
    pub working_ns: Option<u64>,
    /// Wall time of the server's working system calls for each successful request, in ns.
    pub server_ns_per_request: Option<f64>,
    /// The server's system calls for each successful request, waiting ones included.
    pub server_calls_per_request: Option<f64>,
    /// The same by system call; `None` without a server or without successful requests.
    pub per_request: Option<PerRequest>,
    /// The server's program; empty without a server.
    pub server: String,
    /// What was asked of the load; `None` without load results or when there are several.
    pub settings: Option<BenchSettings>,
    /// What was not counted, in all groups; `None` where that is not known.
    pub lost: Option<u64>,
    /// The run came to its planned end.
    pub complete: bool,
    /// A load generator ended early: its figures are of what it did.
    pub partial_load: bool,
    /// `uname -r`.
    pub kernel: String,
}

impl RunFigures {
    /// Whether the run can be used, in a word or two.
    #[must_use]
    pub fn state(&self) -> &'static str {
        match () {
            () if !self.complete => "NO",
            () if self.partial_load => "load cut",
            () if self.ok == Some(0) => "no reply",
            () => "yes",
        }
    }

    /// Takes the figures from a recording.
    #[must_use]
    pub fn of(path: PathBuf, name: String, recording: &Recording) -> Self {
        let bench = &recording.bench;
        let total = |field: fn(&BenchResult) -> u64| {
            (!bench.is_empty()).then(|| bench.iter().fold(0u64, |sum, result| sum.saturating_add(field(result))))
        };
        let ok = total(|result| result.ok);
        let elapsed_ns = total(|result| result.elapsed_ns).filter(|&elapsed_ns| elapsed_ns > 0);
        let server = recording.group("server").map(ByTime::of);
        let either = server.as_ref().map(|calls| (calls.calls(), calls.working_ns()));
        let client = || recording.group("client").map(ByTime::of).map(|calls| (calls.calls(), calls.working_ns()));
        let (calls, working_ns) = either.or_else(client).unzip();
        let timed = recording.groups.iter().flat_map(|group| &group.syscalls).any(|row| row.total_ns.is_some());
        let untimed = recording.origin.is_some() && !timed;
        let per_request = |figure: Option<u64>| Some(figure? as f64 / ok.filter(|&ok| ok > 0)? as f64);
        Self {
            path,
            name,
            mode: bench
                .first()
                .map(|first| first.settings.mode)
                .filter(|&mode| bench.iter().all(|b| b.settings.mode == mode)),
            requests_per_s: ok.zip(elapsed_ns).map(|(ok, elapsed_ns)| ok as f64 * 1e9 / elapsed_ns as f64),
            ok,
            failed: total(BenchResult::failures),
            connect_ns: median_and_p99(bench.iter().map(|result| &result.connect)),
            request_ns: median_and_p99(bench.iter().map(|result| &result.request)),
            calls,
            working_ns: working_ns.filter(|_| !untimed),
            server_ns_per_request: per_request(server.as_ref().map(ByTime::working_ns)),
            server_calls_per_request: per_request(server.as_ref().map(ByTime::calls)),
            per_request: PerRequest::of(recording),
            server: recording.group("server").map(|group| group.label.clone()).unwrap_or_default(),
            settings: if let [one] = bench.as_slice() { Some(one.settings.clone()) } else { None },
            lost: recording.lost(),
            complete: recording.complete,
            partial_load: bench.iter().any(|result| result.partial),
            kernel: recording.host.kernel.clone(),
        }
    }
}

/// Of all values together; nothing when the histograms cannot be merged.
fn median_and_p99<'a>(mut histograms: impl Iterator<Item = &'a Histogram>) -> [Option<u64>; 2] {
    let Some(mut all) = histograms.next().cloned() else { return [None, None] };
    for histogram in histograms {
        if !all.same_layout(histogram) {
            return [None, None];
        }
        all.merge(histogram);
    }
    [all.quantile(0.5), all.quantile(0.99)]
}
