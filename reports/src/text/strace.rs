//! The table of `strace -c`, for scripts that read it. Layout as strace 6 prints it.

use std::fmt::Write as _;

use crate::{
    printable::printable,
    recording::{Abi, Group, Recording, Syscall},
};

const RULE: &str = "------ ----------- ----------- --------- --------- ----------------\n";

/// One table per group; with several, each under a line that names it.
///
/// Seconds are wall time, as with `strace -c -w`; calls that never returned are not in it.
#[must_use]
pub fn strace(recording: &Recording) -> String {
    let tables = recording.groups.iter().map(|group| {
        let heading = format!("System call usage summary for {} {}:\n", group.name, printable(&group.label));
        let heading = if recording.groups.len() > 1 { heading } else { String::new() };
        heading + &table(group)
    });
    tables.collect::<Vec<_>>().join("\n")
}

fn table(group: &Group) -> String {
    let mut rows: Vec<&Syscall> = group.syscalls.iter().filter(|row| row.calls > 0).collect();
    rows.sort_by(|a, b| (b.time_ns(), b.calls, &a.name).cmp(&(a.time_ns(), a.calls, &b.name)));
    let sum = |figure: fn(&Syscall) -> u64| rows.iter().fold(0u64, |sum, row| sum.saturating_add(figure(row)));
    let total = Syscall {
        name: "total".to_owned(),
        calls: sum(|row| row.calls),
        errors: sum(|row| row.errors),
        total_ns: Some(sum(Syscall::time_ns)),
        ..Syscall::default()
    };
    let mut text = String::from("% time     seconds  usecs/call     calls    errors syscall\n");
    text += RULE;
    for row in &rows {
        line(&mut text, row, total.time_ns());
    }
    text += RULE;
    line(&mut text, &total, total.time_ns());
    text
}

fn line(text: &mut String, row: &Syscall, whole_ns: u64) {
    let share = if whole_ns == 0 { 0.0 } else { row.time_ns() as f64 / whole_ns as f64 * 100.0 };
    let share = if row.name == "total" { 100.0 } else { share };
    let usecs = row.time_ns().checked_div(row.calls).unwrap_or(0) / 1000;
    let errors = if row.errors > 0 { row.errors.to_string() } else { String::new() };
    let seconds = row.time_ns() as f64 / 1e9;
    let name = printable(&row.name);
    let abi = match row.abi {
        Abi::Native => "",
        Abi::Compat => "[32-bit]",
        Abi::X32 => "[x32]",
    };
    let _ = writeln!(text, "{share:>6.2} {seconds:>11.6} {usecs:>11} {:>9} {errors:>9} {name}{abi}", row.calls);
}
