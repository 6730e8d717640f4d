//! Distributions against distributions: how far each quantile moved, and whether further than a bucket can tell.

use std::collections::BTreeMap;

use serde::Serialize;

use super::grouping::Members;
use crate::histogram::Histogram;

/// Quantiles that are compared, with their names.
pub const QUANTILES: [(f64, &str); 4] = [(0.5, "p50"), (0.9, "p90"), (0.99, "p99"), (0.999, "p99.9")];

/// A latency distribution and whose it is.
#[derive(Clone, Debug)]
pub struct Distribution {
    /// `connect`, `request`, or a group's system call.
    pub owner: String,
    /// A call that waits by design.
    pub waits: bool,
    /// All values, with something in the buckets.
    pub histogram: Histogram,
}

/// One distribution in two groups.
#[derive(Clone, Debug, Serialize)]
pub struct Shift {
    /// Whose.
    pub owner: String,
    /// A call that waits by design.
    pub waits: bool,
    /// Values of the first group.
    pub a_count: u64,
    /// Values of the other group.
    pub b_count: u64,
    /// In the order of [`QUANTILES`]; `None` where either has too few values.
    pub moves: [Option<Move>; 4],
}

/// How far a quantile moved.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Move {
    /// In the first group, in ns.
    pub a_ns: u64,
    /// In the other group, in ns.
    pub b_ns: u64,
    /// The least ratio that the buckets allow.
    pub least_ratio: f64,
    /// The largest ratio that the buckets allow.
    pub most_ratio: f64,
}

impl Move {
    fn between(a: &Histogram, b: &Histogram, q: f64) -> Option<Self> {
        let (a_ns, b_ns) = (a.quantile(q)?, b.quantile(q)?);
        let ratio = b_ns as f64 / a_ns as f64;
        let (least_ratio, most_ratio) = widened((ratio, ratio), a.relative_error(), b.relative_error());
        (a_ns > 0).then_some(Self { a_ns, b_ns, least_ratio, most_ratio })
    }

    /// Buckets alone cannot explain it.
    #[must_use]
    pub fn beyond_buckets(&self) -> bool {
        self.least_ratio > 1.0 || self.most_ratio < 1.0
    }
}

/// An interval of ratios of `b` to `a`, widened by the relative errors of either.
pub(super) fn widened((low, high): (f64, f64), error_a: f64, error_b: f64) -> (f64, f64) {
    (low * (1.0 - error_b) / (1.0 + error_a), high * (1.0 + error_b) / (1.0 - error_a).max(f64::EPSILON))
}

/// All runs of a group together, in order of their owners' first appearance.
pub(super) fn distributions(group: &Members) -> Vec<Distribution> {
    let mut order: Vec<&str> = Vec::new();
    let mut all: BTreeMap<&str, Vec<&Distribution>> = BTreeMap::new();
    for one in group.runs.iter().flat_map(|run| &run.distributions) {
        let alike = all.entry(&one.owner).or_default();
        if alike.is_empty() {
            order.push(&one.owner);
        }
        alike.push(one);
    }
    let together = |owner: &str| {
        let parts = &all[owner];
        let histogram = super::figures::merged(parts.iter().map(|part| &part.histogram))?;
        Some(Distribution { owner: owner.to_owned(), waits: parts[0].waits, histogram })
    };
    order.into_iter().filter_map(together).collect()
}

/// Of every distribution that both have.
pub(super) fn between(a: &[Distribution], b: &[Distribution]) -> Vec<Shift> {
    let other = |owner: &str| b.iter().find(|one| one.owner == owner);
    a.iter()
        .filter_map(|one| {
            let theirs = other(&one.owner)?;
            Some(Shift {
                owner: one.owner.clone(),
                waits: one.waits,
                a_count: one.histogram.count(),
                b_count: theirs.histogram.count(),
                moves: QUANTILES.map(|(q, _)| Move::between(&one.histogram, &theirs.histogram, q)),
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::histogram::KERNEL;

    fn around(ns: u64) -> Histogram {
        let mut histogram = Histogram::new(KERNEL);
        (0..2_000).for_each(|n| histogram.record(ns + n % 50));
        histogram
    }

    #[test]
    fn a_move_within_a_bucket_is_no_move() {
        let quantile = |a, b| Move::between(&around(a), &around(b), 0.5).expect("enough values");
        assert!(!quantile(10_000, 10_000).beyond_buckets());
        assert!(!quantile(10_000, 10_300).beyond_buckets());
        assert!(quantile(10_000, 11_500).beyond_buckets());
        assert!(quantile(11_500, 10_000).beyond_buckets());
    }

    #[test]
    fn too_few_values_give_no_quantile() {
        let mut few = Histogram::new(KERNEL);
        (0..99).for_each(|n| few.record(n));
        assert_eq!(Move::between(&few, &around(5), 0.99), None);
    }
}
