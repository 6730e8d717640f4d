//! Which p value a metric's verdict rests on, with the price of many looks paid.
//!
//! With sixty metrics looked at alike, five repeats could never show a single one that changed. So the few headline
//! figures are judged first, adjusted among themselves, and have most of the 5 % that may be chance. What they are made
//! of (a group's calls by call, a call's time by its quantiles) is judged next, only where the whole differs, adjusted
//! among its siblings (after Yekutieli 2008). Everything else pays for all other looks together.

use super::{
    judging::{Row, Verdict},
    metric::{Measure, Metric},
};
use crate::statistics;
use serde::Serialize;

/// Adjusts the p values of all tables together, and says what may be said; returns the number of looks.
///
/// With `asked_for`, the metrics were named by the user, and each is as important as the others.
pub(super) fn decide(tables: &mut [Vec<Row>], asked_for: bool) -> usize {
    for row in tables.iter_mut().flatten() {
        row.p_adjusted = row.p.filter(|_| row.looked_at);
    }
    let group = leading_group(tables);
    let is_headline = |row: &Row| !asked_for && row.is_a_look() && level(&row.metric, &group) == 0;
    let headlines = adjust(tables, HEADLINES, is_headline);
    let others = if headlines > 0 { 1.0 - HEADLINES } else { 1.0 };
    let looks = headlines + adjust(tables, others, |row| row.is_a_look() && !is_headline(row));
    settle(tables, |_| true);
    for depth in 1..=2 {
        if headlines > 0 {
            for table in tables.iter_mut() {
                by_siblings(table, &group, depth);
            }
        }
    }
    looks
}

/// That even the greatest difference in one figure could not be shown: too few runs for so many looks.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct TooFewRuns {
    /// Runs of the first group and of the other, of the pair that can show most.
    pub runs: (usize, usize),
    /// Least p value that so many runs can have, before looks are paid for.
    pub least_p: f64,
    /// Looks that one figure pays for where it is the only one that differs.
    pub looks: usize,
    /// Runs of each group with which it could be shown.
    pub enough: usize,
}

impl TooFewRuns {
    /// `None` where one figure that differs can be shown, and where there are no looks. `runs` holds each pair's.
    pub(super) fn of(tables: &[Vec<Row>], asked_for: bool, runs: &[(usize, usize)]) -> Option<Self> {
        let group = leading_group(tables);
        let all = || tables.iter().flatten().filter(|row| row.is_a_look());
        let headlines = all().filter(|row| !asked_for && level(&row.metric, &group) == 0).count();
        let (looks, share) = if headlines > 0 { (headlines, HEADLINES) } else { (all().count(), 1.0) };
        let cannot = |p: f64| p * looks as f64 / share > statistics::ALPHA;
        let least = |&(a, b): &(usize, usize)| statistics::least_p(a, b);
        let runs = *runs.iter().min_by(|one, other| least(one).total_cmp(&least(other)))?;
        let least_p = least(&runs);
        let enough = (statistics::LEAST_RUNS..1_000).find(|&n| !cannot(statistics::least_p(n, n)))?;
        (looks > 0 && cannot(least_p)).then_some(Self { runs, least_p, looks, enough })
    }
}

/// Share of [`statistics::ALPHA`] that the headlines have; the rest is for what is found without them.
const HEADLINES: f64 = 0.8;

/// Adjusts together what is chosen, with that share of the whole; a smaller value from elsewhere stays. Returns how
/// many there are.
fn adjust(tables: &mut [Vec<Row>], share: f64, chosen: impl Fn(&Row) -> bool) -> usize {
    let mut places = Vec::new();
    for (number, table) in tables.iter().enumerate() {
        places.extend(table.iter().enumerate().filter(|(_, row)| chosen(row)).map(|(at, _)| (number, at)));
    }
    let p: Vec<f64> = places.iter().filter_map(|&(table, at)| tables[table][at].p).collect();
    for (&(table, at), adjusted) in places.iter().zip(statistics::adjusted(&p)) {
        let row = &mut tables[table][at];
        let adjusted = (adjusted / share).min(1.0);
        // The first adjustment replaces the bare value.
        let before = row.p_adjusted.filter(|before| row.p.is_some_and(|p| *before > p));
        row.p_adjusted = Some(before.map_or(adjusted, |before| before.min(adjusted)));
    }
    places.len()
}

