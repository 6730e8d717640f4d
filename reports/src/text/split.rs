//! System calls by thread or process, and whether they add up.

use super::{
    grid::Grid,
    page::Page,
    style::{Style, Tone},
};
use crate::{
    printable::clipped,
    recording::{Group, Split, SplitRow},
    units,
};

/// Rows that are printed; the recording has all.
const ROWS_SHOWN: usize = 40;

pub(super) fn write(page: &mut Page, group: &Group, split: &Split, style: &Style) {
    if split.rows.is_empty() {
        return;
    }
    page.blank();
    page.line(Tone::Strong, &format!("  by {}", clipped(&split.by, super::NAME_COLUMNS)));
    let by_thread = split.rows.iter().any(|row| row.tid != 0);
    let header: &[&str] = if by_thread {
        &["command", "pid", "thread", "syscall", "calls", "errors", "total", "mean", "max"]
    } else {
        &["command", "pid", "syscall", "calls", "errors", "total", "mean", "max"]
    };
    let mut grid = Grid::new(&[0, if by_thread { 3 } else { 2 }], header);
    for row in split.rows.iter().take(ROWS_SHOWN) {
        grid.row(Tone::Plain, cells(row, by_thread));
    }
    page.block(&grid.render(style));
    if split.rows.len() > ROWS_SHOWN {
        page.line(Tone::Quiet, &format!("  and {} more rows in the recording", split.rows.len() - ROWS_SHOWN));
    }
    sum(page, group, split);
}

fn cells(row: &SplitRow, by_thread: bool) -> Vec<String> {
    let mean = if row.calls > 0 { units::duration_f64(row.total_ns as f64 / row.calls as f64) } else { "-".into() };
    let mut cells = vec![clipped(&row.command, super::NAME_COLUMNS), row.pid.to_string()];
    if by_thread {
        cells.push(row.tid.to_string());
    }
    cells.extend([
        clipped(&row.name, super::NAME_COLUMNS),
        units::count(row.calls),
        units::count(row.errors),
        units::duration(row.total_ns),
        mean,
        units::duration(row.max_ns),
    ]);
    cells
}

/// The rows against the table above them: a difference is a loss, and is named among them.
fn sum(page: &mut Page, group: &Group, split: &Split) {
    let of_rows = split.rows.iter().fold(0u64, |sum, row| sum.saturating_add(row.calls));
    let of_group = group.syscalls.iter().fold(0u64, |sum, row| sum.saturating_add(row.calls));
    if of_rows == of_group {
        page.line(Tone::Quiet, &format!("  adds up to the table above: {}", units::counted(of_rows, "call")));
    } else {
        let calls = units::counted(of_group.abs_diff(of_rows), "call");
        page.line(Tone::Alarm, &format!("  does not add up to the table above: {calls} apart"));
    }
}
