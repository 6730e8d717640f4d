//! `analyzer import`: what other tools printed becomes a recording, marked with where it comes from and with what it
//! cannot know.
//!
//! Nothing is invented: what a tool does not tell is named as unknown, and a line that is not understood is kept as
//! skipped. Pure functions of bytes; files belong to the caller.

mod ab;
mod bench;
mod decimal;
mod lines;
mod perf_trace;
mod strace;
mod wrk;

use std::{fmt, str::FromStr};

use crate::{
    bench::BenchResult,
    printable::printable,
    recording::{Fact, Group, Host, Origin, Recording, SCHEMA, Stated, Unknown},
};
use lines::{Lines, Skipped};

/// Largest text that is read: a summary is a few KB.
pub const LARGEST_BYTES: u64 = 64 << 20;

/// What made the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// The table of `strace -c`.
    Strace,
    /// The tables of `perf trace -s`.
    PerfTrace,
    /// `bench --json`.
    Bench,
    /// Apache's `ab`.
    Ab,
    /// `wrk`, best with `--latency`.
    Wrk,
}

impl Format {
    /// All, in the order in which they are tried.
    pub const ALL: [Self; 5] = [Self::Bench, Self::Strace, Self::PerfTrace, Self::Ab, Self::Wrk];

    /// The word on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Strace => "strace",
            Self::PerfTrace => "perf-trace",
            Self::Bench => "bench",
            Self::Ab => "ab",
            Self::Wrk => "wrk",
        }
    }

    /// How the tool is called.
    fn tool(self) -> &'static str {
        match self {
            Self::Strace => "strace -c",
            Self::PerfTrace => "perf trace -s",
            Self::Bench => "bench --json",
            Self::Ab => "ab",
            Self::Wrk => "wrk",
        }
    }

    fn is_in(self, lines: &Lines) -> bool {
        match self {
            Self::Strace => strace::is_in(lines),
            Self::PerfTrace => perf_trace::is_in(lines),
            Self::Bench => bench::is_in(lines),
            Self::Ab => ab::is_in(lines),
            Self::Wrk => wrk::is_in(lines),
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Format {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let all = || Self::ALL.map(Self::name).join(", ");
        Self::ALL.into_iter().find(|format| format.name() == text).ok_or_else(|| format!("must be one of {}", all()))
    }
}

/// A text to import.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// Name of its file.
    pub file: &'a str,
    /// The text; any bytes.
    pub bytes: &'a [u8],
    /// When the file was written last, RFC 3339: the only hint at when the run was.
    pub modified: &'a str,
    /// What the traced processes were, `server` or `client`: no tool tells.
    pub group: &'a str,
    /// What made it; found out where it is not said.
    pub format: Option<Format>,
}

/// Why a text gives no recording.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum ImportError {
    /// Nothing in it looks like any of the tools' output.
    #[error("`{file}` holds no output of strace -c, perf trace -s, bench --json, ab or wrk")]
    Unknown {
        /// The file.
        file: String,
    },
    /// It looks like the output of several tools.
    #[error("`{file}` holds output of several tools: {tools}")]
    Ambiguous {
        /// The file.
        file: String,
        /// Which.
        tools: String,
    },
    /// It is not what it was said to be, or has too little of it.
    #[error("`{file}` cannot be imported as {tool}: {why}")]
    Unusable {
        /// The file.
        file: String,
        /// The tool.
        tool: &'static str,
        /// What is missing.
        why: String,
    },
}

impl ImportError {
    /// The remedy, where there is one.
    #[must_use]
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Unknown { .. } | Self::Ambiguous { .. } => {
                Some("say what it is: --as strace, perf-trace, bench, ab or wrk")
            }
            Self::Unusable { .. } => None,
        }
    }
}

/// What a parser found.
#[derive(Default)]
struct Parsed {
    groups: Vec<Group>,
    bench: Vec<BenchResult>,
    stated: Vec<Stated>,
    /// Beside [`Fact::NEVER_TOLD`].
    unknown: Vec<Unknown>,
    /// What a recording has no place for.
    not_kept: Vec<String>,
    duration_ns: u64,
    /// Why the figures are not whole, when that can be seen.
    shortfall: Option<String>,
    skipped: Skipped,
}

/// Makes a recording of what a tool printed.
///
/// # Errors
/// When it is not the output of a known tool, or too little of it.
pub fn import(source: &Source) -> Result<Recording, ImportError> {
    let file = printable(source.file);
    let lines = Lines::of(source.bytes);
    let format = match source.format {
        Some(format) => format,
        None => detected(&lines, &file)?,
    };
    let parsed = match format {
        Format::Strace => strace::parse(&lines, source.group),
        Format::PerfTrace => perf_trace::parse(&lines, source.group),
        Format::Bench => bench::parse(&lines),
        Format::Ab => ab::parse(&lines),
        Format::Wrk => wrk::parse(&lines),
    };
    let parsed = parsed.map_err(|why| ImportError::Unusable { file: file.clone(), tool: format.tool(), why })?;
    Ok(Recording {
        schema: SCHEMA,
        tool: format!("import {}", env!("CARGO_PKG_VERSION")),
        complete: parsed.shortfall.is_none(),
        incomplete_because: parsed.shortfall,
        origin: Some(Origin {
            tool: format.tool().to_owned(),
            file,
            unknown: Fact::NEVER_TOLD.map(Unknown::Fact).into_iter().chain(parsed.unknown).collect(),
            skipped: parsed.skipped.into_listed(),
            not_kept: parsed.not_kept,
            stated: parsed.stated,
        }),
        started: source.modified.to_owned(),
        duration_ns: parsed.duration_ns,
        host: Host::default(),
        groups: parsed.groups,
        bench: parsed.bench,
        ..Recording::default()
    })
}

fn detected(lines: &Lines, file: &str) -> Result<Format, ImportError> {
    let found: Vec<Format> = Format::ALL.into_iter().filter(|format| format.is_in(lines)).collect();
    match found.as_slice() {
        [format] => Ok(*format),
        [] => Err(ImportError::Unknown { file: file.to_owned() }),
        several => {
            let tools: Vec<&str> = several.iter().map(|format| format.tool()).collect();
            Err(ImportError::Ambiguous { file: file.to_owned(), tools: tools.join(", ") })
        }
    }
}
