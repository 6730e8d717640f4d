//! A comparison as text: what is compared, a table of metrics with verdicts, distributions, what longer connections
//! changed, and what became of the rules.
//!
//! Claims nothing by itself: every verdict comes from `compare`.

mod long;
mod metrics;

use super::{
    grid::Grid,
    page::Page,
    style::{Style, Tone},
};
use crate::{
    compare::{Comparison, Move, Pair, QUANTILES, Role, Ruling, RulingKind, TooFewRuns, Verdict},
    printable::{clipped, clipped_middle, printable},
    statistics::LEAST_RUNS,
    units,
};
use metrics::p_value;

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
        metrics::write(&mut page, pair, &letters, style);
        distributions(&mut page, pair, &letters, style);
        if let Some(long) = &pair.long_connections {
            page.blank();
            long::write(&mut page, long, style);
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
    let order = if comparison.asked_for {
        ""
    } else {
        ": headlines first, then the parts of those that differ, the rest together"
    };
    let text = if comparison.looks == 0 {
        format!("  verdicts need at least {LEAST_RUNS} runs of each group")
    } else {
        format!(
            "  {differing} of {} differ. Better or worse: Mann-Whitney's p is at most 0.05 after {} looks are paid for \
             (Benjamini-Hochberg{order}), and the 95 % interval of the ratio of medians (bootstrap, widened by the \
             buckets) excludes 1. What is asked for alone needs fewer runs: -m METRIC",
            rows().count(),
            comparison.looks,
        )
    };
    page.prose(Tone::Quiet, 4, &text);
    if let Some(TooFewRuns { runs: (a, b), least_p, looks, enough }) = comparison.too_few_runs {
        page.prose(
            Tone::Alarm,
            4,
            &format!(
                "  Too few runs: {a} against {b} have a p of {} at least, and with {looks} looks to pay for no single \
                 figure can be shown to differ, however far apart. {enough} runs of each would do, or fewer looks: \
                 -m METRIC",
                p_value(least_p),
            ),
        );
    }
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
