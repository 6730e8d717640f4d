//! `--alert`: a comparison that ends the watch when it comes true. Pure.

use std::{fmt, str::FromStr};

use super::round::{NetnsRound, Round, Row};

/// What is compared: figures of a listener, or of a namespace.
#[derive(Clone, Copy, Debug)]
enum Metric {
    Listener(&'static str, Needs, Unit, fn(&Row) -> Option<f64>),
    Netns(&'static str, Needs, fn(&NetnsRound) -> Option<f64>),
}

/// Without what a metric is never told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Needs {
    Nothing,
    /// More than one look.
    Counts,
    Probes,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    None,
    /// 0..1, or with `%`.
    Share,
    /// Nanoseconds, written with a unit.
    Time,
}

const METRICS: [Metric; 11] = [
    Metric::Listener("drops", Needs::Counts, Unit::None, |row| Some(row.drops as f64)),
    Metric::Listener("drops_per_s", Needs::Counts, Unit::None, |row| Some(row.drops_per_s)),
    Metric::Listener("drops_ever", Needs::Nothing, Unit::None, |row| Some(f64::from(row.drops_ever))),
    Metric::Listener("queue", Needs::Nothing, Unit::None, |row| Some(f64::from(row.queue))),
    Metric::Listener("high", Needs::Nothing, Unit::None, |row| Some(f64::from(row.high))),
    Metric::Listener("fill", Needs::Nothing, Unit::Share, |row| Some(row.fill)),
    Metric::Listener("wait_p50", Needs::Probes, Unit::Time, |row| row.accept_wait?.recent.p50_ns.map(|ns| ns as f64)),
    Metric::Listener("wait_p99", Needs::Probes, Unit::Time, |row| row.accept_wait?.recent.p99_ns.map(|ns| ns as f64)),
    Metric::Netns("syn_retransmits", Needs::Counts, |netns| Some(netns.host.handshake_retransmits.since_start as f64)),
    Metric::Netns("time_wait", Needs::Nothing, |netns| Some(netns.host.time_wait as f64)),
    Metric::Netns("orphans", Needs::Nothing, |netns| Some(netns.host.orphans as f64)),
];

type Compare = fn(&f64, &f64) -> bool;

/// Longer ones first: `>=` begins with `>`.
const OPERATORS: [(&str, Compare); 6] = [
    (">=", |a, b| a >= b),
    ("<=", |a, b| a <= b),
    ("==", |a, b| (a - b).abs() < f64::EPSILON),
    ("!=", |a, b| (a - b).abs() >= f64::EPSILON),
    (">", |a, b| a > b),
    ("<", |a, b| a < b),
];

/// One comparison, as typed.
#[derive(Clone, Debug)]
pub(crate) struct Alert {
    text: String,
    metric: Metric,
    compare: Compare,
    bound: f64,
}

/// What a watch can tell of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Told {
    /// What the probes see.
    pub(crate) probes: bool,
    /// What needs more than one look.
    pub(crate) counts: bool,
}

impl Alert {
    /// The metric, if it is one that this watch never tells: the alert could not come true.
    pub(crate) fn untold(&self, told: Told) -> Option<&'static str> {
        let known = match self.metric.needs() {
            Needs::Nothing => true,
            Needs::Counts => told.counts,
            Needs::Probes => told.probes,
        };
        (!known).then_some(self.metric.name())
    }

    /// Where and with what figure it is true of a round; `None` when it is not.
    pub(crate) fn breach(&self, round: &Round) -> Option<String> {
        round.namespaces.iter().find_map(|netns| match self.metric {
            Metric::Listener(name, _, _, of) => netns.listeners.iter().find_map(|row| {
                let value = of(row).filter(|value| (self.compare)(value, &self.bound))?;
                Some(format!("{self}: {name} is {value} at {}", row.address))
            }),
            Metric::Netns(name, _, of) => {
                let value = of(netns).filter(|value| (self.compare)(value, &self.bound))?;
                Some(format!("{self}: {name} is {value} in network namespace {}", netns.netns))
            }
        })
    }
}

