//! Latency of a group's busiest system calls over the run, as a heat map: when was it slow, and for how many.

use std::cmp::Reverse;

use probes::bucket;

use super::{
    axis::{LinearAxis, LogAxis},
    canvas::{Canvas, Look},
    figure::{self, Figure},
    frame::{self, Words},
    intervals::Columns,
    palette,
};
use crate::{
    histogram::Histogram,
    printable::clipped,
    recording::{Group, Recording, SERIES_SUB_BITS, SyscallSeries},
    table::{Cell, Table},
    units,
};

const WIDTH: f64 = 860.0;
const LEFT: f64 = 92.0;
const RIGHT: f64 = 770.0;
const HEIGHT: f64 = 150.0;
const PITCH: f64 = HEIGHT + 56.0;
const TOP: f64 = frame::TOP + 38.0;
const COLUMNS: u32 = 80;
/// Calls that have a map of their own.
const MAPS: usize = 4;

/// One system call's map.
struct Map {
    name: String,
    /// Column, and calls by bucket, in order.
    cells: Vec<(usize, Histogram)>,
}

/// The chart for one group of the run named `run`; `None` without a series of it.
#[must_use]
pub fn heat(recording: &Recording, run: &str, group: &Group) -> Option<Figure<'static>> {
    let all = recording.series.as_ref()?;
    let columns = Columns::of(all, recording.duration_ns, COLUMNS)?;
    let series = all.groups.iter().find(|series| series.name == group.name)?;
    let total = |call: &SyscallSeries| {
        let waits = group.syscall(&call.name).is_some_and(crate::recording::Syscall::waits_by_design);
        let total = call.points.iter().fold(0u64, |sum, point| sum.saturating_add(point.total_ns));
        if waits { 0 } else { total }
    };
    let mut calls: Vec<_> =
        series.syscalls.iter().map(|call| (total(call), call)).filter(|(total, _)| *total > 0).collect();
    calls.sort_by(|a, b| (Reverse(a.0), &a.1.name).cmp(&(Reverse(b.0), &b.1.name)));
    let maps = calls.iter().map(|(_, call)| Map::of(call, &columns)).filter(|map| !map.cells.is_empty());
    let maps: Vec<Map> = maps.take(MAPS).collect();
    let low = histograms(&maps).filter_map(|cell| cell.buckets().next()).map(|(low, _, _)| low).min()?;
    let high =
        histograms(&maps).filter_map(|cell| cell.buckets().last()).map(|(low, width, _)| low + (width - 1)).max()?;
    let most = histograms(&maps).flat_map(|cell| cell.buckets().map(|(_, _, count)| count)).max()?;
    let words = words(recording, run, group, &columns, maps.len());
    let bottom = TOP + PITCH * maps.len() as f64;
    let scale = Scale { low, high, most };
    let (maps, columns) = (std::rc::Rc::new(maps), std::rc::Rc::new(columns));
    let (told, told_columns) = (std::rc::Rc::clone(&maps), std::rc::Rc::clone(&columns));
    let paint = move |canvas: &Canvas| {
        legend(canvas, scale.most);
        for (number, map) in maps.iter().enumerate() {
            map.paint(canvas, &columns, &scale, TOP + PITCH * number as f64);
        }
        let look = Look::new(frame::VALUE, palette::QUIET).centered();
        canvas.text((f64::midpoint(LEFT, RIGHT), bottom - 18.0), "time since the start", look);
    };
    Some(Figure::new("heat", words, (WIDTH, bottom), paint, move || data(&told, &told_columns)))
}

fn histograms(maps: &[Map]) -> impl Iterator<Item = &Histogram> {
    maps.iter().flat_map(|map| map.cells.iter().map(|(_, cell)| cell))
}

fn words(recording: &Recording, run: &str, group: &Group, columns: &Columns, maps: usize) -> Words {
    Words {
        title: format!("When the system calls of the {} were slow", frame::whose(&group.name, &group.label)),
        subtitle: "Each cell: calls that returned then and took that long; darker is more".into(),
        caption: vec![
            frame::how_measured(recording, run),
            format!(
                "{} with the most time, calls that wait by design left out; {} and a quarter of a doubling a cell, {}",
                units::counted(maps as u64, "call"),
                units::duration_f64(columns.whole_ns()),
                frame::clock(recording),
            ),
        ],
    }
}

