//! The table of metrics, with as many of its columns as the terminal takes.

use super::METRIC_COLUMNS;
use crate::{
    compare::{Pair, Row, Unit, Verdict},
    printable::clipped,
    statistics::Summary,
    text::{
        grid::Grid,
        page::Page,
        style::{Style, Tone},
    },
    units,
};

const COLUMNS: [&str; 9] = ["metric", "", "range", "", "range", "ratio", "95 % interval", "p", "verdict"];
/// What a narrow terminal does without.
const RANGE_A: usize = 2;
const RANGE_B: usize = 4;
const P: usize = 7;
const VERDICT: usize = 8;

pub(super) fn write(page: &mut Page, pair: &Pair, letters: &(String, String), style: &Style) {
    let shown: Vec<&Row> = pair.rows.iter().filter(|row| row.looked_at).collect();
    if shown.is_empty() {
        page.line(Tone::Plain, "  no metric to look at");
        return;
    }
    let repeats = |summary: Option<Summary>| summary.is_some_and(|summary| summary.runs > 1);
    let repeated = shown.iter().any(|row| repeats(row.a) || repeats(row.b));
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
        Unit::Number if value.total_cmp(&value.trunc()).is_eq() => {
            units::rate(value).trim_end_matches(".00").trim_end_matches(".0").to_owned()
        }
        Unit::Number => units::ratio(value),
    }
}

pub(super) fn p_value(p: f64) -> String {
    if p < 0.001 { "<0.001".to_owned() } else { format!("{p:.3}") }
}
