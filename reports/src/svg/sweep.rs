//! Runs that differ in one setting: what it does to the rate and to the slowest requests, with the range of repeats.

use std::collections::BTreeMap;

use super::{
    axis::{LinearAxis, LogAxis},
    canvas::{Canvas, Look, MARKS},
    figure::{self, Figure},
    frame::{self, Key, Words},
    palette,
};
use crate::{
    bench::BenchSettings,
    printable::clipped,
    stats::RunFigures,
    table::{Cell, Table},
    units,
};

const WIDTH: f64 = 900.0;
const LEFT: f64 = 92.0;
const RIGHT: f64 = 620.0;
const LEGEND: f64 = 644.0;
const HEIGHT: f64 = 190.0;
const PITCH: f64 = HEIGHT + 58.0;
const TOP: f64 = frame::TOP + 14.0;
const CURVES: usize = 5;

/// A setting that a sweep may go over.
struct Setting {
    name: &'static str,
    of: fn(&BenchSettings) -> u64,
}

/// The first of these that varies is the sweep's; the others tell its curves apart.
const SETTINGS: [Setting; 3] = [
    Setting { name: "connections", of: |settings| settings.connections.into() },
    Setting { name: "payload bytes", of: |settings| settings.payload_bytes.into() },
    Setting { name: "client threads", of: |settings| settings.threads.into() },
];

/// What the repeats of one point gave, in rising order.
#[derive(Default)]
struct Point {
    rates: Vec<f64>,
    p99_ns: Vec<f64>,
}

type Curve = BTreeMap<u64, Point>;

/// The chart of all runs; `None` when no setting of the load varies among them.
#[must_use]
pub fn sweep(runs: &[RunFigures]) -> Option<Figure<'static>> {
    let settings: Vec<&BenchSettings> = runs.iter().filter_map(|run| run.settings.as_ref()).collect();
    let varies = |setting: &&Setting| settings.windows(2).any(|pair| (setting.of)(pair[0]) != (setting.of)(pair[1]));
    let varying: Vec<&Setting> = SETTINGS.iter().filter(varies).collect();
    let (swept, others) = varying.split_first()?;
    let curves = curves(runs, swept, others);
    let x = || curves.iter().flat_map(|(_, curve)| curve.keys().copied());
    let time = LogAxis::new(x().min()?, x().max()?, (LEFT, RIGHT));
    let measured: usize = curves.iter().flat_map(|(_, curve)| curve.values().map(|point| point.rates.len())).sum();
    let left_out = curves.len().saturating_sub(CURVES);
    let also = if left_out > 0 { format!("; {left_out} further curves are in the data only") } else { String::new() };
    let words = Words {
        title: format!("What more {} do to rate and latency", swept.name),
        subtitle: format!(
            "Median of the runs with a given number of {}; the strokes reach from the lowest to the highest run",
            swept.name
        ),
        caption: vec![format!(
            "{}; p99 only where a run had 100 requests{also}",
            units::counted(measured as u64, "run")
        )],
    };
    let curves = std::rc::Rc::new(curves);
    let told = std::rc::Rc::clone(&curves);
    let name = swept.name;
    let paint = move |canvas: &Canvas| {
        let shown = &curves[..curves.len().min(CURVES)];
        strip(
            canvas,
            &time,
            shown,
            TOP,
            &Measure { heading: "requests per second", of: |p| &p.rates, show: units::rate },
        );
        let p99 = Measure { heading: "request p99", of: |p| &p.p99_ns, show: units::duration_f64 };
        strip(canvas, &time, shown, TOP + PITCH, &p99);
        let look = Look::new(frame::VALUE, palette::QUIET).centered();
        canvas.text((f64::midpoint(LEFT, RIGHT), TOP + 2.0 * PITCH - 18.0), &format!("{name}, logarithmic"), look);
        for (number, (name, curve)) in shown.iter().enumerate() {
            let remark = units::counted(curve.values().map(|point| point.rates.len() as u64).sum(), "run");
            let at = (LEGEND, TOP + 6.0 + 36.0 * number as f64);
            frame::key(canvas, at, WIDTH - 6.0, &Key { number, name, remark: &remark });
        }
    };
    Some(Figure::new("sweep", words, (WIDTH, TOP + 2.0 * PITCH), paint, move || data(&told, name)))
}

