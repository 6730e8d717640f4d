//! A comparison as text: what is compared, a table of metrics with verdicts, distributions, what longer connections
//! changed, and what became of the rules.
//!
//! Claims nothing by itself: every verdict comes from `compare`.

use super::{
    grid::Grid,
    page::Page,
    style::{Style, Tone},
};
use crate::{
    compare::{Comparison, LongConnections, Move, Pair, QUANTILES, Role, Row, Ruling, RulingKind, Unit, Verdict},
    printable::{clipped, clipped_middle, printable},
    statistics::{LEAST_RUNS, Summary},
    units,
};

/// Widest first column, and widest other words.
const METRIC_COLUMNS: usize = 24;
const VALUE_COLUMNS: usize = 48;
const PATH_COLUMNS: usize = 56;
/// Runs that are named when they were left out; distributions and calls in their tables.
const SHOWN: usize = 8;

/// The whole comparison.
#[must_use]
pub fn comparison(comparison: &Comparison, style: &Style) -> String {
    let mut page = Page::new(style);
    header(&mut page, comparison);
    for pair in &comparison.pairs {
        let letters = letters(comparison, pair.other);
        page.blank();
        differences(&mut page, pair, &letters);
        verdicts(&mut page, pair);
        page.blank();
        metrics(&mut page, pair, &letters, style);
        distributions(&mut page, pair, &letters, style);
        if let Some(long) = &pair.long_connections {
            page.blank();
            long_connections(&mut page, long, style);
        }
    }
    page.blank();
    how_judged(&mut page, comparison);
    rulings(&mut page, comparison);
    page.finish()
}

/// Letters of the first and of another group.
fn letters(comparison: &Comparison, other: usize) -> (String, String) {
    let letter = |number: usize| comparison.groups.get(number).map_or_else(String::new, |group| group.letter.clone());
    (letter(0), letter(other))
}

fn header(page: &mut Page, comparison: &Comparison) {
    let labels: Vec<_> = comparison.groups.iter().map(|group| clipped(&group.label, VALUE_COLUMNS)).collect();
    let (first, rest) = labels.split_first().map_or(("", &[][..]), |(first, rest)| (first.as_str(), rest));
    page.heading(&format!("{} against {first}", rest.join(", ")));
    for group in &comparison.groups {
        let runs = units::counted(group.runs.len() as u64, "run");
        let path = clipped_middle(&group.path, PATH_COLUMNS);
        page.prose(
            Tone::Plain,
            5,
            &format!("  {}  {}: {runs} in {path}", group.letter, clipped(&group.label, VALUE_COLUMNS)),
        );
    }
    for left_out in comparison.left_out.iter().take(SHOWN) {
        page.prose(Tone::Alarm, 4, &format!("  left out: {}: {}", left_out.run, left_out.why));
    }
    if comparison.left_out.len() > SHOWN {
        page.line(Tone::Alarm, &format!("  left out: {} more", comparison.left_out.len() - SHOWN));
    }
    let most = comparison.groups.iter().map(|group| group.runs.len()).max().unwrap_or(0);
    if most <= 1 {
        page.prose(
            Tone::Alarm,
            2,
            "  Each group is a single run: no interval and no verdict is possible, and any ratio below may be noise. \
             Repeat each, about five times, into a folder of its own (trace -o DIR), and compare the folders.",
        );
    }
}

fn differences(page: &mut Page, pair: &Pair, (a, b): &(String, String)) {
    page.heading(&format!("{b} against {a}"));
    let word = |value: &str| if value.is_empty() { "none".to_owned() } else { clipped(value, VALUE_COLUMNS) };
    for one in &pair.differences {
        let (tone, what) = match one.role {
            Role::Compared => (Tone::Plain, "what differs"),
            Role::Alike => (Tone::Alarm, "UNLIKE, compared by force"),
        };
        let text = format!("  {what}: {}: {} -> {}", clipped(&one.name, VALUE_COLUMNS), word(&one.a), word(&one.b));
        page.prose(tone, 4, &text);
    }
    if pair.differences.is_empty() {
        page.line(Tone::Quiet, "  same settings: what differs is not in the recordings");
    }
}

