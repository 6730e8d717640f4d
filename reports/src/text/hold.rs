//! The result of `bench --hold`.

use super::{
    bench::{kinds, latency_row},
    grid::Grid,
    page::Page,
    style::{Style, Tone},
};
use crate::{
    hold::{HoldResult, HoldSettings},
    printable::printable,
    units,
};

/// With fewer connections, other movements of the machine's memory are larger than theirs.
const FEWEST_FOR_MEMORY: u64 = 1_000;

/// How many, how fast, at which price, and what the first failure was.
#[must_use]
pub fn hold(result: &HoldResult, style: &Style) -> String {
    let mut page = Page::new(style);
    let tone = if result.partial { Tone::Alarm } else { Tone::Strong };
    let partial = if result.partial { "  partial: ended early" } else { "" };
    page.line(tone, &format!("bench  hold{partial}"));
    page.prose(Tone::Quiet, 2, &format!("  {}", settings(&result.settings)));
    opening(&mut page, result);
    memory(&mut page, result);
    page.blank();
    let mut grid = Grid::new(&[0], &["latency", "n", "min", "p50", "p90", "p99", "max"]);
    grid.row(Tone::Plain, latency_row("connect", &result.connect));
    page.block(&grid.render(style));
    let moved = result.kernel_counters.iter().filter(|&(_, &change)| change != 0);
    let moved: Vec<_> = moved.map(|(name, &change)| format!("{name} {}", units::signed(change))).collect();
    if !moved.is_empty() {
        page.blank();
        page.prose(Tone::Alarm, 4, &format!("  kernel counters that moved: {}", printable(&moved.join(", "))));
    }
    page.finish()
}

/// What became of them while they were kept.
#[must_use]
pub fn held(result: &HoldResult, style: &Style) -> String {
    let mut page = Page::new(style);
    let tone = if result.lost > 0 { Tone::Alarm } else { Tone::Plain };
    let time = format!("kept for {}", units::duration(result.held_ns));
    page.fact(tone, "ended while kept", &units::count(result.lost), &time);
    page.finish()
}

fn settings(settings: &HoldSettings) -> String {
    let connections = units::counted(settings.connections.into(), "connection");
    let processes = if settings.processes == 1 { "process" } else { "processes" };
    let from = match settings.sources {
        0 => String::new(),
        1 => ", 1 source address".to_owned(),
        sources => format!(", {sources} source addresses"),
    };
    let to = match &settings.address {
        Some(address) => format!("to {}", printable(address)),
        None => format!("to as many {processes} that accept"),
    };
    format!("{connections} from {} {processes}{from}, {to}", settings.processes)
}

fn opening(page: &mut Page, result: &HoldResult) {
    page.fact(Tone::Plain, "connections opened", &units::count(result.opened), "");
    let failed = result.failed.values().fold(0, |total: u64, count| total.saturating_add(*count));
    let tone = if failed > 0 { Tone::Alarm } else { Tone::Plain };
    page.fact(tone, "failed", &units::count(failed), &kinds(result.failed.iter()));
    if result.not_tried() > 0 {
        let why = result.stopped_because.as_deref().unwrap_or("after failures the rest would have failed the same way");
        page.fact(Tone::Alarm, "not tried", &units::count(result.not_tried()), &printable(why));
    }
    if let Some(first) = &result.first_failure {
        let (kind, error) = (printable(&first.kind), printable(&first.error));
        let when = units::count(first.opened_before);
        page.prose(Tone::Alarm, 4, &format!("  first failure: {kind} ({error}), after {when} opened by its process"));
    }
    let rate = result.opened_per_s().map_or("-".to_owned(), units::rate);
    page.fact(Tone::Plain, "opened per second", &rate, "");
    page.fact(Tone::Plain, "elapsed", &units::duration(result.elapsed_ns), "");
}

fn memory(page: &mut Page, result: &HoldResult) {
    if result.opened < FEWEST_FOR_MEMORY {
        page.fact(Tone::Quiet, "memory per connection", "-", "needs 1,000 connections to stand out");
        return;
    }
    let memory = &result.memory;
    let both = if result.settings.address.is_some() { "" } else { ", both ends" };
    page.blank();
    page.line(Tone::Plain, "  memory per connection");
    let mut each = |label: &str, bytes: i64, remark: &str| {
        let figure = format!("{} B", units::signed(bytes / i64::try_from(result.opened).unwrap_or(i64::MAX)));
        page.fact(Tone::Plain, label, &figure, remark);
    };
    each("kernel objects", memory.slab_bytes, &format!("Slab of the machine{both}"));
    each("TCP queues", memory.tcp_bytes, "sockstat mem: nothing was sent");
    each("client processes", memory.client_bytes, "their own memory");
    if let Some(bytes) = memory.sink_bytes {
        each("accepting processes", bytes, "their own memory");
    }
    each("all", memory.used_bytes, "what MemAvailable went down by, by whomever");
}
