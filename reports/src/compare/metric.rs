//! What can be compared: names of metrics, their units, and which direction is the better one.

use std::{collections::BTreeMap, fmt};

use serde::{Serialize, Serializer};

use super::{CompareError, Options, grouping::Members};
use crate::printable::printable;

/// What is measured of something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Measure {
    /// Successful requests per second.
    RequestsPerS,
    /// Failed requests as a share of all.
    Failures,
    /// Events that were not counted.
    Lost,
    /// CPU time for each successful request.
    CpuPerRequest,
    /// Successful requests for each connection.
    RequestsPerConnection,
    /// Calls for each successful request.
    CallsPerRequest,
    /// Wall time in the call for each successful request.
    TimePerRequest,
    /// Calls.
    Calls,
    /// Wall time in all calls together.
    Total,
    /// Mean wall time.
    Mean,
    /// Median wall time.
    P50,
    /// 90th percentile.
    P90,
    /// 99th percentile.
    P99,
    /// 99.9th percentile.
    P999,
}

/// How a metric's values are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Nanoseconds.
    Ns,
    /// Things per second.
    PerS,
    /// A plain number.
    Number,
    /// A share of 1.
    Share,
}

/// Which direction is an improvement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Better {
    /// More of it.
    Higher,
    /// Less of it.
    Lower,
    /// Neither: it tells how idle somebody was, or how the load was made.
    Neither,
}

impl Measure {
    /// All, with the words that name them.
    pub const NAMES: [(Self, &'static str); 14] = [
        (Self::RequestsPerS, "requests_per_s"),
        (Self::Failures, "failures"),
        (Self::Lost, "lost"),
        (Self::CpuPerRequest, "cpu_per_request"),
        (Self::RequestsPerConnection, "requests_per_connection"),
        (Self::CallsPerRequest, "calls_per_request"),
        (Self::TimePerRequest, "time_per_request"),
        (Self::Calls, "calls"),
        (Self::Total, "total"),
        (Self::Mean, "mean"),
        (Self::P50, "p50"),
        (Self::P90, "p90"),
        (Self::P99, "p99"),
        (Self::P999, "p99.9"),
    ];
    /// Quantiles with their measures.
    pub const QUANTILES: [(Self, f64); 4] =
        [(Self::P50, 0.5), (Self::P90, 0.9), (Self::P99, 0.99), (Self::P999, 0.999)];

    /// Its word in a metric's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(measure, _)| *measure == self).map_or("", |(_, name)| name)
    }

    /// How its values are written.
    #[must_use]
    pub fn unit(self) -> Unit {
        match self {
            Self::RequestsPerS => Unit::PerS,
            Self::Failures => Unit::Share,
            Self::Lost | Self::RequestsPerConnection | Self::CallsPerRequest | Self::Calls => Unit::Number,
            _ => Unit::Ns,
        }
    }
}

/// One figure that every run may have: a measure of the load, of a latency, of a group, or of a group's system call.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Metric {
    /// Whose: empty for the load, `connect`, `server`, `server.close`.
    pub owner: String,
    /// What of it.
    pub measure: Measure,
}

impl Metric {
    /// That measure of that owner.
    #[must_use]
    pub fn new(owner: &str, measure: Measure) -> Self {
        Self { owner: owner.to_owned(), measure }
    }

    /// Of a group's system call, not of the load or of a group.
    #[must_use]
    pub fn is_of_a_call(&self) -> bool {
        self.owner.contains('.')
    }

    /// The direction in which it improves; `waits` for a call that waits by design.
    #[must_use]
    pub fn better(&self, waits: bool) -> Better {
        match self.measure {
            Measure::RequestsPerS => Better::Higher,
            Measure::RequestsPerConnection => Better::Neither,
            Measure::CallsPerRequest | Measure::Calls => Better::Lower,
            _ if waits => Better::Neither,
            _ => Better::Lower,
        }
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let dot = if self.owner.is_empty() { "" } else { "." };
        write!(f, "{}{dot}{}", self.owner, self.measure.name())
    }
}

