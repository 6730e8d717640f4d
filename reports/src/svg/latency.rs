//! Distribution of each system call's latency: what share of its calls took at most how long.
//!
//! Working calls only; calls that wait by design would stretch the axis and say nothing about cost.

use super::{
    axis::LogAxis,
    canvas::{Canvas, Look, Mark},
    frame::{self, MARGIN, Words},
    palette,
};
use crate::{
    histogram::Histogram,
    printable::clipped,
    recording::{Group, Recording, Syscall},
    stats::ByTime,
    units,
};

pub(super) const WIDTH: f64 = 1000.0;
pub(super) const LEFT: f64 = 64.0;
pub(super) const RIGHT: f64 = 664.0;
pub(super) const TOP: f64 = frame::TOP + 8.0;
pub(super) const BOTTOM: f64 = 452.0;
pub(super) const LEGEND: f64 = 708.0;
pub(super) const LEGEND_PITCH: f64 = 42.0;
pub(super) const MARKS: [Mark; 4] = [Mark::Disc, Mark::Square, Mark::Triangle, Mark::Ring];
const GUIDES: [(f64, &str); 3] = [(0.5, "p50"), (0.9, "p90"), (0.99, "p99")];

/// The chart for one group of the run named `run`; `None` when it made no working call.
#[must_use]
pub fn latency(recording: &Recording, run: &str, group: &Group) -> Option<String> {
    let calls = ByTime::of(group);
    let drawable: Vec<&Syscall> = calls.working.iter().copied().filter(|row| distribution(row).is_some()).collect();
    let shown = &drawable[..drawable.len().min(palette::CURVES.len())];
    let curves = || shown.iter().filter_map(|row| distribution(row));
    let low = curves().filter_map(Histogram::min).min()?;
    let high = curves().filter_map(Histogram::max).max()?;
    let axis = LogAxis::new(low, high, (LEFT, RIGHT));
    let words = words(recording, run, group, shown, drawable.len());
    Some(frame::framed(WIDTH, BOTTOM + 42.0, &words, |canvas| {
        grid(canvas, &axis);
        for (number, histogram) in curves().enumerate().collect::<Vec<_>>().into_iter().rev() {
            curve(canvas, &axis, histogram, number);
        }
        for (number, row) in shown.iter().enumerate() {
            legend(canvas, row, number);
        }
    }))
}

/// A histogram with something in its buckets.
fn distribution(row: &Syscall) -> Option<&Histogram> {
    row.latency.as_ref().filter(|latency| latency.buckets().next().is_some())
}

fn words(recording: &Recording, run: &str, group: &Group, shown: &[&Syscall], of: usize) -> Words {
    let calls = shown.iter().fold(0u64, |sum, row| sum.saturating_add(row.calls));
    let missing =
        shown.iter().fold(0u64, |sum, row| sum.saturating_add(row.latency.as_ref().map_or(0, Histogram::missing)));
    let which = if of > shown.len() {
        format!("the {} busiest of {of} working system calls", shown.len())
    } else {
        format!("{}{}", if of > 1 { "all " } else { "" }, units::counted(of as u64, "working system call"))
    };
    let error = shown.iter().filter_map(|row| distribution(row)).map(Histogram::relative_error).fold(0.0, f64::max);
    let lost = if missing > 0 { format!(", {} in no bucket", units::count(missing)) } else { String::new() };
    Words {
        title: format!("How long the system calls of the {} took", frame::whose(&group.name, &group.label)),
        subtitle: format!("Share of calls that took at most a given wall time; {which}, by total time"),
        caption: vec![
            frame::how_measured(recording, run),
            format!(
                "{} in these curves{lost}, {}, times within {}; calls that wait by design are left out",
                units::counted(calls, "call"),
                frame::clock(recording),
                units::percent(error),
            ),
        ],
    }
}

fn height(share: f64) -> f64 {
    BOTTOM - share * (BOTTOM - TOP)
}

