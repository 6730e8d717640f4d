//! The result of one run of the load generator, as `bench` itself prints it and as every report repeats it.

use super::{
    counter_meaning::meaning,
    grid::Grid,
    page::Page,
    style::{Style, Tone},
};
use crate::{
    bench::{BenchResult, BenchSettings, Client, Close, Finding, Machine, Mode},
    histogram::Histogram,
    printable::{clipped, printable},
    recording::{Fact, Recording},
    units,
};

/// From this share of all client threads' time on, the client is likely what limits the rate.
const CLIENT_BUSY: f64 = 0.9;

/// Rate, failures by kind, latency, the kernel counters that moved meanwhile, and what the run found out about itself.
#[must_use]
pub fn bench(result: &BenchResult, style: &Style) -> String {
    written(result, &|_| true, "bench", style)
}

/// The same of a result in a recording, without what its tool did not tell.
pub(super) fn of_recording(result: &BenchResult, recording: &Recording, style: &Style) -> String {
    let tool = recording.origin.as_ref().map_or("bench", |origin| &origin.tool);
    written(result, &|fact| recording.tells(fact), &clipped(tool, super::NAME_COLUMNS), style)
}

fn written(result: &BenchResult, tells: &dyn Fn(Fact) -> bool, tool: &str, style: &Style) -> String {
    let mut page = Page::new(style);
    page.line(if result.partial { Tone::Alarm } else { Tone::Strong }, &format!("{tool}  {}", kind(&result.settings)));
    if result.partial {
        page.line(Tone::Alarm, "  partial: ended early, the figures are of what was done");
    }
    page.prose(Tone::Quiet, 2, &format!("  {}", settings_told(&result.settings, tells)));
    figures(&mut page, result, tells);
    if result.latency().count() > 0 || tells(Fact::Sizes) && tells(Fact::ClientCpu) {
        page.blank();
        page.block(&latencies(result).render(style));
    }
    if result.settings.is_open_loop() {
        page.prose(Tone::Quiet, 4, "  request: from when it was due; connect, first byte: from when it was begun");
    }
    counters(&mut page, result);
    // What the kernel counted stands above, with its meaning.
    let not_above = |finding: &&Finding| !finding.name.starts_with("counter:");
    let others: Vec<_> = result.findings.iter().filter(not_above).cloned().collect();
    findings(&mut page, &others);
    page.finish()
}

/// Mode and loop, in words.
fn kind(settings: &BenchSettings) -> String {
    match settings.rate_per_s {
        Some(rate) => format!("{}: {} requests due per second", mode_and_loop(settings), units::count(rate)),
        None => mode_and_loop(settings),
    }
}

/// The same without the rate.
pub(super) fn mode_and_loop(settings: &BenchSettings) -> String {
    let every = settings.requests_per_connection.filter(|_| settings.mode == Mode::Reconnect);
    let mode = every.map_or_else(
        || format!("{} mode", settings.mode.name()),
        |requests| format!("{} after {}", settings.mode.name(), units::counted(requests, "request")),
    );
    match settings.client {
        Client::Classic => format!("{mode}, classic client: a thread for each connection"),
        Client::Epoll => format!("{mode}, {} loop", if settings.is_open_loop() { "open" } else { "closed" }),
    }
}

pub(super) fn settings(settings: &BenchSettings) -> String {
    settings_told(settings, &|_| true)
}

fn settings_told(settings: &BenchSettings, tells: &dyn Fn(Fact) -> bool) -> String {
    let rounds = settings.rounds.map(|rounds| format!(" x {}", units::counted(rounds, "request")));
    let duration = settings.duration_ns.map(|ns| format!(" for {}", units::duration(ns)));
    let at_most = if settings.is_open_loop() { "at most " } else { "" };
    let mut parts = vec![format!(
        "{at_most}{}{}{}",
        units::counted(u64::from(settings.connections), "connection"),
        rounds.unwrap_or_default(),
        duration.unwrap_or_default()
    )];
    match settings.payload_max_bytes {
        _ if settings.mode == Mode::Connect => parts.push("nothing sent".into()),
        _ if settings.http.is_some() => {
            parts.extend(settings.http.as_ref().map(|url| format!("GET {}", printable(url))));
        }
        Some(most) => {
            let (least, most) = (units::count(settings.payload_bytes.into()), units::count(most.into()));
            parts.push(format!("{least} to {most} bytes each"));
        }
        None if !tells(Fact::Sizes) => {}
        None => parts.push(format!("{} each", units::counted(u64::from(settings.payload_bytes), "byte"))),
    }
    let after = |what: &str, ns: u64| (ns > 0).then(|| format!("{what} {}", units::duration(ns)));
    parts.extend(after("warm-up", settings.warmup_ns));
    parts.extend(after("think", settings.think_ns));
    if let Some(pace) = settings.pace {
        parts.push(format!(
            "at most {} begun in each {}",
            units::count(pace.requests),
            units::duration(pace.interval_ns)
        ));
    }
    match settings.close {
        _ if settings.linger0 => parts.push("closed by RST".into()),
        Close::Client => {}
        Close::Half | Close::Server => parts.push(format!("close {}", settings.close.name())),
    }
    if settings.sources > 1 {
        parts.push(format!("from {} source addresses", settings.sources));
    }
    parts.push(units::counted(u64::from(settings.threads), "thread"));
    parts.push(format!("to {}", printable(&settings.address)));
    parts.join(", ")
}

