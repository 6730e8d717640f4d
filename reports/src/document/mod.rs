//! A report before it has a form: what the page, Markdown, CSV and JSON are all made of.
//!
//! In the order in which it is read: findings, tables, charts, and how it was measured.

mod measured;
mod tables;

use crate::{
    findings::{self, Finding},
    provenance,
    recording::Recording,
    stats::RunFigures,
    svg::{self, Chart},
    table::Table,
    units,
};

/// A report on one run, or on several together.
pub struct Document<'a> {
    /// Name of the run, or a heading for several.
    pub title: String,
    /// A few lines below the title.
    pub lead: Vec<String>,
    /// What the run says about itself; `None` for several runs, each of which has its own.
    pub findings: Option<Vec<Finding>>,
    /// What was counted.
    pub tables: Vec<Table>,
    /// Those without a figure are named as left out.
    pub charts: Vec<Chart<'a>>,
    /// Machine, settings, loss, own cost.
    pub measured: Vec<Table>,
}

impl<'a> Document<'a> {
    /// Of the run named `run`.
    #[must_use]
    pub fn of_run(recording: &'a Recording, run: &str) -> Self {
        Self {
            title: run.to_owned(),
            lead: vec![provenance::title(recording), provenance::line(recording)],
            findings: Some(findings::of(recording)),
            tables: tables::of_run(recording),
            charts: svg::of_run(recording, run),
            measured: measured::tables(recording),
        }
    }

    /// Of several runs beside each other.
    #[must_use]
    pub fn of_runs(runs: &'a [RunFigures]) -> Self {
        Self {
            title: units::counted(runs.len() as u64, "run"),
            lead: Vec::new(),
            findings: None,
            tables: vec![tables::of_runs(runs)],
            charts: svg::of_runs(runs),
            measured: Vec::new(),
        }
    }

    /// Names of the charts that have no data, with what they would need.
    pub fn left_out(&self) -> impl Iterator<Item = (&str, &'static str)> {
        self.charts.iter().filter(|chart| chart.figure.is_none()).map(|chart| (chart.name.as_str(), chart.needs))
    }

    /// Every table, those behind the charts included.
    pub fn all_tables(&self) -> impl Iterator<Item = Table> {
        let figures = self.charts.iter().filter_map(|chart| chart.figure.as_ref());
        self.tables.iter().chain(&self.measured).cloned().chain(figures.map(svg::Figure::data))
    }
}