pub(super) fn grid(canvas: &Canvas, axis: &LogAxis) {
    for tick in axis.minor_ticks() {
        canvas.line(&[(axis.at(tick), TOP), (axis.at(tick), BOTTOM)], palette::FAINT, 1.0);
    }
    for tick in axis.ticks() {
        canvas.line(&[(axis.at(tick), TOP), (axis.at(tick), BOTTOM + 4.0)], palette::GRID, 1.0);
        frame::tick_label(canvas, (axis.at(tick), BOTTOM + 14.0), &units::duration_f64(tick));
    }
    for percent in [0u8, 25, 50, 75, 100] {
        let y = height(f64::from(percent) / 100.0);
        canvas.line(&[(LEFT - 4.0, y), (RIGHT, y)], palette::GRID, 1.0);
        let look = Look::new(frame::TICK, palette::TEXT).right();
        canvas.text((LEFT - 8.0, y), &format!("{percent} %"), look);
    }
    for (share, name) in GUIDES {
        canvas.dashes((LEFT, height(share)), RIGHT, palette::AXIS);
        canvas.text((RIGHT + 6.0, height(share)), name, Look::new(frame::TICK, palette::QUIET));
    }
    canvas.line(&[(LEFT, TOP), (LEFT, BOTTOM), (RIGHT, BOTTOM)], palette::AXIS, 1.0);
    canvas.text((MARGIN, TOP - 14.0), "share of calls", Look::new(frame::VALUE, palette::QUIET));
    let middle = f64::midpoint(LEFT, RIGHT);
    let look = Look::new(frame::VALUE, palette::QUIET).centered();
    canvas.text((middle, BOTTOM + 34.0), "wall time in the call, logarithmic", look);
}

pub(super) fn curve(canvas: &Canvas, axis: &LogAxis, histogram: &Histogram, number: usize) {
    let color = palette::CURVES[number];
    canvas.line(&points(axis, histogram), color, 2.0);
    for (share, _) in GUIDES {
        if let Some(ns) = histogram.quantile(share) {
            canvas.mark(MARKS[number % MARKS.len()], (axis.at(ns as f64), height(share)), color);
        }
    }
}

/// Values are taken as evenly spread within their bucket, and within minimum and maximum.
fn points(axis: &LogAxis, histogram: &Histogram) -> Vec<(f64, f64)> {
    let total: u64 = histogram.buckets().map(|(_, _, count)| count).sum();
    let (min, max) = (histogram.min().unwrap_or(0), histogram.max().unwrap_or(0));
    let inside = |ns: u64| axis.at(ns.clamp(min, max) as f64);
    let mut points = vec![(inside(min), height(0.0))];
    let mut seen = 0;
    for (low, width, count) in histogram.buckets() {
        points.push((inside(low), height(seen as f64 / total as f64)));
        seen += count;
        points.push((inside(low.saturating_add(width)), height(seen as f64 / total as f64)));
    }
    points
}

fn legend(canvas: &Canvas, row: &Syscall, number: usize) {
    let y = TOP + 6.0 + LEGEND_PITCH * number as f64;
    let color = palette::CURVES[number];
    canvas.line(&[(LEGEND, y), (LEGEND + 24.0, y)], color, 2.0);
    canvas.mark(MARKS[number % MARKS.len()], (LEGEND + 12.0, y), color);
    let x = LEGEND + 32.0;
    let name = Look::new(frame::NAME, palette::TEXT).bold();
    // Bold letters are wider than the estimate.
    canvas.text((x, y), &clipped(&row.name, name.columns_in((WIDTH - MARGIN - x) * 0.9)), name);
    let quantile = |q| row.quantile(q).map_or("-".to_owned(), units::duration);
    // The count comes last: it is what may be cut off when it has many digits.
    let figures = Look::new(frame::TICK, palette::QUIET);
    let text = format!("p50 {}, p99 {}, {}", quantile(0.5), quantile(0.99), units::counted(row.calls, "call"));
    canvas.text((x, y + 16.0), &clipped(&text, figures.columns_in(WIDTH - 6.0 - x)), figures);
}
