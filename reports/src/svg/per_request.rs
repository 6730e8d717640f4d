//! The server's system calls for each successful request, by kind: of one run, and of several beside each other.

use std::{cmp::Reverse, collections::BTreeMap};

use super::{
    figure::{self, Figure},
    frame::{self, Words},
    palette,
    stacked::{Row, Stacked},
};
use crate::{
    recording::Recording,
    stats::{PerRequest, RunFigures},
    table::{Cell, Table},
    units,
};

/// Calls of the run named `run`; `None` without a server or without successful requests.
#[must_use]
pub fn per_request(recording: &Recording, run: &str) -> Option<Figure<'static>> {
    let counts = PerRequest::of(recording)?;
    let row = |(name, calls): &(String, u64)| Row {
        name: name.clone(),
        parts: vec![counts.ratio(*calls)],
        label: format!("{}, {}", units::ratio(counts.ratio(*calls)), units::counted(*calls, "call")),
    };
    let words = Words {
        title: "What the server called for each request".into(),
        subtitle: "System calls of the server over successful requests".into(),
        caption: vec![
            frame::how_measured(recording, run),
            format!(
                "{} for {}: {} a request",
                units::counted(counts.all(), "call"),
                units::counted(counts.ok, "successful request"),
                units::ratio(counts.ratio(counts.all())),
            ),
        ],
    };
    let rows = counts.calls.iter().map(row).collect();
    let kinds = vec!["calls".into()];
    let chart = Stacked {
        name: "per-request",
        words,
        kinds,
        rest: false,
        rows,
        show: units::ratio,
        least_end: 0.0,
        guide: None,
    };
    chart.figure(move || data(&counts))
}

fn data(counts: &PerRequest) -> Table {
    let mut table = figure::data(&[("syscall", ""), ("calls", ""), ("calls", "per_request")]);
    for (name, calls) in &counts.calls {
        table.row(vec![Cell::text(name), Cell::Count(*calls), Cell::Number(counts.ratio(*calls))]);
    }
    table
}

/// Calls of each run; `None` when fewer than two have them.
#[must_use]
pub fn per_request_of_runs(runs: &[RunFigures]) -> Option<Figure<'_>> {
    let known: Vec<(&RunFigures, &PerRequest)> =
        runs.iter().filter_map(|run| Some((run, run.per_request.as_ref()?))).collect();
    if known.len() < 2 {
        return None;
    }
    let mut kinds = most_frequent(&known);
    let row = |(run, counts): &(&RunFigures, &PerRequest)| {
        let count = |kind: &String| counts.calls.iter().find(|(name, _)| name == kind).map_or(0, |(_, calls)| *calls);
        let mut parts: Vec<f64> = kinds.iter().map(|kind| counts.ratio(count(kind))).collect();
        let all = counts.ratio(counts.all());
        parts.push((all - parts.iter().sum::<f64>()).max(0.0));
        Row { name: run.name.clone(), parts, label: units::ratio(all) }
    };
    let rows = known.iter().map(row).collect();
    kinds.push("others".into());
    let words = Words {
        title: "What the server called for each request, run by run".into(),
        subtitle: "System calls of the server over successful requests; less is better".into(),
        caption: vec![format!("{}, by path; one bar is one run", units::counted(known.len() as u64, "run"))],
    };
    let chart = Stacked {
        name: "per-request",
        words,
        kinds,
        rest: true,
        rows,
        show: units::ratio,
        least_end: 0.0,
        guide: None,
    };
    chart.figure(move || data_of_runs(&known))
}

/// Kinds that have a colour of their own, by how often they were called in all runs together.
fn most_frequent(runs: &[(&RunFigures, &PerRequest)]) -> Vec<String> {
    let mut sums: BTreeMap<&str, f64> = BTreeMap::new();
    for (_, counts) in runs {
        for (name, calls) in &counts.calls {
            *sums.entry(name).or_default() += counts.ratio(*calls);
        }
    }
    let mut kinds: Vec<(&str, f64)> = sums.into_iter().collect();
    kinds.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| Reverse(b.0).cmp(&Reverse(a.0))));
    kinds.into_iter().take(palette::CURVES.len() - 1).map(|(name, _)| name.to_owned()).collect()
}

fn data_of_runs(runs: &[(&RunFigures, &PerRequest)]) -> Table {
    let mut table = figure::data(&[("run", ""), ("syscall", ""), ("calls", ""), ("calls", "per_request")]);
    for (run, counts) in runs {
        for (name, calls) in &counts.calls {
            let ratio = Cell::Number(counts.ratio(*calls));
            table.row(vec![Cell::text(&run.name), Cell::text(name), Cell::Count(*calls), ratio]);
        }
    }
    table
}
