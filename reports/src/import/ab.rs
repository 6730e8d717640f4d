//! What Apache's `ab` prints: totals, and percentiles in whole milliseconds without their distribution.

use std::collections::BTreeMap;

use super::{
    Parsed, decimal,
    lines::{Lines, Skipped},
};
use crate::{
    bench::{BenchResult, BenchSettings, Mode},
    recording::{Fact, Stated, Unknown},
};

const MS_NS: u64 = 1_000_000;
const SECOND_NS: u64 = 1_000_000_000;

pub(super) fn is_in(lines: &Lines) -> bool {
    lines.any(|line| line.starts_with("This is ApacheBench") || line.starts_with("Time taken for tests:"))
}

/// Lines that say something else than figures of the run.
const KNOWN: [&str; 13] = [
    "This is ApacheBench",
    "Copyright",
    "Licensed to",
    "Benchmarking ",
    "Completed ",
    "Finished ",
    "Server Software",
    "SSL/TLS Protocol",
    "Server Temp Key",
    "TLS server name",
    "Connection Times",
    "Percentage of the requests",
    "min  mean",
];

const NOT_KEPT: [&str; 3] =
    ["bytes transferred and transfer rate", "times of processing and waiting", "deviations of the times"];

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
    fields: BTreeMap<String, String>,
    failed: BTreeMap<String, u64>,
    stated: Vec<Stated>,
    skipped: Skipped,
}

impl Reader {
    /// Whether the line was understood.
    fn line(&mut self, line: &str) -> bool {
        if line.is_empty() || KNOWN.iter().any(|known| line.starts_with(known)) || line.ends_with("(longest request)") {
            return true;
        }
        if self.percentile(line) || self.failures(line) {
            return true;
        }
        let Some((key, value)) = line.split_once(':') else { return false };
        let value = value.trim();
        match key {
            "Connect" => self.connection_times("connect", value),
            // From the begin of connecting, as its percentiles are; they have the median, and the last is the maximum.
            "Total" => self.connection_times("request", value),
            "Server Hostname"
            | "Server Port"
            | "Document Path"
            | "Document Length"
            | "Concurrency Level"
            | "Time taken for tests"
            | "Complete requests"
            | "Failed requests"
            | "Non-2xx responses"
            | "Keep-Alive requests" => {
                self.fields.entry(key.to_owned()).or_insert_with(|| value.to_owned());
                true
            }
            "Write errors"
            | "Total transferred"
            | "HTML transferred"
            | "Total body sent"
            | "Requests per second"
            | "Time per request"
            | "Transfer rate"
            | "Processing"
            | "Waiting" => true,
            // The rest of the transfer rate, for uploads.
            _ => key.ends_with("kb/s sent") || key.ends_with("kb/s total"),
        }
    }

    /// `  99%     22`, of the time from the begin of connecting.
    fn percentile(&mut self, line: &str) -> bool {
        let mut words = line.split_whitespace();
        let percent = words.next().and_then(|word| word.strip_suffix('%'));
        let printed = words.next().and_then(|word| decimal::in_unit(word, MS_NS));
        let (Some(percent), Some(printed), None) = (percent, printed, words.next()) else { return false };
        self.state("request", format!("p{percent}"), printed)
    }

    fn state(&mut self, owner: &str, measure: String, printed: decimal::Printed) -> bool {
        if self.stated.len() >= 32 || measure.len() > 8 {
            return false;
        }
        // The median is printed twice.
        if self.stated.iter().any(|stated| stated.owner == owner && stated.measure == measure) {
            return true;
        }
        self.stated.push(Stated {
            owner: owner.to_owned(),
            measure,
            value_ns: printed.ns,
            resolution_ns: printed.resolution_ns,
        });
        true
    }

    /// Minimum, mean, deviation, median and maximum, in ms.
    fn connection_times(&mut self, owner: &str, value: &str) -> bool {
        let words: Vec<&str> = value.split_whitespace().collect();
        let &[min, mean, _, median, max] = words.as_slice() else { return false };
        let figures = [("min", min), ("mean", mean), ("p50", median), ("max", max)];
        figures.into_iter().all(|(measure, word)| {
            decimal::in_unit(word, MS_NS).is_some_and(|printed| self.state(owner, measure.to_owned(), printed))
        })
    }

    /// `(Connect: 0, Receive: 0, Length: 3, Exceptions: 0)`.
    fn failures(&mut self, line: &str) -> bool {
        let Some(kinds) = line.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) else { return false };
        let pairs: Option<Vec<(String, u64)>> = kinds
            .split(", ")
            .map(|pair| {
                let (kind, count) = pair.split_once(": ")?;
                Some((kind.to_ascii_lowercase(), count.parse().ok()?))
            })
            .collect();
        let Some(pairs) = pairs.filter(|pairs| pairs.len() <= 8) else { return false };
        self.failed.extend(pairs.into_iter().filter(|(_, count)| *count > 0));
        true
    }

    fn number(&self, key: &str) -> Option<u64> {
        self.fields.get(key)?.split_whitespace().next()?.parse().ok()
    }

    fn finish(mut self) -> Result<Parsed, String> {
        let missing = |what: &str| format!("it has no line `{what}`: the run was not finished");
        let complete = self.number("Complete requests").ok_or_else(|| missing("Complete requests"))?;
        let taken = self.fields.get("Time taken for tests").and_then(|value| value.split_whitespace().next());
        let elapsed = taken.and_then(|word| decimal::in_unit(word, SECOND_NS));
        let elapsed_ns = elapsed.ok_or_else(|| missing("Time taken for tests"))?.ns;
        let failed = self.number("Failed requests").unwrap_or(0);
        if self.failed.is_empty() && failed > 0 {
            self.failed.insert("failed".to_owned(), failed);
        }
        let other = self.number("Non-2xx responses").unwrap_or(0);
        if other > 0 {
            self.failed.insert("non-2xx".to_owned(), other);
        }
        let keep_alive = self.fields.contains_key("Keep-Alive requests");
        let narrow = |number: Option<u64>| number.and_then(|number| u32::try_from(number).ok()).unwrap_or(0);
        let host = self.fields.get("Server Hostname").cloned().unwrap_or_default();
        let port = self.fields.get("Server Port").cloned().unwrap_or_default();
        let mode = if keep_alive { Mode::Long } else { Mode::Short };
        let settings = BenchSettings {
            connections: narrow(self.number("Concurrency Level")),
            payload_bytes: narrow(self.number("Document Length")),
            ..BenchSettings::of(format!("{host}:{port}"), mode)
        };
        let result = BenchResult {
            elapsed_ns,
            ok: complete.saturating_sub(failed).saturating_sub(other),
            failed: self.failed,
            ..BenchResult::of(settings)
        };
        let mut unknown = ["distributions: percentiles only, in whole ms, and those of requests include connecting"]
            .map(Unknown::from)
            .to_vec();
        unknown.extend([Fact::Connected, Fact::ClientCpu, Fact::Timeout, Fact::Syscalls].map(Unknown::from));
        let doubted = other > 0 && failed > 0;
        unknown.extend(doubted.then(|| Unknown::from("whether non-2xx replies are among the failed ones")));
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