impl Serialize for Metric {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Which metrics are looked at.
pub(super) struct Wanted {
    patterns: Vec<String>,
    all: bool,
    /// Owners whose calls are frequent or long enough to matter.
    weighty: BTreeMap<String, bool>,
    /// Every run tells how many requests there were: calls and times are then compared for each request only.
    requests_known: bool,
}

/// A call matters from this share of its group's time or calls on, in either group.
const WEIGHTY: f64 = 0.01;

impl Wanted {
    pub(super) fn new(options: &Options, groups: &[Members]) -> Result<Self, CompareError> {
        let names: Vec<String> = names(groups);
        for pattern in &options.metrics {
            if !names.iter().any(|name| matches(pattern, name)) {
                return Err(no_such(pattern, &names));
            }
        }
        let mut weighty = BTreeMap::new();
        for run in groups.iter().flat_map(|group| &group.runs) {
            for (owner, share) in run.figures.weights() {
                *weighty.entry(owner.to_owned()).or_insert(false) |= share >= WEIGHTY;
            }
        }
        let requests_known = groups.iter().flat_map(|group| &group.runs).all(|run| run.figures.requests.is_some());
        Ok(Self { patterns: options.metrics.clone(), all: options.all, weighty, requests_known })
    }

    /// Whether a verdict is wanted; `waits` for a call that waits by design.
    pub(super) fn looks_at(&self, metric: &Metric, waits: bool) -> bool {
        if !self.patterns.is_empty() {
            let name = metric.to_string();
            return self.patterns.iter().any(|pattern| matches(pattern, &name));
        }
        if self.all {
            return true;
        }
        let usual = match metric.measure {
            Measure::RequestsPerConnection | Measure::P90 => false,
            Measure::P999 => metric.owner == "request",
            Measure::Mean => !metric.is_of_a_call() || !self.requests_known && !waits,
            Measure::Calls => !self.requests_known,
            Measure::Total => !self.requests_known && !waits,
            Measure::CallsPerRequest => true,
            _ => !waits,
        };
        usual && (!metric.is_of_a_call() || self.weighty.get(&metric.owner).copied().unwrap_or(false))
    }
}

/// Names of all metrics that any run has.
pub(super) fn names(groups: &[Members]) -> Vec<String> {
    let metrics = groups.iter().flat_map(|group| &group.runs).flat_map(|run| run.figures.metrics());
    let distinct: std::collections::BTreeSet<String> = metrics.map(ToString::to_string).collect();
    distinct.into_iter().collect()
}

/// The error that names the closest ones.
pub(super) fn no_such(name: &str, names: &[String]) -> CompareError {
    const SHOWN: usize = 6;
    let parts: Vec<&str> = name.split('.').collect();
    let alike = |candidate: &str| candidate.split('.').filter(|part| parts.contains(part)).count();
    let mut ranked: Vec<&String> = names.iter().collect();
    ranked.sort_by_key(|candidate| (std::cmp::Reverse(alike(candidate)), candidate.len().abs_diff(name.len())));
    let similar = ranked.into_iter().take(SHOWN).map(|name| printable(name)).collect();
    CompareError::NoSuchMetric { name: printable(name), similar }
}

/// Whether `name` is of the form of `pattern`, in which `*` stands for anything.
pub(super) fn matches(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = name.strip_prefix(parts.next().unwrap_or("")) else { return false };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_whole_names() {
        for (pattern, name, expected) in [
            ("server.close.p99", "server.close.p99", true),
            ("server.close.p99", "server.close.p99.9", false),
            ("server.*", "server.close.p99", true),
            ("*.p99", "server.close.p99", true),
            ("server.*.p99", "server.close.p99", true),
            ("server.*.p99", "client.close.p99", false),
            ("*close*", "server.close.p99", true),
            ("*", "", true),
            ("a*a", "a", false),
            ("", "", true),
        ] {
            assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn a_metric_is_named_by_owner_and_measure() {
        assert_eq!(Metric::new("", Measure::RequestsPerS).to_string(), "requests_per_s");
        assert_eq!(Metric::new("server.close", Measure::P999).to_string(), "server.close.p99.9");
    }
}
