//! System calls by thread or process, and whether they add up.

use std::collections::{BTreeMap, BTreeSet};

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

/// Heading, and the number of a row's owner.
type Id = (&'static str, fn(&SplitRow) -> u32);

pub(super) fn write(page: &mut Page, group: &Group, split: &Split, style: &Style) {
    if split.rows.is_empty() {
        return;
    }
    page.blank();
    page.line(Tone::Strong, &format!("  by {}", clipped(&split.by, super::NAME_COLUMNS)));
    // Other tools tell threads without their processes.
    let ids: [Id; 2] = [("pid", |row| row.pid), ("thread", |row| row.tid)];
    let ids: Vec<_> = ids.into_iter().filter(|(_, id)| split.rows.iter().any(|row| id(row) != 0)).collect();
    let header: Vec<&str> = std::iter::once("command")
        .chain(ids.iter().map(|&(name, _)| name))
        .chain(["syscall", "calls", "errors", "total", "mean", "max"])
        .collect();
    let mut grid = Grid::new(&[0, 1 + ids.len()], &header);
    let commands = Commands::of(group, split);
    for row in split.rows.iter().take(ROWS_SHOWN) {
        let ids = ids.iter().map(|(_, id)| id(row).to_string());
        grid.row(Tone::Plain, std::iter::once(commands.shown(row)).chain(ids).chain(figures(row)).collect());
    }
    page.block(&grid.render(style));
    if split.rows.len() > ROWS_SHOWN {
        page.line(Tone::Quiet, &format!("  and {} more rows in the recording", split.rows.len() - ROWS_SHOWN));
    }
    sum(page, group, split);
}

/// Names of each thread or process: `exec` gives it a further one.
struct Commands<'a> {
    /// The name that a traced program has in the end.
    program: &'a str,
    names: BTreeMap<(u32, u32), BTreeSet<&'a str>>,
}

impl<'a> Commands<'a> {
    fn of(group: &'a Group, split: &'a Split) -> Self {
        let mut names: BTreeMap<_, BTreeSet<&str>> = BTreeMap::new();
        for row in &split.rows {
            names.entry((row.pid, row.tid)).or_default().insert(&row.command);
        }
        Self { program: &group.label, names }
    }

    /// All names of a row's owner, where it is known which came last; else the row's own.
    fn shown(&self, row: &SplitRow) -> String {
        let names = self.names.get(&(row.pid, row.tid));
        // The kernel cuts names at 15 bytes.
        let is_last = |name: &&&str| !name.is_empty() && self.program.starts_with(**name);
        let Some(last) = names.filter(|names| names.len() == 2).and_then(|names| names.iter().find(is_last)) else {
            return clipped(&row.command, super::NAME_COLUMNS);
        };
        let first = names.into_iter().flatten().find(|name| *name != last).unwrap_or(last);
        format!("{} -> {}", clipped(first, super::NAME_COLUMNS), clipped(last, super::NAME_COLUMNS))
    }
}

fn figures(row: &SplitRow) -> [String; 6] {
    let mean = if row.calls > 0 { units::duration_f64(row.total_ns as f64 / row.calls as f64) } else { "-".into() };
    [
        clipped(&row.name, super::NAME_COLUMNS),
        units::count(row.calls),
        units::count(row.errors),
        units::duration(row.total_ns),
        mean,
        units::duration(row.max_ns),
    ]
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