impl Map {
    fn of(call: &SyscallSeries, columns: &Columns) -> Self {
        let mut cells: Vec<(usize, Histogram)> = Vec::new();
        let end = bucket::buckets_for_u64(u32::from(SERIES_SUB_BITS));
        for point in &call.points {
            let column = columns.column(point);
            if cells.last().is_none_or(|(last, _)| *last != column) {
                cells.push((column, Histogram::new(SERIES_SUB_BITS)));
            }
            let Some((_, latest)) = cells.last_mut() else { continue };
            for &(index, count) in point.buckets.iter().filter(|(index, _)| (*index as usize) < end) {
                let (low, width) = bucket::bounds(index, u32::from(SERIES_SUB_BITS));
                latest.record_many(low + (width - 1) / 2, count);
            }
        }
        cells.retain(|(_, cell)| cell.count() > 0);
        Self { name: call.name.clone(), cells }
    }

    fn paint(&self, canvas: &Canvas, columns: &Columns, scale: &Scale, top: f64) {
        let bottom = top + HEIGHT;
        let end = columns.start_ns(columns.number() - 1) + columns.span_ns(columns.number() - 1);
        let time = LinearAxis::new(end, (LEFT, RIGHT));
        let latency = LogAxis::upright(scale.low, scale.high, (bottom, top));
        let name = Look::new(frame::NAME, palette::TEXT).bold();
        canvas.text((LEFT, top - 14.0), &clipped(&self.name, name.columns_in((RIGHT - LEFT) * 0.9)), name);
        for tick in latency.ticks() {
            canvas.line(&[(LEFT - 4.0, latency.at(tick)), (RIGHT, latency.at(tick))], palette::GRID, 1.0);
            frame::value_tick(canvas, (LEFT - 8.0, latency.at(tick)), tick, units::duration_f64);
        }
        for tick in time.ticks(frame::TICK_LOOK.pixels(&units::duration_f64(end))) {
            canvas.line(&[(time.at(tick), bottom), (time.at(tick), bottom + 4.0)], palette::AXIS, 1.0);
            frame::tick_label(canvas, (time.at(tick), bottom + 14.0), &units::duration_f64(tick));
        }
        let mut levels: [Vec<_>; palette::HEAT.len()] = Default::default();
        for (column, cell) in &self.cells {
            let left = time.at(columns.start_ns(*column));
            let width = time.length(columns.span_ns(*column)).max(1.0);
            for (low, bucket, count) in cell.buckets() {
                let (lower, upper) = (latency.at(low as f64), latency.at(low as f64 + bucket as f64));
                levels[scale.level(count)].push(((left, upper), (width, (lower - upper).max(1.0))));
            }
        }
        for (cells, color) in levels.iter().zip(palette::HEAT) {
            canvas.cells(cells, color);
        }
        canvas.line(&[(LEFT, top), (LEFT, bottom), (RIGHT, bottom)], palette::AXIS, 1.0);
    }
}

/// Common to all maps of a figure.
struct Scale {
    low: u64,
    high: u64,
    /// Calls in the fullest cell.
    most: u64,
}

impl Scale {
    /// By the logarithm: a cell of one call can be seen beside one of thousands.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to the number of levels")]
    fn level(&self, count: u64) -> usize {
        let part = (count.max(1) as f64).ln() / (self.most.max(2) as f64).ln();
        ((part * palette::HEAT.len() as f64) as usize).min(palette::HEAT.len() - 1)
    }
}

fn legend(canvas: &Canvas, most: u64) {
    let y = frame::TOP - 4.0;
    let look = Look::new(frame::TICK, palette::QUIET);
    canvas.text((LEFT, y), "calls in a cell: 1", look);
    let mut x = LEFT + look.pixels("calls in a cell: 1") + 4.0;
    for color in palette::HEAT {
        canvas.bar((x, y - 6.0), (18.0, 12.0), color);
        x += 18.0;
    }
    canvas.text((x + 8.0, y), &units::count(most), look);
}

fn data(maps: &[Map], columns: &Columns) -> Table {
    let mut table = figure::data(&[
        ("syscall", ""),
        ("time", "ns"),
        ("calls", ""),
        ("p50", "ns"),
        ("p99", "ns"),
        ("slowest", "ns"),
    ]);
    for map in maps {
        for (column, cell) in &map.cells {
            table.row(vec![
                Cell::text(&map.name),
                Cell::Ns(columns.start_ns(*column)),
                Cell::Count(cell.count()),
                Cell::ns(cell.quantile(0.5)),
                Cell::ns(cell.quantile(0.99)),
                Cell::ns(cell.max()),
            ]);
        }
    }
    table
}
