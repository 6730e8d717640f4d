//! Which p value a metric's verdict rests on, with the price of many looks paid.
//!
//! With sixty metrics looked at alike, five repeats could never show a single one that changed. So the few headline
//! figures are judged first, adjusted among themselves. What they are made of (a group's calls by call, a call's time by
//! its quantiles) is judged next, and only where the whole differs, adjusted among its siblings (as Yekutieli 2008).
//! Everything else pays for all looks together.

use super::{
    judging::{Row, Verdict},
    metric::{Measure, Metric},
};
use crate::statistics;

/// Adjusts the p values of all tables together, and says what may be said; returns the number of looks.
///
/// With `asked_for`, the metrics were named by the user, and each is as important as the others.
pub(super) fn decide(tables: &mut [Vec<Row>], asked_for: bool) -> usize {
    for row in tables.iter_mut().flatten() {
        row.p_adjusted = row.p.filter(|_| row.looked_at);
    }
    let looks = adjust(tables, |row, _| row.is_a_look());
    settle(tables, |_| true);
    if asked_for {
        return looks;
    }
    let group = leading_group(tables);
    let level = |row: &Row| level(&row.metric, &group);
    if tables.iter().flatten().any(|row| row.is_a_look() && level(row) == 0) {
        adjust(tables, |row, _| row.is_a_look() && level(row) == 0);
        settle(tables, |row| level(row) == 0);
        for depth in 1..=2 {
            for table in tables.iter_mut() {
                by_siblings(table, &group, depth);
            }
        }
    }
    looks
}

/// Adjusts together what is chosen; a value that was reached otherwise and is smaller stays.
fn adjust(tables: &mut [Vec<Row>], chosen: impl Fn(&Row, usize) -> bool) -> usize {
    let mut places = Vec::new();
    for (number, table) in tables.iter().enumerate() {
        places.extend(table.iter().enumerate().filter(|(_, row)| chosen(row, number)).map(|(at, _)| (number, at)));
    }
    let p: Vec<f64> = places.iter().filter_map(|&(table, at)| tables[table][at].p).collect();
    for (&(table, at), adjusted) in places.iter().zip(statistics::adjusted(&p)) {
        let row = &mut tables[table][at];
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
        adjust(one, |row, _| row.is_a_look() && is_part(row));
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
    let rate = || Some(Metric::new("", Measure::RequestsPerS));
    let owner = metric.owner.as_str();
    match (owner.split_once('.'), metric.measure) {
        (Some((of, _)), Measure::CallsPerRequest | Measure::TimePerRequest) if of == group => {
            Some(Metric::new(of, metric.measure))
        }
        (Some((of, _)), _) if of == group => Some(Metric::new(owner, Measure::TimePerRequest)),
        (Some(_), _) => rate(),
        (None, Measure::RequestsPerS | Measure::Failures | Measure::Lost) if owner.is_empty() => None,
        (None, Measure::P50 | Measure::P99) if owner == "request" => None,
        (None, Measure::CallsPerRequest | Measure::TimePerRequest) if owner == group => None,
        (None, _) => rate(),
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
}
