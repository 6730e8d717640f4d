//! Limits for continuous integration: `server.close.p99 > +20%`.

use std::str::FromStr;

use serde::Serialize;

use super::{CompareError, Row, Verdict, metric};
use crate::{printable::printable, statistics::ALPHA};

/// What must not be: that a metric's ratio to the first group lies beyond a limit.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Rule {
    /// As it was written.
    pub text: String,
    /// Name of the metric.
    pub metric: String,
    /// Beyond means above; else below.
    pub above: bool,
    /// The limit as a ratio: 1.2 for `+20%`.
    pub limit: f64,
}

/// A rule that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("not a rule (such as `server.close.p99 > +20%` or `requests_per_s < -5%`)")]
pub struct RuleError;

impl FromStr for Rule {
    type Err = RuleError;

    fn from_str(text: &str) -> Result<Self, RuleError> {
        let at = text.rfind(['>', '<']).ok_or(RuleError)?;
        let (name, limit) = (text[..at].trim(), text[at + 1..].trim());
        let percent: f64 = limit.strip_suffix('%').ok_or(RuleError)?.trim().parse().map_err(|_| RuleError)?;
        let limit = 1.0 + percent / 100.0;
        if name.is_empty() || !limit.is_finite() || limit < 0.0 {
            return Err(RuleError);
        }
        Ok(Self { text: text.to_owned(), metric: name.to_owned(), above: text[at..].starts_with('>'), limit })
    }
}

/// What became of a rule for one of the other groups.
#[derive(Clone, Debug, Serialize)]
pub struct Ruling {
    /// The rule.
    pub rule: Rule,
    /// Number of the group among the groups.
    pub other: usize,
    /// The median's ratio.
    pub ratio: Option<f64>,
    /// Its interval.
    pub interval: Option<(f64, f64)>,
    /// Mann-Whitney's p value; a rule was named beforehand, so it does not pay for other looks.
    pub p: Option<f64>,
    /// What became of it.
    pub kind: RulingKind,
}

/// What became of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RulingKind {
    /// The metric is beyond the limit, beyond noise.
    Holds,
    /// It is not, or noise explains it.
    NotShown,
    /// Too few runs to tell.
    NotEnoughData,
    /// A group does not have the metric.
    NoData,
}

impl RulingKind {
    /// Nobody can say whether the rule holds.
    #[must_use]
    pub fn is_open(self) -> bool {
        matches!(self, Self::NotEnoughData | Self::NoData)
    }
}

/// Judges every rule for every table.
///
/// # Errors
/// When a rule names a metric that no run has.
pub(super) fn judge(rules: &[Rule], tables: &[Vec<Row>]) -> Result<Vec<Ruling>, CompareError> {
    let mut rulings = Vec::new();
    for rule in rules {
        let is_meant = |row: &&Row| row.metric.to_string() == rule.metric;
        if !tables.iter().flatten().any(|row| is_meant(&row)) {
            let mut names: Vec<_> = tables.iter().flatten().map(|row| row.metric.to_string()).collect();
            names.dedup();
            return Err(metric::no_such(&printable(&rule.metric), &names));
        }
        for (number, table) in tables.iter().enumerate() {
            let row = table.iter().find(is_meant);
            rulings.push(Ruling {
                rule: rule.clone(),
                other: number + 1,
                ratio: row.and_then(|row| row.ratio),
                interval: row.and_then(|row| row.interval),
                p: row.and_then(|row| row.p),
                kind: row.map_or(RulingKind::NoData, |row| rule.applied_to(row)),
            });
        }
    }
    Ok(rulings)
}

impl Rule {
    /// It holds when the whole interval lies beyond the limit and the groups differ in rank.
    fn applied_to(&self, row: &Row) -> RulingKind {
        if row.verdict == Verdict::NoData {
            return RulingKind::NoData;
        }
        let (Some(p), Some((a, b))) = (row.p, row.a.zip(row.b)) else { return RulingKind::NotEnoughData };
        let beyond = match row.interval {
            Some((low, high)) => {
                if self.above {
                    low > self.limit
                } else {
                    high < self.limit
                }
            }
            // From nothing to something is more than any percentage; nothing is below nothing.
            None if a.median <= 0.0 => self.above && b.median > 0.0,
            None => return RulingKind::NotEnoughData,
        };
        if beyond && p <= ALPHA { RulingKind::Holds } else { RulingKind::NotShown }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_read_as_written() {
        let rule: Rule = "server.close.p99 > +20%".parse().expect("a rule");
        assert_eq!((rule.metric.as_str(), rule.above), ("server.close.p99", true));
        assert!((rule.limit - 1.2).abs() < 1e-12);
        let rule: Rule = "requests_per_s<-5 %".parse().expect("a rule");
        assert_eq!((rule.metric.as_str(), rule.above), ("requests_per_s", false));
        assert!((rule.limit - 0.95).abs() < 1e-12);
        for text in ["", "x", "x > 20", "> 20%", "x > y%", "x > -101%", "x > nan%", "x = 5%", "x > infinity%"] {
            assert!(text.parse::<Rule>().is_err(), "{text}");
        }
    }
}
