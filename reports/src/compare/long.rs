//! What longer connections changed: which calls and how much time vanished, what it bought, and how much of that had to
//! come.
//!
//! With `K` requests on each connection instead of 1, whatever is done once per connection is done `1/K` times per
//! request: `1 - 1/K` of it vanishes by construction.

use serde::Serialize;

use super::{
    grouping::Members,
    judging::Row,
    metric::{Measure, Metric},
};

/// From this ratio of requests per connection on, lengths differ.
const LONGER: f64 = 1.5;
/// How close shares and whole numbers must be to what construction asks for.
const NEAR: f64 = 0.02;
/// Changes of less time per request than this share of the whole are left out.
const WORTH_NAMING: f64 = 0.002;

/// A comparison of connections with fewer and with more requests.
#[derive(Clone, Debug, Serialize)]
pub struct LongConnections {
    /// The first group has the longer connections; everything below is from shorter to longer all the same.
    pub reversed: bool,
    /// Requests per connection on the shorter side.
    pub short_requests: f64,
    /// Requests per connection on the longer side.
    pub long_requests: f64,
    /// Share of everything done once per connection that had to vanish: `1 - short_requests / long_requests`.
    pub by_construction: f64,
    /// Calls of each group, those that lost most time first.
    pub calls: Vec<CallChange>,
    /// Requests per second over those on the shorter side.
    pub rate_gain: Option<f64>,
    /// Median request latency over that on the shorter side.
    pub request_p50_ratio: Option<f64>,
    /// What endless connections could reach over the longer side, by the straight line through both (1/rate = b + a/K).
    pub rate_limit: Option<f64>,
}

/// What became of one system call, for each request.
#[derive(Clone, Debug, Serialize)]
pub struct CallChange {
    /// Group and call.
    pub owner: String,
    /// Calls per request on the shorter side.
    pub short_calls: f64,
    /// Calls per request on the longer side.
    pub long_calls: f64,
    /// What vanished is what is done once per connection.
    pub as_constructed: bool,
    /// It waits by design: its time is idleness, and is not counted.
    pub waits: bool,
    /// Time per request that vanished with the calls, at the shorter side's mean, in ns.
    pub vanished_ns: f64,
    /// Time per request that the calls that stayed take less (or, negative, more), in ns.
    pub cheaper_ns: f64,
}

impl LongConnections {
    /// `None` when the lengths are alike or not known.
    pub(super) fn of(a: &Members, b: &Members, rows: &[Row]) -> Option<Self> {
        let length = medians(rows, &Metric::new("", Measure::RequestsPerConnection))?;
        let reversed = length.0 > length.1;
        let turned = |(a, b): (f64, f64)| if reversed { (b, a) } else { (a, b) };
        let (short, long) = turned(length);
        if short <= 0.0 || long / short < LONGER {
            return None;
        }
        let by_construction = 1.0 - short / long;
        let rates = medians(rows, &Metric::new("", Measure::RequestsPerS)).map(turned);
        let mut calls: Vec<CallChange> = rows
            .iter()
            .filter(|row| row.metric.measure == Measure::CallsPerRequest && row.metric.is_of_a_call())
            .filter_map(|row| {
                let owner = &row.metric.owner;
                let per_request = turned(medians(rows, &row.metric)?);
                let time = medians(rows, &Metric::new(owner, Measure::TimePerRequest)).map(turned);
                let waits = [a, b].iter().flat_map(|group| &group.runs).any(|run| run.figures.waits(owner));
                Some(CallChange::new(owner, per_request, time, by_construction, waits))
            })
            .collect();
        let whole: f64 = calls.iter().map(|call| call.vanished_ns.abs() + call.cheaper_ns.abs()).sum();
        calls.retain(|call| {
            call.vanished_ns.abs() + call.cheaper_ns.abs() > whole * WORTH_NAMING
                || call.waits && (call.short_calls - call.long_calls).abs() > 0.01
        });
        calls.sort_by(|one, other| {
            let time = |call: &CallChange| call.vanished_ns + call.cheaper_ns;
            one.waits.cmp(&other.waits).then(time(other).total_cmp(&time(one)))
        });
        Some(Self {
            reversed,
            short_requests: short,
            long_requests: long,
            by_construction,
            calls,
            rate_gain: rates.map(|(short, long)| long / short).filter(|gain| gain.is_finite()),
            request_p50_ratio: medians(rows, &Metric::new("request", Measure::P50))
                .map(turned)
                .map(|(short, long)| long / short)
                .filter(|ratio| ratio.is_finite()),
            rate_limit: rates.and_then(|rates| limit(rates, (short, long))),
        })
    }
}

