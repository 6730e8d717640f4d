//! Several runs of the load generator in one table: repeats with their median and range, or the steps of a sweep.

use std::collections::BTreeMap;

use super::{
    bench::{self, bench, findings},
    grid::Grid,
    page::Page,
    style::{Style, Tone},
};
use crate::{
    bench::{BenchResult, BenchSeries, Finding, Machine, Sweep},
    units,
};

type Column = (&'static str, fn(&BenchResult) -> Option<f64>, fn(f64) -> String);

/// What is shown of a run, and of several by the median.
const FIGURES: [Column; 4] = [
    ("req/s", BenchResult::requests_per_s, units::rate),
    ("p50", |run| run.latency_quantile(0.5).map(|ns| ns as f64), units::duration_f64),
    ("p99", |run| run.latency_quantile(0.99).map(|ns| ns as f64), units::duration_f64),
    ("max", |run| run.latency_max().map(|ns| ns as f64), units::duration_f64),
];
const MACHINE: [Column; 7] = [
    ("user", |run| Some(run.machine.as_ref()?.shares()?[0]), whole_percent),
    ("sys", |run| Some(run.machine.as_ref()?.shares()?[1]), whole_percent),
    ("softirq", |run| Some(run.machine.as_ref()?.shares()?[2]), whole_percent),
    ("client", |run| Some(run.client_cpu_ns as f64 / (run.elapsed_ns as f64).max(1.0)), whole_percent),
    ("load", |run| run.machine.as_ref().map(|machine: &Machine| machine.load_1m), units::ratio),
    ("inuse", |run| run.machine.as_ref().map(|machine| machine.tcp_in_use as f64), whole),
    ("tw", |run| run.machine.as_ref().map(|machine| machine.time_wait as f64), whole),
];

fn whole_percent(share: f64) -> String {
    format!("{:.0}%", share * 100.0)
}

fn whole(number: f64) -> String {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count, or the mean of two")]
    units::count(number as u64)
}

/// One run in full; several as a table, each step of a sweep by its median.
#[must_use]
pub fn bench_series(series: &BenchSeries, style: &Style) -> String {
    match (&series.runs[..], &series.sweep) {
        ([only], None) if series.repeat == 1 => bench(only, style),
        ([], _) => String::new(),
        ([first, ..], sweep) => table(series, first, sweep.as_ref(), style),
    }
}

fn table(series: &BenchSeries, first: &BenchResult, sweep: Option<&Sweep>, style: &Style) -> String {
    let mut page = Page::new(style);
    let what = match sweep {
        Some(sweep) => format!("sweep over {}", sweep.over.name()),
        None => format!("{} of {} runs", series.runs.len(), series.repeat),
    };
    let partial = if series.partial { "  partial: ended early" } else { "" };
    let tone = if series.partial { Tone::Alarm } else { Tone::Strong };
    let each =
        if sweep.is_some() && series.repeat > 1 { format!(", {} runs each", series.repeat) } else { String::new() };
    page.line(tone, &format!("bench  {what}{each}, {}{partial}", bench::mode_and_loop(&first.settings)));
    page.prose(Tone::Quiet, 2, &format!("  first run: {}", bench::settings(&first.settings)));
    page.blank();
    page.block(&match sweep {
        Some(sweep) => steps(series, sweep).render(style),
        None => repeats(series).render(style),
    });
    page.prose(
        Tone::Quiet,
        4,
        "  p50, p99, max: latency, where a failed request counts as long as it had waited; user, sys, softirq: of all \
         CPUs; client: of one CPU; inuse, tw: TCP sockets in the network namespace at the end",
    );
    if let Some(why) = sweep.and_then(|sweep| sweep.stopped_because.as_ref()) {
        page.prose(Tone::Alarm, 4, &format!("  stopped: {}", crate::printable::printable(why)));
    }
    findings(&mut page, &warnings(&series.runs));
    page.finish()
}

fn grid(first: &str, second: Option<&str>) -> Grid {
    let figures = FIGURES.iter().chain(&MACHINE).map(|&(name, ..)| name);
    let header: Vec<_> = [first].into_iter().chain(second).chain(figures).chain(["failed"]).collect();
    // In a narrow terminal what ss and uptime tell as well goes first, then the machine's shares.
    let spare: &[usize] = if second.is_some() { &[10, 11, 12, 6, 7, 8, 1] } else { &[9, 10, 11, 5, 6, 7, 8] };
    // Words stand in the last column only.
    let left: &[usize] = if second.is_some() { &[13] } else { &[12] };
    Grid::new(left, &header).sparing(spare)
}

/// One row for each run, then the median and the range.
fn repeats(series: &BenchSeries) -> Grid {
    let mut grid = grid("run", None);
    let runs: Vec<&BenchResult> = series.runs.iter().collect();
    for (number, run) in runs.iter().enumerate() {
        let cells = cells(&[run]);
        let tone = if run.failures() > 0 { Tone::Alarm } else { Tone::Plain };
        grid.row(tone, [(number + 1).to_string()].into_iter().chain(cells).collect());
    }
    grid.rule();
    grid.row(Tone::Strong, ["median".to_owned()].into_iter().chain(cells(&runs)).collect());
    for (name, end) in [("least", f64::min as fn(f64, f64) -> f64), ("most", f64::max)] {
        let cell = |&(_, figure, show): &Column| {
            let ends = runs.iter().filter_map(|run| figure(run)).reduce(end);
            ends.map_or_else(|| "-".to_owned(), show)
        };
        let cells = FIGURES.iter().chain(&MACHINE).map(cell);
        grid.row(Tone::Quiet, [name.to_owned()].into_iter().chain(cells).chain([String::new()]).collect());
    }
    grid
}

/// One row for each step: the median of its runs, with the range of the rate where there are several.
fn steps(series: &BenchSeries, sweep: &Sweep) -> Grid {
    let several = series.repeat > 1;
    let mut grid = grid(sweep.over.name(), several.then_some("range of req/s"));
    for runs in series.by_step() {
        let failed = runs.iter().any(|run| run.failures() > 0);
        let mut row = vec![units::count(runs.first().map_or(0, |run| sweep.over.value(run)))];
        if several {
            let rates = || runs.iter().filter_map(|run| run.requests_per_s());
            let ends = rates().reduce(f64::min).zip(rates().reduce(f64::max));
            row.push(ends.map_or("-".into(), |(least, most)| format!("{}..{}", units::rate(least), units::rate(most))));
        }
        row.extend(cells(&runs));
        grid.row(if failed { Tone::Alarm } else { Tone::Plain }, row);
    }
    grid
}

/// Medians over the runs, and all their failures.
fn cells(runs: &[&BenchResult]) -> Vec<String> {
    let cell = |&(_, figure, show): &Column| {
        let values = runs.iter().filter_map(|run| figure(run)).collect();
        median(values).map_or_else(|| "-".to_owned(), show)
    };
    let mut failed: BTreeMap<String, u64> = BTreeMap::new();
    for (kind, count) in runs.iter().flat_map(|run| &run.failed) {
        let sum = failed.entry(kind.clone()).or_default();
        *sum = sum.saturating_add(*count);
    }
    let failed = bench::kinds(failed.iter());
    let failed = if failed.is_empty() { "0".to_owned() } else { failed };
    FIGURES.iter().chain(&MACHINE).map(cell).chain([failed]).collect()
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    let upper = values.get(middle)?;
    Some(if values.len() % 2 == 1 { *upper } else { (values[middle - 1] + upper) / 2.0 })
}

/// Each warning once, as the first run that has it words it, and in how many runs it came.
fn warnings(runs: &[BenchResult]) -> Vec<Finding> {
    let mut first: Vec<(Finding, usize)> = Vec::new();
    for finding in runs.iter().flat_map(|run| &run.findings).filter(|finding| finding.warns) {
        match first.iter_mut().find(|(known, _)| known.name == finding.name) {
            Some((_, count)) => *count += 1,
            None => first.push((finding.clone(), 1)),
        }
    }
    let said = |(mut finding, count): (Finding, usize)| {
        finding.text = format!("in {count} of {}, first: {}", units::counted(runs.len() as u64, "run"), finding.text);
        finding
    };
    first.into_iter().map(said).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle_or_between_the_two() {
        assert_eq!(median(vec![3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(vec![4.0, 1.0, 3.0, 2.0]), Some(2.5));
        assert_eq!(median(vec![]), None);
    }
}
