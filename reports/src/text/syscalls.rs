//! The system-call table of a group.

use super::{
    column::{Column, label},
    footnotes,
    grid::Grid,
    page::Page,
    style::{Style, Tone},
};
use crate::{
    histogram::Histogram,
    recording::{Group, Syscall},
    stats::ByTime,
    units,
};

/// Which columns, and the one that decides the order of rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct View {
    /// Columns from left to right; the usual ones when empty.
    pub columns: Vec<Column>,
    /// Rows are sorted by it.
    pub sort: Column,
    /// Every call has its row, those below 0.1 % of the time too.
    pub all: bool,
}

impl Default for View {
    fn default() -> Self {
        Self { columns: Vec::new(), sort: Column::Total, all: false }
    }
}

/// Calls with less than these parts of the working calls' time and number are named in one line: both, because one call
/// that hangs makes the time of all others small. Two or fewer have their rows.
const RARE: f64 = 0.001;
const RARE_CALLS: f64 = 0.01;
const FEW: usize = 2;
/// Names in that line.
const RARE_NAMED: usize = 12;

const USUAL: [Column; 11] = [
    Column::Syscall,
    Column::Calls,
    Column::Errors,
    Column::Total,
    Column::Share,
    Column::Mean,
    Column::P50,
    Column::P90,
    Column::P99,
    Column::Max,
    Column::OnCpu,
];
/// Where no clock was read.
const COUNTS: [Column; 3] = [Column::Syscall, Column::Calls, Column::Errors];
/// What a narrow terminal does without: the distribution still has its middle and its end.
const SPARE: [Column; 3] = [Column::P90, Column::Mean, Column::OnCpu];

pub(super) fn write(page: &mut Page, group: &Group, view: &View, errors: bool, style: &Style) {
    let mut calls = ByTime::of(group);
    for rows in [&mut calls.working, &mut calls.waiting] {
        rows.sort_by(|a, b| view.sort.compare(a, b));
    }
    if calls.working.is_empty() && calls.waiting.is_empty() {
        page.line(Tone::Plain, "  no system call returned");
    } else {
        let mut columns = columns(view, &calls);
        // A 0 would say that none failed.
        columns.retain(|&column| errors || column != Column::Errors);
        // In another order the small ones may be what is looked for.
        let by_time = matches!(view.sort, Column::Total | Column::Share);
        let rare = if view.all || !by_time { Vec::new() } else { rare(&calls) };
        page.block(&table(&calls, &columns, &rare).render(style));
        page.prose(Tone::Quiet, 4, &rare_line(&rare));
    }
    footnotes::write(page, group, &calls);
}

fn columns(view: &View, calls: &ByTime) -> Vec<Column> {
    let mut columns = view.columns.clone();
    let has = |measured: fn(&Syscall) -> bool| calls.working.iter().chain(&calls.waiting).any(|row| measured(row));
    if columns.is_empty() {
        let timed = has(|row| row.total_ns.is_some());
        columns = if timed { USUAL.to_vec() } else { COUNTS.to_vec() };
        if !has(|row| row.on_cpu.is_some()) {
            columns.retain(|&column| column != Column::OnCpu);
        }
        // Another tool's table has extremes at most.
        if !has(|row| row.latency.as_ref().is_some_and(Histogram::is_told)) {
            columns.retain(|column| ![Column::P50, Column::P90, Column::P99].contains(column));
        }
        if !has(|row| row.latency.is_some()) {
            columns.retain(|&column| column != Column::Max);
        }
    }
    // A row without its name says nothing.
    if !columns.contains(&Column::Syscall) {
        columns.insert(0, Column::Syscall);
    }
    columns
}

/// Working calls whose time is next to nothing; their errors are named below the table.
fn rare<'a>(calls: &ByTime<'a>) -> Vec<&'a Syscall> {
    let least_ns = calls.working_ns() as f64 * RARE;
    let fewest = calls.working.iter().map(|row| row.calls as f64).sum::<f64>() * RARE_CALLS;
    let is_rare = |row: &&Syscall| {
        let short = row.total_ns.is_some_and(|total_ns| (total_ns as f64) < least_ns);
        short && (row.calls as f64) < fewest
    };
    let rare: Vec<_> = calls.working.iter().copied().filter(is_rare).collect();
    if rare.len() > FEW { rare } else { Vec::new() }
}

fn rare_line(rare: &[&Syscall]) -> String {
    if rare.is_empty() {
        return String::new();
    }
    let mut names: Vec<_> =
        rare.iter().take(RARE_NAMED).map(|row| format!("{} {}", label(row), units::count(row.calls))).collect();
    if rare.len() > RARE_NAMED {
        names.push(format!("and {} more", rare.len() - RARE_NAMED));
    }
    let kinds = units::counted(rare.len() as u64, "call");
    format!(
        "  {kinds} below {} of the time and {} of the calls each, in the total: {} (--all-calls has their rows)",
        units::percent(RARE),
        units::percent(RARE_CALLS),
        names.join(", ")
    )
}

fn table(calls: &ByTime, columns: &[Column], rare: &[&Syscall]) -> Grid {
    let places = |wanted: &[Column]| -> Vec<usize> {
        wanted.iter().filter_map(|column| columns.iter().position(|other| other == column)).collect()
    };
    let names: Vec<&str> = columns.iter().map(|column| column.name()).collect();
    let mut grid = Grid::new(&places(&[Column::Syscall]), &names).sparing(&places(&SPARE));
    let working_ns = calls.working_ns();
    let line = |row: &Syscall, mark: &str, share| columns.iter().map(|column| column.cell(row, mark, share)).collect();
    for row in calls.working.iter().filter(|row| !rare.iter().any(|other| std::ptr::eq(*other, **row))) {
        let share = row.total_ns.map(|total_ns| total_ns as f64 / (working_ns as f64).max(1.0));
        grid.row(Tone::Plain, line(row, "", share));
    }
    if !calls.working.is_empty() {
        let total = total(calls);
        let share = (working_ns > 0).then_some(1.0);
        grid.row(Tone::Strong, columns.iter().map(|column| total_cell(*column, &total, share)).collect());
    }
    if !calls.waiting.is_empty() {
        grid.rule();
    }
    for row in &calls.waiting {
        grid.row(Tone::Quiet, line(row, " *", None));
    }
    grid
}

/// Of the working calls.
fn total(calls: &ByTime) -> Syscall {
    let sum = |figure: fn(&Syscall) -> u64| calls.working.iter().fold(0u64, |sum, row| sum.saturating_add(figure(row)));
    Syscall {
        name: "total".to_owned(),
        calls: sum(|row| row.calls),
        errors: sum(|row| row.errors),
        restarted: sum(|row| row.restarted),
        total_ns: calls.working.iter().any(|row| row.total_ns.is_some()).then(|| calls.working_ns()),
        blocked_ns: sum(|row| row.blocked_ns),
        runqueue_ns: sum(|row| row.runqueue_ns),
        ..Syscall::default()
    }
}

/// No percentiles: those of a mixture of calls would say nothing.
fn total_cell(column: Column, total: &Syscall, share: Option<f64>) -> String {
    match column {
        Column::Syscall | Column::Calls | Column::Errors | Column::Total | Column::Share | Column::Restarts => {
            column.cell(total, "", share)
        }
        Column::Blocked if total.blocked_ns > 0 => units::duration(total.blocked_ns),
        Column::Runqueue if total.runqueue_ns > 0 => units::duration(total.runqueue_ns),
        _ => String::new(),
    }
}