fn figures(page: &mut Page, result: &BenchResult, tells: &dyn Fn(Fact) -> bool) {
    let rate = result.requests_per_s().map_or("-".to_owned(), units::rate);
    page.fact(Tone::Plain, "requests per second", &rate, "");
    page.fact(Tone::Plain, "ok", &units::count(result.ok), "");
    let kinds = kinds(result.failed.iter());
    let tone = if kinds.is_empty() { Tone::Plain } else { Tone::Alarm };
    page.fact(tone, "failed", &units::count(result.failures()), &kinds);
    if !result.statuses.is_empty() {
        let statuses = result.statuses.iter().map(|(status, &count)| format!("{status}: {}", units::count(count)));
        let replies = result.statuses.values().fold(0, |total: u64, count| total.saturating_add(*count));
        page.fact(Tone::Plain, "replies by status", &units::count(replies), &statuses.collect::<Vec<_>>().join(", "));
    }
    if tells(Fact::Connected) {
        page.fact(Tone::Plain, "connections established", &units::count(result.connected), "");
    }
    page.fact(Tone::Plain, "elapsed", &units::duration(result.elapsed_ns), "");
    if tells(Fact::ClientCpu) {
        client_cpu(page, result);
    }
    if let Some([user, system, softirq]) = result.machine.as_ref().and_then(Machine::shares) {
        let [user, system, softirq, all] = [user, system, softirq, user + system + softirq].map(units::percent);
        page.fact(Tone::Plain, "all CPUs", &all, &format!("user {user}, system {system}, softirq {softirq}"));
    }
}

fn client_cpu(page: &mut Page, result: &BenchResult) {
    let busy = result.client_cpu_ns as f64 / (result.elapsed_ns as f64).max(1.0);
    // Findings say it where there are any; results of schema 1 have none.
    let limit = result.findings.is_empty() && result.client_cpu_share() >= CLIENT_BUSY && result.elapsed_ns > 0;
    let limit = if limit { ": the client itself may be the limit" } else { "" };
    let share = format!("{} of one CPU{limit}", units::percent(busy));
    page.fact(Tone::Plain, "client CPU time", &units::duration(result.client_cpu_ns), &share);
}

/// Failed requests by kind, those that are none left out.
pub(super) fn kinds<'a>(failed: impl Iterator<Item = (&'a String, &'a u64)>) -> String {
    let kinds = failed.filter(|&(_, &count)| count > 0);
    let kinds: Vec<_> =
        kinds.map(|(kind, &count)| format!("{} {}", clipped(kind, super::NAME_COLUMNS), units::count(count))).collect();
    kinds.join(", ")
}

fn latencies(result: &BenchResult) -> Grid {
    let mut grid = Grid::new(&[0], &["latency", "n", "min", "p50", "p90", "p99", "max"]);
    let mut rows = vec![("connect", result.connect.clone()), ("request", result.request.clone())];
    if differs(&result.first_byte, &result.request) {
        rows.insert(1, ("first byte", result.first_byte.clone()));
    }
    if result.censored.count() > 0 {
        rows.push(("with failed", result.latency()));
    }
    for (name, histogram) in &rows {
        grid.row(Tone::Plain, latency_row(name, histogram));
    }
    grid
}

/// Name, number, least, percentiles as far as there are enough, most.
pub(super) fn latency_row(name: &str, histogram: &Histogram) -> Vec<String> {
    let time = |ns: Option<u64>| ns.map_or("-".to_owned(), units::duration);
    let quantile = |q| time(histogram.quantile(q));
    let n = units::count(Histogram::count(histogram));
    let (min, max) = (time(histogram.min()), time(histogram.max()));
    vec![name.to_owned(), n, min, quantile(0.5), quantile(0.9), quantile(0.99), max]
}

/// A reply that comes in one piece has its first byte with its last; a row of the same figures would say nothing.
fn differs(first_byte: &Histogram, request: &Histogram) -> bool {
    let at = |histogram: &Histogram| (histogram.quantile_of_any_sample(0.5), histogram.max());
    first_byte.count() > 0 && at(first_byte) != at(request)
}

/// Those that warn as such, the rest in one paragraph.
pub(super) fn findings(page: &mut Page, findings: &[Finding]) {
    let (warnings, facts): (Vec<_>, Vec<_>) = findings.iter().partition(|finding| finding.warns);
    if !findings.is_empty() {
        page.blank();
    }
    for finding in warnings {
        page.prose(Tone::Alarm, 4, &format!("  warning: {}", printable(&finding.text)));
    }
    let facts: Vec<_> = facts.iter().map(|finding| printable(&finding.text)).collect();
    if !facts.is_empty() {
        page.prose(Tone::Quiet, 4, &format!("  checked: {}", facts.join("; ")));
    }
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