const COLUMNS: [&str; 9] = ["metric", "", "range", "", "range", "ratio", "95 % interval", "p", "verdict"];
/// What a narrow terminal does without.
const RANGE_A: usize = 2;
const RANGE_B: usize = 4;
const P: usize = 7;
const VERDICT: usize = 8;

fn metrics(page: &mut Page, pair: &Pair, letters: &(String, String), style: &Style) {
    let shown: Vec<&Row> = pair.rows.iter().filter(|row| row.looked_at).collect();
    if shown.is_empty() {
        page.line(Tone::Plain, "  no metric to look at");
        return;
    }
    let repeated = shown.iter().any(|row| row.p.is_some() || row.interval.is_some());
    let mut grid = if repeated {
        let mut header = COLUMNS;
        (header[1], header[3]) = (&letters.0, &letters.1);
        Grid::new(&[0, VERDICT], &header).sparing(&[RANGE_A, RANGE_B, P])
    } else {
        Grid::new(&[0, 4], &["metric", &letters.0, &letters.1, "ratio", "verdict"])
    };
    let mut owner = "";
    for row in shown {
        if !row.metric.owner.is_empty() && row.metric.owner != owner {
            let heading =
                format!("{}{}", clipped(&row.metric.owner, METRIC_COLUMNS), if row.waits { " *" } else { "" });
            let mut cells = vec![heading];
            cells.resize(if repeated { COLUMNS.len() } else { 5 }, String::new());
            grid.row(Tone::Strong, cells);
        }
        owner = &row.metric.owner;
        let tone = match row.verdict {
            Verdict::Worse => Tone::Alarm,
            Verdict::Better | Verdict::More | Verdict::Less => Tone::Plain,
            _ => Tone::Quiet,
        };
        grid.row(tone, if repeated { cells(row) } else { few_cells(row) });
    }
    page.block(&grid.render(style));
    if pair.rows.iter().any(|row| row.looked_at && row.waits) {
        page.prose(Tone::Quiet, 4, "  * waits by design: only how often it is called is compared");
    }
    left_unseen(page, pair);
}

/// The rest is a word away, and said to be.
fn left_unseen(page: &mut Page, pair: &Pair) {
    let unseen = pair.rows.iter().filter(|row| !row.looked_at).count();
    if unseen > 0 {
        let text = format!(
            "  not shown: {} other metrics (p90, p99.9, rare calls, ...): --all, or some: -m 'server.close.*'",
            units::count(unseen as u64)
        );
        page.prose(Tone::Quiet, 4, &text);
    }
}

fn name(row: &Row) -> String {
    if row.metric.owner.is_empty() {
        row.metric.measure.name().to_owned()
    } else {
        format!("  .{}", row.metric.measure.name())
    }
}

fn cells(row: &Row) -> Vec<String> {
    let p = row.p_adjusted.map_or_else(|| "-".to_owned(), p_value);
    vec![
        name(row),
        median(row.a, row.unit),
        range(row.a, row.unit),
        median(row.b, row.unit),
        range(row.b, row.unit),
        row.ratio.map_or("-".to_owned(), units::ratio),
        row.interval.map_or("-".to_owned(), |(low, high)| format!("{}-{}", units::ratio(low), units::ratio(high))),
        p,
        row.verdict.words().to_owned(),
    ]
}

fn few_cells(row: &Row) -> Vec<String> {
    let ratio = row.ratio.map_or("-".to_owned(), units::ratio);
    vec![name(row), median(row.a, row.unit), median(row.b, row.unit), ratio, row.verdict.words().to_owned()]
}

fn median(summary: Option<Summary>, unit: Unit) -> String {
    summary.map_or("-".to_owned(), |summary| value(summary.median, unit))
}

fn range(summary: Option<Summary>, unit: Unit) -> String {
    let text = |summary: Summary| {
        let (low, high) = (value(summary.min, unit), value(summary.max, unit));
        // One unit is enough where it is the same.
        let bare = low.split_once(' ').filter(|(_, unit)| high.ends_with(&format!(" {unit}")));
        format!("{}-{high}", bare.map_or(low.as_str(), |(number, _)| number))
    };
    summary.filter(|summary| summary.runs > 1).map_or("-".to_owned(), text)
}

fn value(value: f64, unit: Unit) -> String {
    match unit {
        Unit::Ns => units::duration_f64(value),
        Unit::PerS => units::rate(value),
        Unit::Share => units::percent(value),
        Unit::Number if value == value.trunc() => {
            units::rate(value).trim_end_matches(".00").trim_end_matches(".0").to_owned()
        }
        Unit::Number => units::ratio(value),
    }
}