fn settle(tables: &mut [Vec<Row>], chosen: impl Fn(&Row) -> bool) {
    for row in tables.iter_mut().flatten().filter(|row| row.p.is_some() && chosen(row)) {
        row.verdict = row.judged(row.p_adjusted.or(row.p).unwrap_or(1.0));
    }
}

/// Judges the parts of every whole that differs.
fn by_siblings(table: &mut Vec<Row>, group: &str, depth: usize) {
    let differing: Vec<Metric> =
        table.iter().filter(|row| row.verdict.differs()).map(|row| row.metric.clone()).collect();
    for whole in differing {
        let is_part =
            |row: &Row| level(&row.metric, group) == depth && part_of(&row.metric, group) == Some(whole.clone());
        let one = std::slice::from_mut(table);
        adjust(one, 1.0, |row| row.is_a_look() && is_part(row));
        settle(one, is_part);
    }
}

/// The group whose cost is a headline: the server's, or the client's where there is no server.
fn leading_group(tables: &[Vec<Row>]) -> String {
    let has_server = tables.iter().flatten().any(|row| row.metric.owner == "server");
    if has_server { "server" } else { "client" }.to_owned()
}

/// 0 for a headline, 1 for its parts, 2 for theirs.
fn level(metric: &Metric, group: &str) -> usize {
    match part_of(metric, group) {
        None => 0,
        Some(whole) => 1 + level(&whole, group),
    }
}

/// What the metric is a part or a detail of; `None` for a headline.
fn part_of(metric: &Metric, group: &str) -> Option<Metric> {
    let owner = metric.owner.as_str();
    match (owner.split_once('.'), metric.measure) {
        (Some((of, _)), Measure::CallsPerRequest | Measure::TimePerRequest) if of == group => {
            Some(Metric::new(of, metric.measure))
        }
        (Some((of, _)), _) if of == group => Some(Metric::new(owner, Measure::TimePerRequest)),
        (None, measure) if is_headline(owner, measure, group) => None,
        _ => Some(Metric::new("", Measure::RequestsPerS)),
    }
}

fn is_headline(owner: &str, measure: Measure, group: &str) -> bool {
    match measure {
        Measure::RequestsPerS | Measure::Failures | Measure::Lost => owner.is_empty(),
        Measure::P50 | Measure::P99 => owner == "request",
        Measure::CallsPerRequest | Measure::TimePerRequest => owner == group,
        _ => false,
    }
}

