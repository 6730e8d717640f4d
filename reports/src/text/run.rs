//! The whole result of one run: what was run, the load's result, system calls by group, TCP, and what is missing.
//!
//! Owns the order and the headings; each part is made by its own file.

use super::{
    bench, completeness, findings, own_cost,
    page::Page,
    perf, split, stated,
    style::{Style, Tone},
    syscalls::{self, View},
    tcp, uring,
};
use crate::{
    per_request::PerRequest,
    printable::{clipped, command_line, printable},
    provenance,
    recording::{Fact, Group, Recording},
    units,
};

/// Process ids named in a heading.
const PIDS_SHOWN: usize = 4;
/// Lines of a program's own output that are repeated, and how wide.
const OUTPUT_LINES: usize = 8;
const OUTPUT_COLUMNS: usize = 160;

/// Everything about a run, with the usual columns.
#[must_use]
pub fn run(recording: &Recording, style: &Style) -> String {
    run_viewed(recording, &View::default(), style)
}

/// Everything about a run, with the columns of `view`.
#[must_use]
pub fn run_viewed(recording: &Recording, view: &View, style: &Style) -> String {
    let mut page = Page::new(style);
    header(&mut page, recording);
    for result in &recording.bench {
        page.blank();
        page.block(&bench::of_recording(result, recording, style));
    }
    traced(&mut page, recording, view, style);
    page.finish()
}

/// The same without the load's results: where the load generator has just printed them itself.
#[must_use]
pub fn run_below_bench(recording: &Recording, view: &View, style: &Style) -> String {
    let mut page = Page::new(style);
    header(&mut page, recording);
    traced(&mut page, recording, view, style);
    page.finish()
}

fn traced(page: &mut Page, recording: &Recording, view: &View, style: &Style) {
    for group in &recording.groups {
        page.blank();
        page.heading(&group_heading(group, recording.tells(Fact::Threads)));
        listeners_and_end(page, group);
        syscalls::write(page, group, view, recording.tells(Fact::Errors), style);
        if group.name == "server" {
            per_request(page, recording);
        }
        perf::write(page, &group.perf);
        uring::write(page, &group.io_uring, style);
        if let Some(by) = &group.split {
            split::write(page, group, by, style);
        }
        output(page, &group.output);
    }
    stated::write(page, recording, style);
    if recording.origin.is_none() {
        page.blank();
        tcp::write(page, recording.tcp.as_ref(), style);
    }
    page.blank();
    completeness::write(page, recording);
    if let Some(cost) = &recording.own_cost {
        own_cost::write(page, recording, cost);
    }
}

fn per_request(page: &mut Page, recording: &Recording) {
    let Some(per) = PerRequest::of(recording) else { return };
    let mut words = vec![format!("{} calls", units::ratio(per.calls))];
    if per.wake_ups > 0.0 {
        words.push(format!("{} wake-ups with {} events", units::ratio(per.wake_ups), units::ratio(per.events)));
    }
    if per.received_bytes + per.sent_bytes > 0.0 {
        words.push(format!("{} bytes in, {} out", units::ratio(per.received_bytes), units::ratio(per.sent_bytes)));
    }
    let requests = units::counted(per.requests, "successful request");
    page.prose(Tone::Plain, 4, &format!("  for each of {requests}: {}", words.join(", ")));
}

fn header(page: &mut Page, recording: &Recording) {
    page.heading(&provenance::title(recording));
    page.prose(Tone::Plain, 2, &format!("  {}", printable(&provenance::line(recording))));
    if !recording.argv.is_empty() {
        page.prose(Tone::Quiet, 4, &format!("  {}", command_line(&recording.argv)));
    }
    if !recording.selection.is_empty() {
        page.prose(
            Tone::Plain,
            4,
            &format!("  only these calls were counted: {}", printable(&recording.selection.join(", "))),
        );
    }
    findings::write(page, recording);
}

fn group_heading(group: &Group, counted: bool) -> String {
    let inner = group.inner_pids.iter().map(Some).chain(std::iter::repeat(None));
    let pid = |(pid, inner): (&u32, Option<&u32>)| match inner {
        Some(inner) if inner != pid => format!("{pid} ({inner} inside)"),
        _ => pid.to_string(),
    };
    let mut pids: Vec<_> = group.pids.iter().zip(inner).take(PIDS_SHOWN).map(pid).collect();
    if group.pids.len() > PIDS_SHOWN {
        pids.push(format!("and {} more", group.pids.len() - PIDS_SHOWN));
    }
    let pids = if pids.is_empty() { String::new() } else { format!("  pid {}", pids.join(", ")) };
    let threads = units::counted(group.threads, "thread");
    let threads = match group.processes {
        _ if !counted => String::new(),
        0 | 1 => format!("  ({threads})"),
        more => format!("  ({} processes, {threads})", units::count(more)),
    };
    format!("{}  {}{pids}{threads}", printable(&group.name), clipped(&group.label, super::NAME_COLUMNS))
}

fn listeners_and_end(page: &mut Page, group: &Group) {
    let mut words = Vec::new();
    if !group.listeners.is_empty() {
        words.push(format!("listened on {}", printable(&group.listeners.join(", "))));
    }
    if let Some(ended) = &group.ended {
        words.push(format!("ended: {}", printable(ended)));
    }
    if !words.is_empty() {
        page.prose(Tone::Quiet, 4, &format!("  {}", words.join(", ")));
    }
}

fn output(page: &mut Page, output: &str) {
    let lines: Vec<&str> = output.lines().collect();
    if lines.is_empty() {
        return;
    }
    page.line(Tone::Quiet, "  the last it printed:");
    for line in &lines[lines.len().saturating_sub(OUTPUT_LINES)..] {
        page.line(Tone::Plain, &format!("  | {}", clipped(line, OUTPUT_COLUMNS)));
    }
}