impl CallChange {
    fn new(owner: &str, calls: (f64, f64), time: Option<(f64, f64)>, by_construction: f64, waits: bool) -> Self {
        let (short_calls, long_calls) = calls;
        let gone = 1.0 - long_calls / short_calls;
        let (mut vanished_ns, mut cheaper_ns) = (0.0, 0.0);
        if let Some((short_ns, long_ns)) = time.filter(|_| !waits) {
            let mean = if short_calls > 0.0 { short_ns / short_calls } else { 0.0 };
            vanished_ns = (short_calls - long_calls) * mean;
            cheaper_ns = long_calls * mean - long_ns;
        }
        Self {
            owner: owner.to_owned(),
            short_calls,
            long_calls,
            as_constructed: (gone - by_construction).abs() <= NEAR || is_whole(calls, by_construction),
            waits,
            vanished_ns,
            cheaper_ns,
        }
    }
}

/// So many calls for each connection and so many for each request explain both sides, both whole numbers: of two reads
/// for each short connection, the one that finds its end is made once per connection.
fn is_whole((short_calls, long_calls): (f64, f64), by_construction: f64) -> bool {
    let per_connection = (short_calls - long_calls) / by_construction;
    let per_request = short_calls - per_connection;
    let whole = |number: f64| (number - number.round()).abs() <= NEAR && number > -NEAR;
    per_connection.round() >= 1.0 && whole(per_connection) && whole(per_request)
}

fn medians(rows: &[Row], metric: &Metric) -> Option<(f64, f64)> {
    let row = rows.iter().find(|row| row.metric == *metric)?;
    Some((row.a?.median, row.b?.median))
}

/// Of 1/rate = b + a/K through both points, at endless K, over the longer side's rate.
fn limit((short_rate, long_rate): (f64, f64), (short, long): (f64, f64)) -> Option<f64> {
    let slope = (1.0 / short_rate - 1.0 / long_rate) / (1.0 / short - 1.0 / long);
    let endless = 1.0 / long_rate - slope / long;
    let gain = 1.0 / endless / long_rate;
    (gain.is_finite() && gain >= 1.0).then_some(gain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_straight_line_is_that_of_the_known_experiment() {
        // b = 6.4 us, a = 23.6 us: K = 1 and K = 10.
        let rate = |k: f64| 1e6 / (6.4 + 23.6 / k);
        let gain = limit((rate(1.0), rate(10.0)), (1.0, 10.0)).expect("finite");
        assert!((gain * rate(10.0) - 1e6 / 6.4).abs() < 1.0, "{gain}");
    }

    #[test]
    fn time_splits_into_what_vanished_and_what_became_cheaper_without_a_rest() {
        let call = CallChange::new("server.close", (2.0, 0.5), Some((60.0, 10.0)), 0.75, false);
        assert!(call.as_constructed);
        assert!((call.vanished_ns - 45.0).abs() < 1e-9);
        assert!((call.vanished_ns + call.cheaper_ns - 50.0).abs() < 1e-9);
    }

    #[test]
    fn a_call_that_was_not_there_before_costs_its_whole_time() {
        let call = CallChange::new("server.x", (0.0, 1.0), Some((0.0, 10.0)), 0.9, false);
        assert!((call.cheaper_ns + 10.0).abs() < 1e-9 && !call.as_constructed);
    }

    #[test]
    fn one_of_two_reads_vanishes_by_construction_and_a_tenth_does_not() {
        assert!(CallChange::new("server.read", (2.0, 1.01), None, 0.99, false).as_constructed);
        assert!(!CallChange::new("server.read", (2.0, 1.8), None, 0.99, false).as_constructed);
        assert!(!CallChange::new("server.read", (2.0, 2.0), None, 0.99, false).as_constructed);
    }
}