impl Verdict {
    /// A difference was shown.
    #[must_use]
    pub fn differs(self) -> bool {
        matches!(self, Self::Better | Self::Worse | Self::More | Self::Less)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::Random;

    #[test]
    fn every_metric_is_a_headline_or_leads_to_one() {
        let level = |owner: &str, measure| level(&Metric::new(owner, measure), "server");
        assert_eq!(level("", Measure::RequestsPerS), 0);
        assert_eq!(level("request", Measure::P99), 0);
        assert_eq!(level("request", Measure::P999), 1);
        assert_eq!(level("connect", Measure::P50), 1);
        assert_eq!(level("server", Measure::TimePerRequest), 0);
        assert_eq!(level("server.close", Measure::TimePerRequest), 1);
        assert_eq!(level("server.close", Measure::P99), 2);
        assert_eq!(level("client.close", Measure::P99), 1);
        assert_eq!(level("client", Measure::CallsPerRequest), 1);
    }

    /// Rows of one comparison of two groups that differ in nothing: each run has a speed of its own that moves all its
    /// figures, and each figure noise of its own. Without intervals: they only make verdicts rarer.
    fn rows_of_nothing(random: &mut Random, runs: usize, together: f64) -> Vec<Row> {
        let speeds: Vec<f64> = (0..2 * runs).map(|_| together * random.unit()).collect();
        let mut metrics = vec![
            Metric::new("", Measure::RequestsPerS),
            Metric::new("request", Measure::P50),
            Metric::new("request", Measure::P99),
            Metric::new("connect", Measure::P50),
            Metric::new("server", Measure::CallsPerRequest),
            Metric::new("server", Measure::TimePerRequest),
        ];
        for call in ["close", "sendto", "recvfrom"] {
            for group in ["server", "client"] {
                let owner = format!("{group}.{call}");
                let measures = [Measure::CallsPerRequest, Measure::TimePerRequest, Measure::P50, Measure::P99];
                metrics.extend(measures.map(|measure| Metric::new(&owner, measure)));
            }
        }
        let row = |metric: Metric, random: &mut Random| {
            let values: Vec<f64> = speeds.iter().map(|speed| 1.0 + speed + (1.0 - together) * random.unit()).collect();
            let (a, b) = values.split_at(runs);
            Row::of_values(metric, a, b)
        };
        metrics.into_iter().map(|metric| row(metric, random)).collect()
    }

    #[test]
    fn four_runs_are_too_few_for_one_change_among_all_looks_and_what_would_do_is_enough() {
        let mut random = Random::new(3);
        let mut of = |runs: usize, asked_for| {
            let tables = [rows_of_nothing(&mut random, runs, 0.0)];
            TooFewRuns::of(&tables, asked_for, &[(runs, runs)])
        };
        for asked_for in [false, true] {
            let few = of(4, asked_for).expect("too few");
            assert!(few.enough > 4 && of(few.enough, asked_for).is_none(), "{few:?}");
            assert!(of(few.enough - 1, asked_for).is_some(), "{few:?}");
        }
    }

    #[test]
    fn groups_that_differ_in_nothing_are_called_different_in_at_most_5_percent_of_comparisons() {
        // More of them with TRIALS=20000 and --release.
        let trials: u32 = std::env::var("TRIALS").ok().and_then(|trials| trials.parse().ok()).unwrap_or(120);
        for (runs, together) in [(5, 0.0), (5, 0.6), (7, 0.3)] {
            let mut random = Random::new(1);
            let false_alarms = (0..trials)
                .filter(|_| {
                    let mut tables = [rows_of_nothing(&mut random, runs, together)];
                    decide(&mut tables, false);
                    tables[0].iter().any(|row| row.verdict.differs())
                })
                .count();
            // Two standard errors of a simulation of this length.
            let allowed = 0.05 + 2.0 * (0.05 * 0.95 / f64::from(trials)).sqrt();
            let share = false_alarms as f64 / f64::from(trials);
            assert!(share <= allowed, "{runs} runs, {together} together: {share}");
            println!("{runs} runs, {together} together: {share}");
        }
    }

    #[test]
    fn one_change_is_shown_by_five_runs_and_its_part_is_named() {
        let mut random = Random::new(7);
        let mut rows = rows_of_nothing(&mut random, 5, 0.5);
        let changed =
            [Metric::new("server", Measure::CallsPerRequest), Metric::new("server.recvfrom", Measure::CallsPerRequest)];
        for row in rows.iter_mut().filter(|row| changed.contains(&row.metric)) {
            *row = Row::of_values(row.metric.clone(), &[1.0, 1.01, 1.02, 1.03, 1.04], &[2.0, 2.01, 2.02, 2.03, 2.04]);
        }
        let mut tables = [rows];
        decide(&mut tables, false);
        let different: Vec<_> =
            tables[0].iter().filter(|row| row.verdict.differs()).map(|row| row.metric.clone()).collect();
        assert_eq!(different, changed);
    }
}
