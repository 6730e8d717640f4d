//! `analyzer report`: finds recordings, prints them, and writes charts and pages.
//!
//! Owns the order of things and what happens when a part fails: the rest goes on. Argument parsing, colours and the
//! exit status belong to the caller.

mod failure;
mod files;
mod list;
mod output;
mod runs;

use std::{
    collections::BTreeSet,
    io::{self, Write},
    path::PathBuf,
};

pub use failure::Failure;

use crate::{
    store,
    text::{Style, View},
};
use output::Output;

/// A kind of file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Format {
    /// A drawing for each chart.
    Svg,
    /// A picture for each chart.
    Png,
    /// One page with everything.
    Html,
    /// One text with everything.
    Md,
    /// A file for each table, those behind the charts included.
    Csv,
}

/// What is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Print {
    /// One run in full, several as a table.
    #[default]
    Tables,
    /// Each run in full.
    Full,
    /// Everything as one JSON value.
    Json,
    /// A line for each run, from the head of its file.
    List,
}

/// What to report, and how.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Recordings, and folders to search for them.
    pub paths: Vec<PathBuf>,
    /// What is printed.
    pub print: Print,
    /// Files to write.
    pub formats: BTreeSet<Format>,
    /// Folder for what is written, with a folder for each run; beside the recordings when there is none.
    pub out: Option<PathBuf>,
    /// Columns and order of the printed system-call tables.
    pub view: View,
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

/// Prints every recording found to `out` and writes the files that were asked for.
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
    if options.print == Print::List {
        list::print(&runs, options, out, &mut outcome)?;
        return Ok(outcome);
    }
    let mut output = Output::new(options, &runs, out);
    for run in &runs {
        // One at a time: only text and figures are kept, so that thousands of recordings need little memory.
        match store::read(&run.recording) {
            Ok(recording) => output.add(run, &recording, &mut outcome)?,
            Err(error) => outcome.failed.push(error.into()),
        }
    }
    output.finish(&mut outcome)?;
    Ok(outcome)
}