fn curves(runs: &[RunFigures], swept: &Setting, others: &[&Setting]) -> Vec<(String, Curve)> {
    let mut curves: BTreeMap<String, Curve> = BTreeMap::new();
    for run in runs {
        let (Some(settings), Some(rate)) = (&run.settings, run.requests_per_s) else { continue };
        let mut name = vec![clipped(&run.server, 24), settings.mode.name().to_owned()];
        name.extend(others.iter().map(|other| format!("{} {}", units::count((other.of)(settings)), other.name)));
        name.retain(|part| !part.is_empty());
        let point = curves.entry(name.join(", ")).or_default().entry((swept.of)(settings)).or_default();
        point.rates.push(rate);
        point.p99_ns.extend(run.request_ns[1].map(|ns| ns as f64));
    }
    for point in curves.values_mut().flat_map(BTreeMap::values_mut) {
        point.rates.sort_by(f64::total_cmp);
        point.p99_ns.sort_by(f64::total_cmp);
    }
    let mut curves: Vec<_> = curves.into_iter().filter(|(_, curve)| curve.len() > 1).collect();
    curves.sort_by_key(|(_, curve)| std::cmp::Reverse(curve.len()));
    curves
}

struct Measure {
    heading: &'static str,
    of: fn(&Point) -> &[f64],
    show: fn(f64) -> String,
}

fn strip(canvas: &Canvas, x: &LogAxis, curves: &[(String, Curve)], top: f64, measure: &Measure) {
    let bottom = top + HEIGHT;
    let values = curves.iter().flat_map(|(_, curve)| curve.values().flat_map(|point| (measure.of)(point)));
    let scale = LinearAxis::new(values.copied().fold(0.0, f64::max), (0.0, HEIGHT - 6.0));
    canvas.text((LEFT, top - 14.0), measure.heading, Look::new(frame::NAME, palette::TEXT).bold());
    for tick in scale.ticks(24.0) {
        let y = bottom - scale.length(tick);
        canvas.line(&[(LEFT - 4.0, y), (RIGHT, y)], palette::GRID, 1.0);
        frame::value_tick(canvas, (LEFT - 8.0, y), tick, measure.show);
    }
    for tick in x.ticks() {
        canvas.line(&[(x.at(tick), top), (x.at(tick), bottom + 4.0)], palette::GRID, 1.0);
        frame::tick_label(canvas, (x.at(tick), bottom + 14.0), &whole(tick));
    }
    canvas.line(&[(LEFT, top), (LEFT, bottom), (RIGHT, bottom)], palette::AXIS, 1.0);
    for (number, (_, curve)) in curves.iter().enumerate() {
        let color = palette::CURVES[number];
        let y = |value: f64| bottom - scale.length(value);
        let mut medians = Vec::new();
        for (&value, point) in curve {
            let repeats = (measure.of)(point);
            let (Some(lowest), Some(highest), Some(middle)) = (repeats.first(), repeats.last(), median(repeats)) else {
                continue;
            };
            let at = x.at(value as f64);
            canvas.line(&[(at, y(*lowest)), (at, y(*highest))], color, 1.2);
            medians.push((at, y(middle)));
        }
        canvas.line(&medians, color, 1.8);
        for &at in &medians {
            canvas.mark(MARKS[number % MARKS.len()], at, color);
        }
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a setting that was a whole number")]
fn whole(value: f64) -> String {
    if value >= 1e7 { format!("{value:.0e}") } else { units::count(value.round() as u64) }
}

/// Of values in rising order.
fn median(values: &[f64]) -> Option<f64> {
    let upper = *values.get(values.len() / 2)?;
    Some(if values.len() % 2 == 1 { upper } else { f64::midpoint(values[values.len() / 2 - 1], upper) })
}

fn data(curves: &[(String, Curve)], swept: &str) -> Table {
    let mut table = figure::data(&[("curve", ""), (swept, ""), ("runs", "")]);
    for heading in ["lowest", "median", "highest"] {
        table.column(&format!("{heading} requests"), "per_s");
    }
    for heading in ["lowest", "median", "highest"] {
        table.column(&format!("{heading} p99"), "ns");
    }
    for (name, curve) in curves {
        for (value, point) in curve {
            let range = |values: &[f64], cell: fn(f64) -> Cell| {
                let all = [values.first().copied(), median(values), values.last().copied()];
                all.map(|value| value.map_or(Cell::Missing, cell))
            };
            let mut cells = vec![Cell::text(name), Cell::Count(*value), Cell::Count(point.rates.len() as u64)];
            cells.extend(range(&point.rates, Cell::Number));
            cells.extend(range(&point.p99_ns, Cell::Ns));
            table.row(cells);
        }
    }
    table
}
