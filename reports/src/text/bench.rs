//! The result of one run of the load generator, as `bench` itself prints it and as every report repeats it.

use super::{
    counter_meaning::meaning,
    grid::Grid,
    page::Page,
    style::{Style, Tone},
};
use crate::{
    bench::{BenchResult, BenchSettings},
    histogram::Histogram,
    printable::{clipped, printable},
    units,
};

/// From this share of all client threads' time on, the client is likely what limits the rate.
const CLIENT_BUSY: f64 = 0.9;

/// Rate, failures by kind, latency, and the kernel counters that moved meanwhile.
#[must_use]
pub fn bench(result: &BenchResult, style: &Style) -> String {
    let mut page = Page::new(style);
    let partial = if result.partial { "  partial: ended early, the figures are of what was done" } else { "" };
    page.line(
        if result.partial { Tone::Alarm } else { Tone::Strong },
        &format!("bench  {} mode{partial}", result.settings.mode.name()),
    );
    page.prose(Tone::Quiet, 2, &format!("  {}", settings(&result.settings)));
    figures(&mut page, result);
    page.blank();
    page.block(&latencies(result).render(style));
    counters(&mut page, result);
    page.finish()
}

fn settings(settings: &BenchSettings) -> String {
    let rounds = settings.rounds.map(|rounds| format!(" x {}", units::counted(rounds, "request")));
    let duration = settings.duration_ns.map(|ns| format!(" for {}", units::duration(ns)));
    format!(
        "{}{}{}, {} each, {}, to {}",
        units::counted(u64::from(settings.connections), "connection"),
        rounds.unwrap_or_default(),
        duration.unwrap_or_default(),
        units::counted(u64::from(settings.payload_bytes), "byte"),
        units::counted(u64::from(settings.threads), "thread"),
        printable(&settings.address),
    )
}

fn figures(page: &mut Page, result: &BenchResult) {
    let rate = result.requests_per_s().map_or("-".to_owned(), units::rate);
    page.fact(Tone::Plain, "requests per second", &rate, "");
    page.fact(Tone::Plain, "ok", &units::count(result.ok), "");
    let kinds = result.failed.iter().filter(|&(_, &count)| count > 0);
    let kinds: Vec<_> =
        kinds.map(|(kind, &count)| format!("{} {}", clipped(kind, super::NAME_COLUMNS), units::count(count))).collect();
    let tone = if kinds.is_empty() { Tone::Plain } else { Tone::Alarm };
    page.fact(tone, "failed", &units::count(result.failures()), &kinds.join(", "));
    page.fact(Tone::Plain, "connections established", &units::count(result.connected), "");
    page.fact(Tone::Plain, "elapsed", &units::duration(result.elapsed_ns), "");
    let busy = result.client_cpu_ns as f64 / (result.elapsed_ns as f64).max(1.0);
    let limit = if busy >= CLIENT_BUSY * f64::from(result.settings.threads.max(1)) && result.elapsed_ns > 0 {
        ": the client itself may be the limit"
    } else {
        ""
    };
    let share = format!("{} of one CPU{limit}", units::percent(busy));
    page.fact(Tone::Plain, "client CPU time", &units::duration(result.client_cpu_ns), &share);
}

fn latencies(result: &BenchResult) -> Grid {
    let mut grid = Grid::new(&[0], &["latency", "n", "min", "p50", "p90", "p99", "max"]);
    for (name, histogram) in [("connect", &result.connect), ("request", &result.request)] {
        let time = |ns: Option<u64>| ns.map_or("-".to_owned(), units::duration);
        let quantile = |q| time(histogram.quantile(q));
        let n = units::count(Histogram::count(histogram));
        let (min, max) = (time(histogram.min()), time(histogram.max()));
        grid.row(Tone::Plain, vec![name.to_owned(), n, min, quantile(0.5), quantile(0.9), quantile(0.99), max]);
    }
    grid
}

/// Those that tell of trouble with what they mean, the rest by name: a healthy run moves dozens.
fn counters(page: &mut Page, result: &BenchResult) {
    let moved = result.kernel_counters.iter().filter(|&(_, &change)| change != 0);
    let (telling, rest): (Vec<_>, Vec<_>) = moved.partition(|(name, _)| meaning(name).is_some());
    if !telling.is_empty() {
        page.blank();
        page.line(Tone::Plain, "  kernel counters that moved, in the whole network namespace");
    }
    for (name, &change) in telling {
        page.fact(Tone::Plain, name, &units::signed(change), meaning(name).unwrap_or_default());
    }
    if !rest.is_empty() {
        let rest: Vec<_> = rest
            .iter()
            .map(|(name, change)| format!("{} {}", clipped(name, super::NAME_COLUMNS), units::signed(**change)))
            .collect();
        page.prose(Tone::Quiet, 4, &format!("  counters of ordinary traffic: {}", rest.join(", ")));
    }
}
