//! Which system calls a group's time went to: bars by falling total, waiting calls apart.

use super::{
    axis::LinearAxis,
    canvas::{Canvas, Look},
    figure::{self, Figure},
    frame::{self, MARGIN, Words},
    palette,
};
use crate::{
    printable::clipped,
    provenance,
    recording::{Group, Recording, Syscall},
    stats::ByTime,
    table::{Cell, Table},
    units,
};

const WIDTH: f64 = 1000.0;
const BARS: f64 = 222.0;
const BARS_END: f64 = 640.0;
const ROW: f64 = 24.0;
const BAR: f64 = 15.0;
/// Bars of each kind; what is beyond is one bar.
const WORKING_SHOWN: usize = 24;
const WAITING_SHOWN: usize = 8;

struct Bar {
    name: String,
    total_ns: u64,
    calls: u64,
    /// Stands for all calls beyond those shown.
    together: bool,
}

/// The chart for one group of the run named `run`; `None` when no call took any time.
#[must_use]
pub fn share<'a>(recording: &'a Recording, run: &str, group: &'a Group) -> Option<Figure<'a>> {
    let by_time = ByTime::of(group);
    let working = bars(&by_time.working, WORKING_SHOWN);
    let waiting = bars(&by_time.waiting, WAITING_SHOWN);
    if working.is_empty() && waiting.is_empty() {
        return None;
    }
    let axis_y = frame::TOP + ROW * working.len() as f64;
    let waiting_top = if working.is_empty() { frame::TOP } else { axis_y + 46.0 };
    let bottom = if waiting.is_empty() { axis_y + 30.0 } else { waiting_top + 22.0 + ROW * waiting.len() as f64 };
    let words = words(recording, run, group, by_time.calls());
    let working_ns = by_time.working_ns();
    let paint = move |canvas: &Canvas| {
        if !working.is_empty() {
            working_section(canvas, &working, working_ns, axis_y);
        }
        if !waiting.is_empty() {
            waiting_section(canvas, &waiting, waiting_top);
        }
    };
    Some(Figure::new("share", words, (WIDTH, bottom), paint, move || data(&by_time)))
}

fn data(calls: &ByTime) -> Table {
    let mut table = figure::data(&[("syscall", ""), ("calls", ""), ("total", "ns"), ("share", "of working time")]);
    let all = (calls.working_ns() as f64).max(1.0);
    for row in &calls.working {
        let share = Cell::Share(row.time_ns() as f64 / all);
        table.row(vec![Cell::text(&row.name), Cell::Count(row.calls), Cell::ns(row.total_ns), share]);
    }
    for row in &calls.waiting {
        let name = Cell::Text(format!("{} (waits by design)", row.name));
        table.row(vec![name, Cell::Count(row.calls), Cell::ns(row.total_ns), Cell::Missing]);
    }
    table
}

/// In order, the smallest ones together; nothing that took no time.
fn bars(rows: &[&Syscall], shown: usize) -> Vec<Bar> {
    let rows: Vec<_> = rows.iter().filter(|row| row.time_ns() > 0).collect();
    let single = if rows.len() > shown { shown - 1 } else { rows.len() };
    let bar =
        |row: &&&Syscall| Bar { name: row.name.clone(), total_ns: row.time_ns(), calls: row.calls, together: false };
    let mut bars: Vec<Bar> = rows[..single].iter().map(bar).collect();
    let others = &rows[single..];
    if !others.is_empty() {
        let sum = |figure: fn(&Syscall) -> u64| others.iter().fold(0u64, |sum, row| sum.saturating_add(figure(row)));
        let name = format!("{} others", others.len());
        bars.push(Bar { name, total_ns: sum(Syscall::time_ns), calls: sum(|row| row.calls), together: true });
    }
    bars
}

fn words(recording: &Recording, run: &str, group: &Group, calls: u64) -> Words {
    Words {
        title: format!("Where the {} spent its system-call time", frame::whose(&group.name, &group.label)),
        subtitle: format!(
            "Share of the {} in working system calls; calls that wait by design are shown apart",
            provenance::times(recording)
        ),
        caption: vec![
            frame::how_measured(recording, run),
            match &recording.origin {
                Some(_) => units::counted(calls, "call"),
                None => format!(
                    "{} in {}, {}; wall time: it includes waiting for a CPU",
                    units::counted(calls, "call"),
                    units::duration(recording.duration_ns),
                    frame::clock(recording),
                ),
            },
        ],
    }
}

fn working_section(canvas: &Canvas, bars: &[Bar], total_ns: u64, axis_y: f64) {
    let total = (total_ns as f64).max(1.0);
    let longest = bars.iter().map(|bar| bar.total_ns).max().unwrap_or(0) as f64 / total;
    let label = frame::TICK_LOOK.pixels("100.0 %");
    let axis = LinearAxis::new(longest, (BARS, BARS_END)).rounded_up(label);
    for tick in axis.ticks(label) {
        canvas.line(&[(axis.at(tick), frame::TOP - 4.0), (axis.at(tick), axis_y + 4.0)], palette::GRID, 1.0);
        frame::tick_label(canvas, (axis.at(tick), axis_y + 14.0), &units::percent(tick));
    }
    for (number, bar) in bars.iter().enumerate() {
        let y = frame::TOP + ROW * number as f64;
        let share = bar.total_ns as f64 / total;
        let length = axis.length(share).max(1.0);
        canvas.bar(
            (BARS, y + (ROW - BAR) / 2.0),
            (length, BAR),
            if bar.together { palette::PALE_BLUE } else { palette::BLUE },
        );
        labels(canvas, bar, y, length, &format!("{}, ", units::percent(share)));
    }
    canvas.line(&[(BARS, frame::TOP - 4.0), (BARS, axis_y)], palette::AXIS, 1.0);
}

fn waiting_section(canvas: &Canvas, bars: &[Bar], top: f64) {
    let longest = bars.iter().map(|bar| bar.total_ns).max().unwrap_or(0) as f64;
    let axis = LinearAxis::new(longest, (BARS, BARS_END));
    let heading = Look::new(frame::NAME, palette::QUIET);
    canvas.text(
        (MARGIN, top + 6.0),
        "Waiting by design: bars relative to the longest of these, not to those above",
        heading,
    );
    for (number, bar) in bars.iter().enumerate() {
        let y = top + 22.0 + ROW * number as f64;
        let length = axis.length(bar.total_ns as f64).max(1.0);
        canvas.hatched_bar((BARS, y + (ROW - BAR) / 2.0), (length, BAR), palette::WAITING);
        labels(canvas, bar, y, length, "");
    }
}

fn labels(canvas: &Canvas, bar: &Bar, y: f64, length: f64, share: &str) {
    let middle = y + ROW / 2.0;
    let name = Look::new(frame::NAME, palette::TEXT).right();
    canvas.text((BARS - 10.0, middle), &clipped(&bar.name, name.columns_in(BARS - 10.0 - MARGIN)), name);
    let text = format!("{share}{}, {}", units::duration(bar.total_ns), units::counted(bar.calls, "call"));
    frame::value_label(canvas, (BARS + length + 8.0, middle), WIDTH - 4.0, &text);
}
