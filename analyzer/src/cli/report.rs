//! What can be typed after `analyzer report`.

use std::{collections::BTreeSet, path::PathBuf};

use clap::{ArgAction, Args};
use reports::report::{Format, Print};

use super::ViewArgs;

/// Print the recordings below the given folders: one in full, several as a table to compare. Needs no root.
#[derive(Debug, Args)]
#[command(after_help = "\
Files go beside each recording, or into a folder of DIR for each run; those about all runs go into the first PATH that
is a folder, or into DIR.

Examples:
  analyzer report results/                        every recording below: a table to compare
  analyzer report results/RUN --html              one page with findings, tables and charts
  analyzer report results/ --svg --csv -o out     drawings, and the data behind them
  analyzer report results/RUN --json | jq '.runs[0].findings'
  analyzer report results/ --list                 which runs there are")]
pub(crate) struct ReportArgs {
    /// Recordings, or folders with recordings below them
    #[arg(default_value = "results", value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// Print each run in full also when there are several
    #[arg(long, action = ArgAction::SetTrue, group = "print")]
    full: bool,
    /// Print everything as one JSON value
    #[arg(long, action = ArgAction::SetTrue, group = "print")]
    json: bool,
    /// Print only which runs there are, from the head of each file
    #[arg(long, action = ArgAction::SetTrue, group = "print", conflicts_with = "formats")]
    list: bool,
    #[command(flatten)]
    formats: Formats,
    #[command(flatten)]
    pub(crate) view: ViewArgs,
    /// Folder for what is written
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[group(id = "formats", multiple = true)]
#[expect(clippy::struct_excessive_bools, reason = "one flag for each kind of file")]
struct Formats {
    /// Draw charts as SVG files
    #[arg(long)]
    svg: bool,
    /// Draw charts as PNG files
    #[arg(long)]
    png: bool,
    /// Write one page with everything, report.html: no scripts, nothing from elsewhere
    #[arg(long)]
    html: bool,
    /// Write everything as Markdown, report.md; it shows the charts that --svg or --png writes
    #[arg(long)]
    md: bool,
    /// Write every table as a CSV file, those behind the charts included
    #[arg(long)]
    csv: bool,
}

impl ReportArgs {
    pub(crate) fn print(&self) -> Print {
        match (self.full, self.json, self.list) {
            (true, ..) => Print::Full,
            (_, true, _) => Print::Json,
            (.., true) => Print::List,
            _ => Print::Tables,
        }
    }

    pub(crate) fn formats(&self) -> BTreeSet<Format> {
        let Formats { svg, png, html, md, csv } = self.formats;
        let asked =
            [(svg, Format::Svg), (png, Format::Png), (html, Format::Html), (md, Format::Md), (csv, Format::Csv)];
        asked.into_iter().filter_map(|(asked, format)| asked.then_some(format)).collect()
    }
}
