//! The system-call table of a group, with what its rows cannot say in footnotes.

use super::{
    grid::Grid,
    page::Page,
    style::{Style, Tone},
};
use crate::{
    histogram::Histogram,
    printable::clipped,
    recording::{Group, InFlight, Syscall},
    stats::ByTime,
    units,
};

/// Calls in progress at the end that are listed one by one.
const IN_FLIGHT_SHOWN: usize = 5;
/// What a narrow terminal does without: the distribution still has its middle and its end.
const P90: usize = 7;
const MEAN: usize = 5;
const COLUMNS: [&str; 10] = ["syscall", "calls", "errors", "total", "share", "mean", "p50", "p90", "p99", "max"];

pub(super) fn write(page: &mut Page, group: &Group, style: &Style) {
    let calls = ByTime::of(group);
    if calls.working.is_empty() && calls.waiting.is_empty() {
        page.line(Tone::Plain, "  no system call returned");
    } else {
        page.block(&table(&calls).render(style));
    }
    footnotes(page, group, &calls);
    if group.begun_before > 0 {
        let calls = units::counted(group.begun_before, "call");
        page.prose(Tone::Quiet, 4, &format!("  {calls} begun before the start returned; which is not known"));
    }
    in_flight(page, &group.in_flight);
}

fn table(calls: &ByTime) -> Grid {
    let mut grid = Grid::new(&[0], &COLUMNS).sparing(&[P90, MEAN]);
    let working_ns = calls.working_ns();
    for row in &calls.working {
        let share = row.time_ns() as f64 / (working_ns as f64).max(1.0);
        grid.row(Tone::Plain, cells(row, "", &units::percent(share)));
    }
    if !calls.working.is_empty() {
        grid.row(Tone::Strong, total_row(calls, working_ns));
    }
    if !calls.waiting.is_empty() {
        grid.rule();
    }
    for row in &calls.waiting {
        grid.row(Tone::Quiet, cells(row, " *", ""));
    }
    grid
}

fn cells(row: &Syscall, mark: &str, share: &str) -> Vec<String> {
    let duration = |ns: Option<u64>| ns.map_or("-".to_owned(), units::duration);
    vec![
        format!("{}{mark}", clipped(&row.name, super::NAME_COLUMNS)),
        units::count(row.calls),
        units::count(row.errors),
        duration(row.total_ns),
        share.to_owned(),
        row.mean_ns().map_or("-".to_owned(), units::duration_f64),
        duration(row.quantile(0.5)),
        duration(row.quantile(0.9)),
        duration(row.quantile(0.99)),
        duration(row.latency.as_ref().and_then(Histogram::max)),
    ]
}

/// Of the working calls. No percentiles: those of a mixture of calls would say nothing.
fn total_row(calls: &ByTime, working_ns: u64) -> Vec<String> {
    let sum = |figure: fn(&Syscall) -> u64| calls.working.iter().fold(0u64, |sum, row| sum.saturating_add(figure(row)));
    let share = if working_ns > 0 { units::percent(1.0) } else { String::new() };
    let mut row = vec![
        "total".into(),
        units::count(sum(|row| row.calls)),
        units::count(sum(|row| row.errors)),
        units::duration(working_ns),
        share,
    ];
    row.resize(COLUMNS.len(), String::new());
    row
}

fn footnotes(page: &mut Page, group: &Group, calls: &ByTime) {
    let mut note = |text: String| page.prose(Tone::Quiet, 4, &format!("  {text}"));
    if !calls.waiting.is_empty() {
        note("* waits by design: its time tells how idle the caller was, so it is outside total and share".into());
    }
    let has_errors = |row: &&Syscall| row.errors > 0;
    if calls.working.iter().chain(&calls.waiting).any(has_errors) {
        note("errors: returned error numbers, the EAGAIN and EINPROGRESS of non-blocking calls included".into());
    }
    let shown = || calls.working.iter().chain(&calls.waiting);
    if shown().any(|row| row.latency.is_some() && row.quantile(0.99).is_none()) {
        note("- too few calls for this percentile (p99 needs 100)".into());
    }
    for row in &group.syscalls {
        let name = clipped(&row.name, super::NAME_COLUMNS);
        if row.unreturned > 0 {
            let threads = if row.unreturned == 1 { "its thread" } else { "their threads" };
            note(format!("{name}: {} ended {threads}", units::counted(row.unreturned, "call")));
        }
        if row.restarted > 0 {
            note(format!("{name}: {} restarted by the kernel (not errors)", units::counted(row.restarted, "return")));
        }
        if row.begun_before > 0 {
            let calls = units::counted(row.begun_before, "call");
            note(format!("{name}: {calls} begun before the start returned; without a start time not in the table"));
        }
    }
}

fn in_flight(page: &mut Page, calls: &[InFlight]) {
    if calls.is_empty() {
        return;
    }
    let mut oldest_first: Vec<&InFlight> = calls.iter().collect();
    oldest_first.sort_by_key(|call| (std::cmp::Reverse(call.age_ns), call.tid));
    page.line(Tone::Plain, &format!("  {} still in progress at the end:", units::counted(calls.len() as u64, "call")));
    for call in oldest_first.iter().take(IN_FLIGHT_SHOWN) {
        let name = clipped(&call.name, super::NAME_COLUMNS);
        let age = units::duration(call.age_ns);
        let since =
            if call.begun_before { format!("since before the start, {age} ago") } else { format!("for {age} so far") };
        page.line(Tone::Plain, &format!("    {name} in thread {} {since}", call.tid));
    }
    if calls.len() > IN_FLIGHT_SHOWN {
        page.line(Tone::Plain, &format!("    and {} more", calls.len() - IN_FLIGHT_SHOWN));
    }
}
