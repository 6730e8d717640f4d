//! What the rows of a system-call table cannot say: errors by number, sizes, calls that did not begin or end.

use super::{column::label, page::Page, style::Tone};
use crate::{
    histogram::Histogram,
    printable::{clipped, printable},
    recording::{Group, InFlight, ReturnKind, Returned, Syscall},
    stats::ByTime,
    units,
};

/// Calls in progress at the end that are listed one by one.
const IN_FLIGHT_SHOWN: usize = 5;
/// Rows named in a sentence about several.
const ROWS_NAMED: usize = 6;
/// A working call that is asleep for more than this part of its time is not work.
const MOSTLY: f64 = 0.5;

pub(super) fn write(page: &mut Page, group: &Group, calls: &ByTime) {
    let mut note = |text: String| page.prose(Tone::Quiet, 4, &format!("  {text}"));
    if !calls.waiting.is_empty() {
        note("* waits by design: its time tells how idle the caller was, so it is outside total and share".into());
    }
    let shown: Vec<&Syscall> = calls.working.iter().chain(&calls.waiting).copied().collect();
    if shown.iter().any(|row| row.latency.as_ref().is_some_and(Histogram::is_told) && row.quantile(0.99).is_none()) {
        note("- too few calls for this percentile (p99 needs 100)".into());
    }
    asleep(calls).into_iter().chain(errors(&shown)).chain(returned(&shown)).for_each(&mut note);
    group.syscalls.iter().flat_map(odd).for_each(&mut note);
    if group.begun_before > 0 {
        let calls = units::counted(group.begun_before, "call");
        note(format!("{calls} begun before the start returned; which is not known"));
    }
    in_flight(page, &group.in_flight);
}

/// Working calls that mostly waited: their time is not the kernel's work.
fn asleep(calls: &ByTime) -> Option<String> {
    let total_ns = calls.working_ns() as f64;
    let matters = |row: &&&Syscall| row.time_ns() as f64 > total_ns / 100.0;
    let sleeping = calls.working.iter().filter(matters).filter_map(|row| {
        let share = row.blocked_ns as f64 / row.time_ns() as f64;
        (row.on_cpu.is_some() && share > MOSTLY).then(|| format!("{} {}", label(row), units::percent(share)))
    });
    let list: Vec<String> = sleeping.take(ROWS_NAMED).collect();
    let any_off = calls.working.iter().any(|row| row.on_cpu_share().is_some());
    (any_off && !list.is_empty()).then(|| format!("asleep, not working, for most of its time: {}", list.join(", ")))
}

fn errors(shown: &[&Syscall]) -> Option<String> {
    let mut failed: Vec<&&Syscall> = shown.iter().filter(|row| row.errors > 0).collect();
    failed.sort_by_key(|row| std::cmp::Reverse(row.errors));
    let told = |row: &&&Syscall| {
        let mut numbers: Vec<(&String, &u64)> = row.errnos.iter().collect();
        numbers.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
        let list = numbers.iter().map(|(name, count)| format!("{} {}", printable(name), units::count(**count)));
        format!("{} {}", label(row), list.collect::<Vec<_>>().join(" + "))
    };
    let list: Vec<String> = failed.iter().filter(|row| !row.errnos.is_empty()).take(ROWS_NAMED).map(told).collect();
    let more = failed.len().saturating_sub(list.len());
    let more = if more > 0 { format!(", and those of {more} more calls") } else { String::new() };
    if failed.is_empty() {
        None
    } else if list.is_empty() {
        Some("errors: returned error numbers, the EAGAIN and EINPROGRESS of non-blocking calls included".into())
    } else {
        Some(format!("errors: {}{more}", list.join(", ")))
    }
}

/// Sizes and numbers of events per call.
fn returned(shown: &[&Syscall]) -> Option<String> {
    let told = |row: &&Syscall| {
        let Returned { kind, values } = row.returned.as_ref()?;
        let mean = values.mean()?;
        let unit = if *kind == ReturnKind::Bytes { "bytes" } else { "events" };
        let (min, max) = (values.min()?, values.max()?);
        let range =
            if min == max { String::new() } else { format!(" ({} to {})", units::count(min), units::count(max)) };
        Some(format!("{} {} {unit}{range}", label(row), units::ratio(mean)))
    };
    let list: Vec<String> = shown.iter().filter_map(told).take(ROWS_NAMED).collect();
    (!list.is_empty()).then(|| format!("returned on average: {}", list.join(", ")))
}

fn odd(row: &Syscall) -> Vec<String> {
    let name = label(row);
    let mut notes = Vec::new();
    if row.unreturned > 0 {
        let threads = if row.unreturned == 1 { "its thread" } else { "their threads" };
        notes.push(format!("{name}: {} ended {threads}", units::counted(row.unreturned, "call")));
    }
    if row.denied > 0 {
        notes.push(format!("{name}: {} refused before it began (seccomp)", units::counted(row.denied, "call")));
    }
    if row.restarted > 0 {
        let returns = units::counted(row.restarted, "return");
        notes.push(format!("{name}: {returns} restarted by the kernel (not errors)"));
    }
    if row.begun_before > 0 {
        let calls = units::counted(row.begun_before, "call");
        notes.push(format!("{name}: {calls} begun before the start returned; without a start time not in the table"));
    }
    notes
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
        let place = if call.pid == 0 || call.pid == call.tid {
            format!("thread {}", call.tid)
        } else {
            format!("thread {} of process {}", call.tid, call.pid)
        };
        page.line(Tone::Plain, &format!("    {name} in {place} {since}"));
    }
    if calls.len() > IN_FLIGHT_SHOWN {
        page.line(Tone::Plain, &format!("    and {} more", calls.len() - IN_FLIGHT_SHOWN));
    }
}
