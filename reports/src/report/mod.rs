//! `analyzer report`: finds recordings, prints them, and writes charts beside them.
//!
//! Owns the order of things and what happens when a part fails: the rest goes on. Argument parsing, colours and the
//! exit status belong to the caller.

mod failure;
mod files;
mod runs;

use std::{
    io::{self, Write},
    path::PathBuf,
};

pub use failure::Failure;

use crate::{
    printable,
    recording::Recording,
    stats::RunFigures,
    store, svg,
    text::{self, Style},
};
use runs::Run;

/// What to report, and how.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Recordings, and folders to search for them.
    pub paths: Vec<PathBuf>,
    /// Print each run in full also when there are several.
    pub full: bool,
    /// Write charts as SVG.
    pub svg: bool,
    /// Folder for what is written, with a folder for each run; beside the recordings when there is none.
    pub out: Option<PathBuf>,
    /// Look of the printed text.
    pub style: Style,
}

/// What came of it.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Files that were written, in order.
    pub written: Vec<PathBuf>,
    /// What was skipped or failed, in order. The report is whole only when this is empty.
    pub failed: Vec<Failure>,
}

/// Prints every recording found to `out` and writes the charts that were asked for.
///
/// What fails is named in the outcome and does not keep the rest from being reported.
///
/// # Errors
/// Only when `out` cannot be written to.
pub fn run(options: &Options, out: &mut impl Write) -> io::Result<Outcome> {
    let mut outcome = Outcome::default();
    let runs = runs::find(options, &mut outcome.failed);
    if runs.is_empty() && outcome.failed.is_empty() {
        outcome.failed.push(Failure::NoRecordings { paths: options.paths.clone() });
    }
    let mut pages = Pages::default();
    for run in &runs {
        // One at a time: only text and figures are kept, so that thousands of recordings need little memory.
        match store::read(&run.recording) {
            Ok(recording) => pages.add(run, &recording, options, &mut outcome),
            Err(error) => outcome.failed.push(error.into()),
        }
    }
    if options.svg && pages.figures.len() > 1 {
        let folder = runs::common_folder(options, &runs);
        let chart = svg::comparison(&pages.figures);
        pages.note(files::write(&folder, vec![("comparison.svg".to_owned(), chart)], &mut outcome));
    }
    pages.print(options, out)?;
    Ok(outcome)
}

const ONE_IN_FULL: &str = "  one run in full: analyzer report FOLDER; all of them: --full";

/// What will be printed, in the order of the runs.
#[derive(Default)]
struct Pages {
    figures: Vec<RunFigures>,
    texts: Vec<String>,
    notes: Vec<String>,
}

impl Pages {
    fn add(&mut self, run: &Run, recording: &Recording, options: &Options, outcome: &mut Outcome) {
        self.figures.push(RunFigures::of(run.recording.clone(), run.name.clone(), recording));
        let path = printable::path(&run.recording);
        // The first in case it stays alone.
        if options.full || self.texts.is_empty() {
            self.texts.push(format!("{path}\n{}", text::run(recording, &options.style)));
        }
        if options.svg {
            self.note(files::write(&run.charts, files::charts(recording, &run.name), outcome));
        }
    }

    fn note(&mut self, lines: Vec<String>) {
        self.notes.extend(lines);
    }

    fn print(&self, options: &Options, out: &mut impl Write) -> io::Result<()> {
        if self.figures.len() > 1 {
            write!(out, "{}", text::overview(&self.figures, &options.style))?;
            writeln!(out, "{}", if options.full { "" } else { ONE_IN_FULL })?;
        }
        let texts = if options.full || self.figures.len() == 1 { self.texts.as_slice() } else { &[] };
        for (number, text) in texts.iter().enumerate() {
            let gap = if number > 0 { "\n\n" } else { "" };
            write!(out, "{gap}{text}")?;
        }
        if !self.notes.is_empty() {
            writeln!(out)?;
        }
        for note in &self.notes {
            writeln!(out, "{note}")?;
        }
        out.flush()
    }
}