fn p_value(p: f64) -> String {
    if p < 0.001 { "<0.001".to_owned() } else { format!("{p:.3}") }
}

fn distributions(page: &mut Page, pair: &Pair, (a, b): &(String, String), style: &Style) {
    let weighty = |owner: &str| pair.rows.iter().any(|row| row.looked_at && row.metric.owner == owner);
    let mut shown: Vec<_> = pair.shifts.iter().filter(|shift| !shift.waits && weighty(&shift.owner)).collect();
    shown.truncate(2 * SHOWN);
    if shown.is_empty() {
        return;
    }
    page.blank();
    page.prose(
        Tone::Plain,
        4,
        &format!("  distributions: how far each percentile of {b} lies from that of {a}, all runs together"),
    );
    let header: Vec<&str> = ["latency", a, b].into_iter().chain(QUANTILES.iter().map(|(_, name)| *name)).collect();
    let mut grid = Grid::new(&[0], &header);
    for shift in shown {
        let mut cells =
            vec![clipped(&shift.owner, METRIC_COLUMNS), units::count(shift.a_count), units::count(shift.b_count)];
        cells.extend(shift.moves.iter().map(|one| one.as_ref().map_or("-".to_owned(), moved)));
        grid.row(Tone::Plain, cells);
    }
    page.block(&grid.render(style));
    page.prose(
        Tone::Quiet,
        4,
        "  = no further apart than a bucket is wide; - too few values; run-to-run noise is judged in the table above",
    );
}

fn moved(one: &Move) -> String {
    if !one.beyond_buckets() {
        return "=".to_owned();
    }
    let ratio = one.b_ns as f64 / one.a_ns as f64;
    // From there on a percentage is harder to read than a factor.
    if ratio >= 3.0 { format!("x{}", units::ratio(ratio)) } else { format!("{:+.0}%", (ratio - 1.0) * 100.0) }
}

fn long_connections(page: &mut Page, long: &LongConnections, style: &Style) {
    page.heading("what longer connections changed");
    let turned = if long.reversed { ", told from the shorter to the longer" } else { "" };
    page.prose(
        Tone::Plain,
        4,
        &format!(
            "  requests per connection: {} -> {}{turned}; by construction {} of all that is done once per connection \
             must vanish (1 - 1/K)",
            units::ratio(long.short_requests),
            units::ratio(long.long_requests),
            units::percent(long.by_construction),
        ),
    );
    if !long.calls.is_empty() {
        let header = ["for each request", "calls", "now", "vanished", "time gone", "cheaper", ""];
        let mut grid = Grid::new(&[0, 6], &header);
        for call in long.calls.iter().take(2 * SHOWN) {
            let time = |ns: f64| if call.waits { String::new() } else { signed_time(ns) };
            let gone = 1.0 - call.long_calls / call.short_calls;
            let gone = if gone.is_finite() { format!("{:.1}%", gone * 100.0) } else { "new".to_owned() };
            let name = format!("{}{}", clipped(&call.owner, METRIC_COLUMNS), if call.waits { " *" } else { "" });
            let remark = if call.as_constructed { "by construction" } else { "" };
            grid.row(
                Tone::Plain,
                vec![
                    name,
                    units::ratio(call.short_calls),
                    units::ratio(call.long_calls),
                    gone,
                    time(call.vanished_ns),
                    time(call.cheaper_ns),
                    remark.to_owned(),
                ],
            );
        }
        page.block(&grid.render(style));
    }
    sums(page, long);
    bought(page, long);
}

/// Added up by group, so that server and client are not mixed.
fn sums(page: &mut Page, long: &LongConnections) {
    let mut groups: Vec<&str> = long.calls.iter().filter_map(|call| call.owner.split('.').next()).collect();
    groups.sort_unstable_by(|one, other| other.cmp(one));
    groups.dedup();
    for group in groups {
        let of_group = || long.calls.iter().filter(|call| call.owner.split('.').next() == Some(group) && !call.waits);
        let vanished: f64 = of_group().map(|call| call.vanished_ns).sum();
        let constructed: f64 = of_group().filter(|call| call.as_constructed).map(|call| call.vanished_ns).sum();
        let cheaper: f64 = of_group().map(|call| call.cheaper_ns).sum();
        page.prose(
            Tone::Plain,
            4,
            &format!(
                "  {}: {} less for each request: {} vanished with the calls, {} of it by construction; {} because the \
                 calls that stayed are cheaper",
                clipped(group, METRIC_COLUMNS),
                signed_time(vanished + cheaper),
                signed_time(vanished),
                signed_time(constructed),
                signed_time(cheaper),
            ),
        );
    }
}

