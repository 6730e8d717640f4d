//! What becomes of each run that was read, and of all of them together: printed, or written into files.

use std::{
    io::{self, Write},
    path::{Path, PathBuf},
};

use super::{
    Format, Options, Outcome, Print,
    files::{self, Charts},
    runs::{self, Run},
};
use crate::{document::Document, html, json, md, printable, recording::Recording, stats::RunFigures, text};

/// Runs that a page or a text of several shows in full: more would be too much to open.
const IN_FULL: usize = 20;

const ONE_IN_FULL: &str = "  one run in full: analyzer report FOLDER; all of them: --full";

pub(super) struct Output<'a, W> {
    options: &'a Options,
    out: &'a mut W,
    charts: Charts,
    /// Where files about all runs go; `None` when there is only one.
    common: Option<PathBuf>,
    figures: Vec<RunFigures>,
    texts: Vec<String>,
    sections: Vec<html::Section>,
    chapters: Vec<String>,
    notes: Vec<String>,
}

impl<'a, W: Write> Output<'a, W> {
    pub(super) fn new(options: &'a Options, runs: &[Run], out: &'a mut W) -> Self {
        Self {
            options,
            out,
            charts: Charts::new(&options.formats),
            common: (runs.len() > 1).then(|| runs::common_folder(options, runs)),
            figures: Vec::new(),
            texts: Vec::new(),
            sections: Vec::new(),
            chapters: Vec::new(),
            notes: Vec::new(),
        }
    }

    fn wants(&self, format: Format) -> bool {
        self.options.formats.contains(&format)
    }

    /// Prints what can be printed already, and writes the files of one run.
    pub(super) fn add(&mut self, run: &Run, recording: &Recording, outcome: &mut Outcome) -> io::Result<()> {
        self.figures.push(RunFigures::of(run.recording.clone(), run.name.clone(), recording));
        let path = printable::path(&run.recording);
        // The first in case it stays alone.
        let in_full = self.options.print == Print::Full || self.texts.is_empty();
        if in_full && self.options.print != Print::Json {
            self.texts
                .push(format!("{path}\n{}", text::run_viewed(recording, &self.options.view, &self.options.style)));
        }
        if self.options.formats.is_empty() && self.options.print != Print::Json {
            return Ok(());
        }
        let document = Document::of_run(recording, &run.name);
        if self.options.print == Print::Json {
            let start = if self.figures.len() == 1 { "{\"runs\":[\n" } else { ",\n" };
            self.out.write_all(start.as_bytes())?;
            let mut value = json::document(&document);
            value["recording"] = run.recording.to_string_lossy().into();
            json::write(self.out, &value)?;
        }
        self.files(&document, &run.charts, outcome);
        Ok(())
    }

    /// Drawings and tables into `folder`; page and text too, unless they wait for other runs.
    fn files(&mut self, document: &Document, folder: &Path, outcome: &mut Outcome) {
        let lines = self.charts.write(folder, document, outcome);
        self.notes.extend(lines);
        let number = self.sections.len().max(self.chapters.len());
        if number >= IN_FULL {
            return;
        }
        if self.wants(Format::Html) {
            self.sections.push(html::section(document, number + 1));
        }
        if self.wants(Format::Md) {
            let base = self.common.clone().unwrap_or_else(|| folder.to_owned());
            let drawn = self.charts.drawn();
            let beside = folder.strip_prefix(&base).unwrap_or(folder).to_owned();
            let path = |name: &str| Some(beside.join(format!("{name}.{}", drawn?)).to_string_lossy().into_owned());
            self.chapters.push(md::document(document, path));
        }
        if self.common.is_none() {
            self.whole(&document.title, folder, outcome);
        }
    }

    /// The page and the text, from what was collected for them.
    fn whole(&mut self, title: &str, folder: &Path, outcome: &mut Outcome) {
        let mut put = |name: &str, text: String, notes: &mut Vec<String>| {
            notes.extend(files::put(&folder.join(name), text.as_bytes(), outcome));
        };
        if self.wants(Format::Html) {
            put("report.html", html::page(title, &self.sections), &mut self.notes);
        }
        if self.wants(Format::Md) {
            put("report.md", self.chapters.join("\n---\n\n"), &mut self.notes);
        }
    }

    /// What is about all runs.
    pub(super) fn finish(mut self, outcome: &mut Outcome) -> io::Result<()> {
        if let Some(folder) = self.common.clone().filter(|_| !self.options.formats.is_empty() && self.figures.len() > 1)
        {
            let figures = std::mem::take(&mut self.figures);
            self.together(&figures, &folder, outcome);
            self.figures = figures;
        } else if let Some(folder) = self.common.clone() {
            // All but one could not be read.
            let title = self.figures.first().map(|run| run.name.clone()).unwrap_or_default();
            if !self.figures.is_empty() {
                self.whole(&title, &folder, outcome);
            }
        }
        if self.options.print == Print::Json { self.close_json(outcome) } else { self.print() }
    }

    fn together(&mut self, figures: &[RunFigures], folder: &Path, outcome: &mut Outcome) {
        let document = Document::of_runs(figures);
        let lines = self.charts.write(folder, &document, outcome);
        self.notes.extend(lines);
        if self.wants(Format::Html) {
            self.sections.insert(0, html::section(&document, 0));
        }
        if self.wants(Format::Md) {
            let drawn = self.charts.drawn();
            self.chapters.insert(0, md::document(&document, |name| Some(format!("{name}.{}", drawn?))));
        }
        let title = document.title.clone();
        self.whole(&title, folder, outcome);
        if figures.len() > IN_FULL && (self.wants(Format::Html) || self.wants(Format::Md)) {
            self.notes.push(format!(
                "the first {IN_FULL} of {} runs are shown in full: the others one by one",
                figures.len()
            ));
        }
    }

    fn close_json(self, outcome: &Outcome) -> io::Result<()> {
        let start = if self.figures.is_empty() { "{\"runs\":[" } else { "\n" };
        self.out.write_all(start.as_bytes())?;
        let several = (self.figures.len() > 1).then(|| json::document(&Document::of_runs(&self.figures)));
        let failed: Vec<String> = outcome.failed.iter().map(ToString::to_string).collect();
        let written: Vec<_> = outcome.written.iter().map(|path| path.to_string_lossy()).collect();
        for (key, value) in [("together", several.into()), ("failed", failed.into()), ("written", written.into())] {
            let start = if key == "together" { "]" } else { "" };
            write!(self.out, "{start},\"{key}\":")?;
            let value: serde_json::Value = value;
            json::write(self.out, &value)?;
        }
        self.out.write_all(b"}\n")?;
        self.out.flush()
    }

    fn print(self) -> io::Result<()> {
        let full = self.options.print == Print::Full;
        if self.figures.len() > 1 {
            write!(self.out, "{}", text::overview(&self.figures, &self.options.style))?;
            writeln!(self.out, "{}", if full { "" } else { ONE_IN_FULL })?;
        }
        let texts = if full || self.figures.len() == 1 { self.texts.as_slice() } else { &[] };
        for (number, text) in texts.iter().enumerate() {
            let gap = if number > 0 { "\n\n" } else { "" };
            write!(self.out, "{gap}{text}")?;
        }
        if !self.notes.is_empty() {
            writeln!(self.out)?;
        }
        for note in &self.notes {
            writeln!(self.out, "{note}")?;
        }
        self.out.flush()
    }
}
