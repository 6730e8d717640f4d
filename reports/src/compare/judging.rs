//! The verdict on each metric: a ratio, how sure it is, and one of few words.

use std::collections::BTreeSet;

use serde::Serialize;

use super::{
    grouping::Members,
    metric::{Better, Metric, Unit, Wanted},
    shifts::widened,
};
use crate::statistics::{self, ALPHA, Summary};

/// What may be said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The other group is better, beyond noise and buckets.
    Better,
    /// The other group is worse, beyond noise and buckets.
    Worse,
    /// There is more of what is neither good nor bad.
    More,
    /// There is less of what is neither good nor bad.
    Less,
    /// The runs do not show a difference; that does not show that there is none.
    NoDifferenceShown,
    /// With so few runs nothing could be shown.
    NotEnoughData,
    /// One of the groups does not have the metric.
    NoData,
}

impl Verdict {
    /// In words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Better => "better",
            Self::Worse => "worse",
            Self::More => "more",
            Self::Less => "less",
            Self::NoDifferenceShown => "no difference shown",
            Self::NotEnoughData => "not enough data",
            Self::NoData => "no data",
        }
    }
}

/// One metric in two groups.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The metric.
    pub metric: Metric,
    /// Unit of its values.
    pub unit: Unit,
    /// Which direction is the better one.
    pub better: Better,
    /// Of a call that waits by design.
    pub waits: bool,
    /// It was asked for, or belongs to what is always looked at: it has a verdict that pays for many looks.
    pub looked_at: bool,
    /// In the first group.
    pub a: Option<Summary>,
    /// In the other group.
    pub b: Option<Summary>,
    /// Median of the other group over that of the first.
    pub ratio: Option<f64>,
    /// 95 % interval of the ratio, buckets taken into account.
    pub interval: Option<(f64, f64)>,
    /// Mann-Whitney, two-sided, as if this were the only look; `None` where no number of ranks could show anything.
    pub p: Option<f64>,
    /// The same, paying for all looks; `None` where it was not looked at.
    pub p_adjusted: Option<f64>,
    /// What may be said.
    pub verdict: Verdict,
}

/// Every metric that either group has; verdicts come from `deciding`.
pub(super) fn rows(a: &Members, b: &Members, wanted: &Wanted) -> Vec<Row> {
    let metrics: BTreeSet<&Metric> =
        [a, b].into_iter().flat_map(|group| &group.runs).flat_map(|run| run.figures.metrics()).collect();
    let mut rows: Vec<Row> = metrics.into_iter().map(|metric| row(a, b, metric, wanted)).collect();
    rows.sort_by(|one, other| {
        let key = |row: &Row| (rank(&row.metric, a, b), row.metric.clone());
        let ((one_rank, one), (other_rank, other)) = (key(one), key(other));
        one_rank.0.cmp(&other_rank.0).then(other_rank.1.total_cmp(&one_rank.1)).then(one.cmp(&other))
    });
    rows
}

/// The load first, then server, then client; the busiest calls first.
fn rank(metric: &Metric, a: &Members, b: &Members) -> (u8, f64) {
    let section = match metric.owner.split('.').next().unwrap_or_default() {
        "" => 0,
        "connect" => 1,
        "request" => 2,
        "bench" => 3,
        "server" => 4,
        _ => 5,
    };
    if !metric.is_of_a_call() {
        return (section, f64::INFINITY);
    }
    let total = Metric::new(&metric.owner, super::Measure::Total);
    let runs = a.runs.iter().chain(&b.runs);
    let waits = runs.clone().any(|run| run.figures.waits(&metric.owner));
    let time: f64 = runs.filter_map(|run| run.figures.get(&total)).map(|figure| figure.value).sum();
    // What waits comes after what works, and stays in the order of its time.
    (section, if waits { time - 1e30 } else { time })
}

fn row(a: &Members, b: &Members, metric: &Metric, wanted: &Wanted) -> Row {
    let figures = |group: &Members| -> Vec<super::Figure> {
        group.runs.iter().filter_map(|run| run.figures.get(metric)).collect()
    };
    let waits = a.runs.iter().chain(&b.runs).any(|run| run.figures.waits(&metric.owner));
    let (in_a, in_b) = (figures(a), figures(b));
    let values = |figures: &[super::Figure]| figures.iter().map(|figure| figure.value).collect::<Vec<_>>();
    let error = |figures: &[super::Figure]| figures.iter().map(|figure| figure.relative_error).fold(0.0, f64::max);
    let (of_a, of_b) = (values(&in_a), values(&in_b));
    let (summary_a, summary_b) = (Summary::of(&of_a), Summary::of(&of_b));
    let ratio = summary_a.zip(summary_b).map(|(a, b)| b.median / a.median).filter(|ratio| ratio.is_finite());
    let interval = statistics::ratio_of_medians(&of_a, &of_b, statistics::seed_of(&metric.to_string()));
    let enough = of_a.len().min(of_b.len()) >= statistics::LEAST_RUNS;
    Row {
        metric: metric.clone(),
        unit: metric.measure.unit(),
        better: metric.better(waits),
        waits,
        looked_at: wanted.looks_at(metric, waits),
        a: summary_a,
        b: summary_b,
        ratio,
        interval: interval.map(|interval| widened(interval, error(&in_a), error(&in_b))),
        p: statistics::mann_whitney(&of_a, &of_b).filter(|_| enough),
        p_adjusted: None,
        verdict: if summary_a.is_none() || summary_b.is_none() { Verdict::NoData } else { Verdict::NotEnoughData },
    }
}

impl Row {
    /// A row that is looked at, without an interval.
    #[cfg(test)]
    pub(super) fn of_values(metric: Metric, a: &[f64], b: &[f64]) -> Self {
        Self {
            unit: metric.measure.unit(),
            better: metric.better(false),
            metric,
            waits: false,
            looked_at: true,
            a: Summary::of(a),
            b: Summary::of(b),
            ratio: None,
            interval: None,
            p: statistics::mann_whitney(a, b),
            p_adjusted: None,
            verdict: Verdict::NotEnoughData,
        }
    }

    /// Where every run has the same value there is no chance finding to pay for (Tarone 1990).
    pub(super) fn is_a_look(&self) -> bool {
        let constant = |a: Summary, b: Summary| a.min.min(b.min) >= a.max.max(b.max);
        self.looked_at && self.p.is_some() && !self.a.zip(self.b).is_some_and(|(a, b)| constant(a, b))
    }

    pub(super) fn judged(&self, p: f64) -> Verdict {
        let Some((a, b)) = self.a.zip(self.b) else { return Verdict::NoData };
        // Without a ratio (from nothing to something) the ranks alone decide.
        let apart = self.interval.is_none_or(|(low, high)| low > 1.0 || high < 1.0);
        if p > ALPHA || !apart || a.median.total_cmp(&b.median).is_eq() {
            return Verdict::NoDifferenceShown;
        }
        match (self.better, b.median > a.median) {
            (Better::Higher, true) | (Better::Lower, false) => Verdict::Better,
            (Better::Higher, false) | (Better::Lower, true) => Verdict::Worse,
            (Better::Neither, true) => Verdict::More,
            (Better::Neither, false) => Verdict::Less,
        }
    }
}