fn bought(page: &mut Page, long: &LongConnections) {
    let Some(gain) = long.rate_gain else { return };
    let limit = long.rate_limit.map_or(String::new(), |limit| {
        format!("; still longer ones would bring at most {} times that, if 1/rate = b + a/K holds", units::ratio(limit))
    });
    let latency = long
        .request_p50_ratio
        .map_or(String::new(), |ratio| format!(", at {} times the request latency (p50)", units::ratio(ratio)));
    let text = format!("  it bought: {} times the requests per second{latency}{limit}", units::ratio(gain));
    page.prose(Tone::Plain, 4, &text);
}

fn signed_time(ns: f64) -> String {
    let sign = if ns < -0.5 { "-" } else { "" };
    format!("{sign}{}", units::duration_f64(ns.abs()))
}

/// The answer in numbers, before the table.
fn verdicts(page: &mut Page, pair: &Pair) {
    let count = |verdict: Verdict| pair.rows.iter().filter(|row| row.looked_at && row.verdict == verdict).count();
    let all = [
        Verdict::Better,
        Verdict::Worse,
        Verdict::More,
        Verdict::Less,
        Verdict::NoDifferenceShown,
        Verdict::NotEnoughData,
        Verdict::NoData,
    ];
    let said = all.into_iter().filter(|verdict| count(*verdict) > 0);
    let words: Vec<String> = said.map(|verdict| format!("{} {}", count(verdict), verdict.words())).collect();
    page.prose(Tone::Strong, 4, &format!("  verdicts: {}", words.join(", ")));
}

fn how_judged(page: &mut Page, comparison: &Comparison) {
    let rows = || comparison.pairs.iter().flat_map(|pair| &pair.rows).filter(|row| row.looked_at);
    let differing = rows().filter(|row| row.verdict.differs()).count();
    let text = if comparison.looks == 0 {
        format!("  verdicts need at least {LEAST_RUNS} runs of each group")
    } else {
        format!(
            "  {differing} of {} differ. Better or worse: Mann-Whitney's p is at most 0.05 after {} looks are paid for \
             (Benjamini-Hochberg: headlines first, then the parts of those that differ, else all together), and the 95 % \
             interval of the ratio of medians (bootstrap, widened by the buckets) excludes 1. What is asked for alone \
             needs fewer runs: -m METRIC",
            rows().count(),
            comparison.looks,
        )
    };
    page.prose(Tone::Quiet, 4, &text);
}

fn rulings(page: &mut Page, comparison: &Comparison) {
    if comparison.rulings.is_empty() {
        return;
    }
    page.blank();
    for ruling in &comparison.rulings {
        let (tone, what) = match ruling.kind {
            RulingKind::Holds => (Tone::Alarm, "FAIL"),
            RulingKind::NotShown => (Tone::Plain, "ok"),
            RulingKind::NotEnoughData => (Tone::Alarm, "OPEN: not enough data"),
            RulingKind::NoData => (Tone::Alarm, "OPEN: no data"),
        };
        page.prose(tone, 4, &format!("  {what}: {}: {}", printable(&ruling.rule.text), found(comparison, ruling)));
    }
}

fn found(comparison: &Comparison, ruling: &Ruling) -> String {
    let percent = |ratio: f64| format!("{:+.1} %", (ratio - 1.0) * 100.0);
    let (a, b) = letters(comparison, ruling.other);
    let ratio = ruling.ratio.map_or("no ratio".to_owned(), percent);
    let interval =
        ruling.interval.map_or(String::new(), |(low, high)| format!(" ({} to {})", percent(low), percent(high)));
    let p = ruling.p.map_or(String::new(), |p| format!(", p {}", p_value(p)));
    format!("{b} against {a} {ratio}{interval}{p}")
}
