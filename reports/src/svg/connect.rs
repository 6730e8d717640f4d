//! How long connecting took, with the whole seconds at which the kernel sends a SYN again.
//!
//! Drawn as the share that took longer, both axes logarithmic: one lost SYN in a thousand is a step one can see.

use std::collections::BTreeMap;

use super::{
    axis::LogAxis,
    canvas::{Canvas, Look, MARKS},
    figure::{self, Figure},
    frame::{self, Key, Words},
    palette,
};
use crate::{
    histogram::Histogram,
    recording::{Outcome, Recording},
    table::{Cell, Table},
    units,
};

const WIDTH: f64 = 960.0;
const LEFT: f64 = 92.0;
const RIGHT: f64 = 640.0;
const TOP: f64 = frame::TOP + 22.0;
const BOTTOM: f64 = 430.0;
const LEGEND: f64 = 660.0;
const LEGEND_PITCH: f64 = 40.0;
const CURVES: usize = 7;
/// When a SYN is sent again after the first: every second for tcp_syn_linear_timeouts times (v6.5), then doubling.
const RESENT_S: [u64; 8] = [1, 2, 3, 4, 5, 7, 15, 31];
/// Shares are put on the axis of whole numbers in parts of this.
const WHOLE: f64 = 1e12;

struct Curve {
    name: String,
    latency: Histogram,
    resent: Option<u64>,
}

/// The chart of the run named `run`; `None` when no attempt to connect was timed.
#[must_use]
pub fn connect(recording: &Recording, run: &str) -> Option<Figure<'static>> {
    let mut curves = curves(recording);
    curves.sort_by(|a, b| b.latency.count().cmp(&a.latency.count()).then_with(|| a.name.cmp(&b.name)));
    let shown = curves.len().min(CURVES);
    let low = curves.iter().filter_map(|curve| curve.latency.min()).min()?;
    let high = curves.iter().filter_map(|curve| curve.latency.max()).max()?;
    let most = curves.iter().map(|curve| curve.latency.count()).max()?;
    let attempts = curves.iter().fold(0u64, |sum, curve| sum.saturating_add(curve.latency.count()));
    let resent = curves.iter().filter_map(|curve| curve.resent).fold(0u64, u64::saturating_add);
    let words = Words {
        title: "How long connecting took".into(),
        subtitle:
            "Share of attempts that took longer than a given time; dashed: seconds at which a lost SYN is sent again"
                .into(),
        caption: vec![
            frame::how_measured(recording, run),
            format!(
                "{} in these curves, {} sent again; `by TCP` is SYN_SENT to the outcome, `by bench` is connect() to established",
                units::counted(attempts, "attempt"),
                units::counted(resent, "SYN"),
            ),
        ],
    };
    let curves = std::rc::Rc::new(curves);
    let told = std::rc::Rc::clone(&curves);
    let axes = Axes {
        time: LogAxis::new(low, high, (LEFT, RIGHT)),
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of 1e12")]
        share: LogAxis::upright((WHOLE / (most.max(2) as f64)) as u64, WHOLE as u64, (BOTTOM, TOP)),
        high,
    };
    let paint = move |canvas: &Canvas| axes.paint(canvas, &curves[..shown]);
    Some(Figure::new("connect", words, (WIDTH, BOTTOM + 42.0), paint, move || data(&told)))
}

fn curves(recording: &Recording) -> Vec<Curve> {
    let mut outcomes: BTreeMap<Outcome, Curve> = BTreeMap::new();
    for connects in recording.tcp.iter().flat_map(|tcp| &tcp.connects) {
        let name = format!("{} (by TCP)", outcome(connects.outcome));
        let empty = || Curve { name, latency: Histogram::new(connects.latency.sub_bits()), resent: Some(0) };
        let curve = outcomes.entry(connects.outcome).or_insert_with(empty);
        if curve.latency.same_layout(&connects.latency) {
            curve.latency.merge(&connects.latency);
            curve.resent = curve.resent.map(|resent| resent.saturating_add(connects.syn_retransmits));
        }
    }
    let of_bench = recording.bench.iter().map(|bench| Curve {
        name: "established (by bench)".into(),
        latency: bench.connect.clone(),
        resent: None,
    });
    let all = outcomes.into_values().chain(of_bench);
    all.filter(|curve| curve.latency.buckets().next().is_some()).collect()
}

fn outcome(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Established => "established",
        Outcome::Refused => "refused",
        Outcome::Reset => "reset",
        Outcome::Unreachable => "unreachable",
        Outcome::TimedOut => "timed out",
        Outcome::Cancelled => "cancelled",
        Outcome::NotSent => "not sent",
        Outcome::InProgress => "in progress",
    }
}

struct Axes {
    time: LogAxis,
    share: LogAxis,
    high: u64,
}

