//! What `wrk` prints: totals, mean, and with `--latency` four percentiles without their distribution.

use std::collections::BTreeMap;

use super::{
    Parsed, decimal,
    lines::{Lines, Skipped},
};
use crate::{
    bench::{BenchResult, BenchSettings, Mode},
    recording::{Fact, Stated, Unknown},
};

pub(super) fn is_in(lines: &Lines) -> bool {
    lines.any(|line| running(line.trim()).is_some())
}

const NOT_KEPT: [&str; 3] =
    ["bytes read and transfer rate", "requests per second by thread (Req/Sec)", "deviations of the latency"];

pub(super) fn parse(lines: &Lines) -> Result<Parsed, String> {
    let mut reader = Reader::default();
    for (number, line) in lines.numbered() {
        if !reader.line(line.trim()) {
            reader.skipped.outside(number, line);
        }
    }
    reader.finish()
}

#[derive(Default)]
struct Reader {
    duration_ns: u64,
    address: String,
    threads: u32,
    connections: u32,
    /// Requests and the time they took.
    done: Option<(u64, u64)>,
    failed: BTreeMap<String, u64>,
    stated: Vec<Stated>,
    skipped: Skipped,
}

/// `Running 30s test @ http://127.0.0.1:8080/`.
fn running(line: &str) -> Option<(u64, String)> {
    let (duration, url) = line.strip_prefix("Running ")?.split_once(" test @ ")?;
    Some((decimal::with_unit(duration)?.ns, address(url)))
}

/// Host and port of a URL.
fn address(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or(("http", url));
    let host: String = rest.split('/').next().unwrap_or_default().chars().take(256).collect();
    let has_port = host.rsplit_once(':').is_some_and(|(_, port)| port.bytes().all(|byte| byte.is_ascii_digit()));
    let port = if scheme == "https" { 443 } else { 80 };
    if has_port { host } else { format!("{host}:{port}") }
}

impl Reader {
    /// Whether the line was understood.
    fn line(&mut self, line: &str) -> bool {
        const KNOWN: [&str; 4] = ["Thread Stats", "Req/Sec", "Latency Distribution", "Transfer/sec:"];
        if line.is_empty() || line.starts_with("Requests/sec:") || KNOWN.iter().any(|known| line.starts_with(known)) {
            return true;
        }
        if let Some((duration_ns, address)) = running(line) {
            (self.duration_ns, self.address) = (duration_ns, address);
            return true;
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            [threads, "threads", "and", connections, "connections"] => self.size(threads, connections),
            ["Latency", mean, _, max, ..] => self.state("mean".to_owned(), mean) && self.state("max".to_owned(), max),
            [percent, time] if percent.ends_with('%') => {
                let number = percent.trim_end_matches('%').trim_end_matches(".000");
                self.state(format!("p{number}"), time)
            }
            [requests, "requests", "in", time, ..] => self.done(requests, time.trim_end_matches(',')),
            ["Socket", "errors:", ..] => self.socket_errors(line),
            ["Non-2xx", "or", "3xx", "responses:", count] => self.fail("non-2xx", count),
            _ => false,
        }
    }

    fn size(&mut self, threads: &str, connections: &str) -> bool {
        let (Ok(threads), Ok(connections)) = (threads.parse(), connections.parse()) else { return false };
        (self.threads, self.connections) = (threads, connections);
        true
    }

    fn state(&mut self, measure: String, time: &str) -> bool {
        let Some(printed) = decimal::with_unit(time) else { return false };
        if self.stated.len() >= 32 || measure.len() > 8 {
            return false;
        }
        self.stated.push(Stated {
            owner: "request".to_owned(),
            measure,
            value_ns: printed.ns,
            resolution_ns: printed.resolution_ns,
        });
        true
    }

    fn done(&mut self, requests: &str, time: &str) -> bool {
        let (Ok(requests), Some(time)) = (requests.parse(), decimal::with_unit(time)) else { return false };
        self.done = Some((requests, time.ns));
        true
    }

    /// `Socket errors: connect 0, read 49, write 0, timeout 4`.
    fn socket_errors(&mut self, line: &str) -> bool {
        let kinds = line.split_once(": ").map_or("", |(_, kinds)| kinds);
        kinds.split(", ").take(8).all(|pair| pair.split_once(' ').is_some_and(|(kind, count)| self.fail(kind, count)))
    }

    fn fail(&mut self, kind: &str, count: &str) -> bool {
        let Ok(count) = count.parse::<u64>() else { return false };
        if count > 0 && kind.len() <= 32 {
            self.failed.insert(kind.to_owned(), count);
        }
        true
    }

    fn finish(self) -> Result<Parsed, String> {
        let (requests, elapsed_ns) =
            self.done.ok_or("it has no line `N requests in TIME`: the run was not finished")?;
        let other = self.failed.get("non-2xx").copied().unwrap_or(0);
        let settings = BenchSettings {
            connections: self.connections,
            duration_ns: (self.duration_ns > 0).then_some(self.duration_ns),
            threads: self.threads,
            ..BenchSettings::of(self.address, Mode::Long)
        };
        let result = BenchResult {
            elapsed_ns,
            ok: requests.saturating_sub(other),
            failed: self.failed,
            ..BenchResult::of(settings)
        };
        let unknown = [
            "distributions: a mean, and with --latency four percentiles",
            "mode: taken as long, because wrk keeps connections unless the server or a header ends them",
        ]
        .map(Unknown::from);
        let facts = [Fact::Connected, Fact::Sizes, Fact::ClientCpu, Fact::Timeout, Fact::Syscalls];
        let unknown = unknown.into_iter().chain(facts.map(Unknown::from)).collect();
        Ok(Parsed {
            bench: vec![result],
            stated: self.stated,
            not_kept: NOT_KEPT.map(str::to_owned).to_vec(),
            unknown,
            duration_ns: elapsed_ns,
            skipped: self.skipped,
            ..Parsed::default()
        })
    }
}