impl fmt::Display for Alert {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`", self.text)
    }
}

impl Metric {
    fn name(self) -> &'static str {
        match self {
            Self::Listener(name, ..) | Self::Netns(name, ..) => name,
        }
    }

    fn needs(self) -> Needs {
        match self {
            Self::Listener(_, needs, ..) | Self::Netns(_, needs, _) => needs,
        }
    }

    fn bound(self, text: &str) -> Option<f64> {
        match self {
            Self::Listener(_, _, Unit::Share, _) if text.ends_with('%') => {
                Some(text.trim_end_matches('%').trim().parse::<f64>().ok()? / 100.0)
            }
            Self::Listener(_, _, Unit::Time, _) => Some(humantime::parse_duration(text).ok()?.as_nanos() as f64),
            _ => text.parse().ok().filter(|number: &f64| number.is_finite()),
        }
    }
}

impl FromStr for Alert {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let split = |&(operator, compare): &(&str, Compare)| {
            text.split_once(operator).map(|(left, right)| (left.trim(), compare, right.trim()))
        };
        let (name, compare, bound) =
            OPERATORS.iter().find_map(split).ok_or("no operator (drops>0, fill>=90%, wait_p99>10ms)")?;
        let metric = METRICS.into_iter().find(|metric| metric.name() == name).ok_or_else(|| {
            let names: Vec<_> = METRICS.iter().map(|metric| metric.name()).collect();
            format!("no metric `{name}` ({})", names.join(", "))
        })?;
        let bound = metric.bound(bound).ok_or_else(|| match metric {
            Metric::Listener(_, _, Unit::Time, _) => format!("`{bound}` is no time ({name}>10ms)"),
            _ => format!("`{bound}` is no number"),
        })?;
        Ok(Self { text: text.trim().to_owned(), metric, compare, bound })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::sample::{round, row};

    fn breach(alert: &str) -> Option<String> {
        alert.parse::<Alert>().expect(alert).breach(&round(vec![row("127.0.0.1:7001")]))
    }

    #[test]
    fn what_a_watch_never_tells_is_known_beforehand() {
        let untold = |alert: &str, probes, counts| alert.parse::<Alert>().expect(alert).untold(Told { probes, counts });
        assert_eq!(untold("wait_p99>1ms", false, true), Some("wait_p99"));
        assert_eq!(untold("drops>0", false, false), Some("drops"));
        assert_eq!(untold("drops>0", false, true), None);
        assert_eq!(untold("fill>=90%", false, false), None);
    }

    #[test]
    fn each_operator_compares_a_listeners_figure_with_the_bound() {
        // The sample has 271 drops, 3 waiting, and room for 129.
        for (alert, is_true) in [
            ("drops>0", true),
            ("drops > 271", false),
            ("drops>=271", true),
            ("drops<271", false),
            ("drops <= 271", true),
            ("drops==271", true),
            ("drops!=271", false),
            ("queue>2.5", true),
            ("fill>2%", true),
            ("fill>0.03", false),
            ("wait_p99>1ms", true),
            ("wait_p99>1s", false),
            ("time_wait>11", true),
        ] {
            assert_eq!(breach(alert).is_some(), is_true, "{alert}");
        }
    }

    #[test]
    fn a_breach_says_what_is_where() {
        assert_eq!(breach("drops>0").as_deref(), Some("`drops>0`: drops is 271 at 127.0.0.1:7001"));
    }

    #[test]
    fn what_is_no_comparison_is_refused_with_what_would_be() {
        for (alert, part) in [
            ("drops", "no operator"),
            ("drips>0", "no metric `drips` (drops, "),
            ("drops>many", "`many` is no number"),
            ("drops>inf", "is no number"),
            ("wait_p99>10", "is no time (wait_p99>10ms)"),
        ] {
            let error = alert.parse::<Alert>().map(|alert| alert.text).expect_err(alert);
            assert!(error.contains(part), "{error}");
        }
    }
}