impl Axes {
    fn paint(&self, canvas: &Canvas, curves: &[Curve]) {
        self.grid(canvas);
        self.seconds(canvas);
        for (number, curve) in curves.iter().enumerate().rev() {
            self.curve(canvas, &curve.latency, number);
        }
        for (number, curve) in curves.iter().enumerate() {
            let quantile = |q| curve.latency.quantile(q).map_or("-".to_owned(), units::duration);
            let (p50, p99, n) = (quantile(0.5), quantile(0.99), units::count(curve.latency.count()));
            let remark = format!("p50 {p50}, p99 {p99}, n {n}");
            let at = (LEGEND, TOP + 6.0 + LEGEND_PITCH * number as f64);
            frame::key(canvas, at, WIDTH - 6.0, &Key { number, name: &curve.name, remark: &remark });
        }
    }

    fn grid(&self, canvas: &Canvas) {
        for tick in self.time.ticks() {
            canvas.line(&[(self.time.at(tick), TOP), (self.time.at(tick), BOTTOM + 4.0)], palette::GRID, 1.0);
            frame::tick_label(canvas, (self.time.at(tick), BOTTOM + 14.0), &units::duration_f64(tick));
        }
        for tick in self.share.ticks().into_iter().filter(|tick| *tick <= WHOLE) {
            let y = self.share.at(tick);
            canvas.line(&[(LEFT - 4.0, y), (RIGHT, y)], palette::GRID, 1.0);
            frame::value_tick(canvas, (LEFT - 8.0, y), tick / WHOLE * 100.0, |percent| format!("{percent:.9} %"));
        }
        canvas.line(&[(LEFT, TOP), (LEFT, BOTTOM), (RIGHT, BOTTOM)], palette::AXIS, 1.0);
        let look = Look::new(frame::VALUE, palette::QUIET);
        canvas.text((frame::MARGIN, frame::TOP - 4.0), "share that took longer, logarithmic", look);
        let middle = f64::midpoint(LEFT, RIGHT);
        canvas.text((middle, BOTTOM + 34.0), "time to connect, logarithmic", look.centered());
    }

    /// The second of each resent SYN that is not beyond the slowest attempt.
    fn seconds(&self, canvas: &Canvas) {
        let mut free = f64::NEG_INFINITY;
        for second in RESENT_S {
            if second * 900_000_000 > self.high {
                return;
            }
            let x = self.time.at(second as f64 * 1e9);
            canvas.dashed_line(&[(x, TOP), (x, BOTTOM)], palette::ALARM, 1.0);
            let (text, look) = (format!("{second} s"), Look::new(frame::TICK, palette::ALARM).centered());
            let half = look.pixels(&text) / 2.0;
            if x - half > free {
                canvas.text((x, TOP - 8.0), &text, look);
                free = x + half + 2.0;
            }
        }
    }

    fn curve(&self, canvas: &Canvas, latency: &Histogram, number: usize) {
        let color = palette::CURVES[number];
        let total: f64 = latency.buckets().map(|(_, _, count)| count as f64).sum();
        let (min, max) = (latency.min().unwrap_or(0), latency.max().unwrap_or(0));
        let at = |ns: u64| self.time.at(ns.clamp(min, max) as f64);
        let mut left = total;
        let mut points = vec![(at(min), self.share.at(WHOLE))];
        for (low, width, count) in latency.buckets() {
            let higher = self.share.at(left / total * WHOLE);
            left -= count as f64;
            points.push((at(low), higher));
            // The last attempt ends the curve at its own height: there is no logarithm of nothing.
            let lower = if left > 0.5 { self.share.at(left / total * WHOLE) } else { higher };
            points.push((at(low.saturating_add(width)), lower));
        }
        canvas.line(&points, color, 2.0);
        for q in [0.5, 0.9, 0.99, 0.999] {
            if let Some(ns) = latency.quantile(q) {
                let place = (self.time.at(ns as f64), self.share.at((1.0 - q) * WHOLE));
                canvas.mark(MARKS[number % MARKS.len()], place, color);
            }
        }
    }
}

fn data(curves: &[Curve]) -> Table {
    let columns = ["min", "p50", "p90", "p99", "p99.9", "max"].map(|name| (name, "ns"));
    let first = [("outcome", ""), ("attempts", ""), ("SYNs sent again", "")];
    let mut table = figure::data(&[first.as_slice(), columns.as_slice()].concat());
    for Curve { name, latency, resent } in curves {
        let resent = resent.map_or(Cell::Missing, Cell::Count);
        let mut cells = vec![Cell::text(name), Cell::Count(latency.count()), resent, Cell::ns(latency.min())];
        cells.extend([0.5, 0.9, 0.99, 0.999].map(|q| Cell::ns(latency.quantile(q))));
        cells.push(Cell::ns(latency.max()));
        table.row(cells);
    }
    table
}
