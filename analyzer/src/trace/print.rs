//! What a run shows on the terminal: progress on stderr, results on stdout.

use std::{
    io::{self, Write as _},
    path::Path,
};

use reports::{
    recording::Recording,
    terminal,
    text::{self, View},
};

use super::target::Target;
use crate::say::say;

/// Says what is about to be measured.
pub(crate) fn announce(target: Option<&Target>) {
    let Some(target) = target else { return };
    let pids = target.pids.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
    let listeners = target.listeners.iter().map(ToString::to_string).collect::<Vec<_>>();
    let place = if listeners.is_empty() { String::new() } else { format!(", listening on {}", listeners.join(", ")) };
    let who = if pids.is_empty() { "no process yet".to_owned() } else { format!("pid {pids}") };
    say(format_args!("tracing {} ({who}){place}", target.label));
}

/// What is to be printed, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Output {
    /// Tables for people.
    Table(View),
    /// The recording.
    Json,
    /// The table of `strace -c`.
    Strace,
    /// The path of the recording.
    Path,
}

impl Output {
    /// Something reads stdout that the workload's own words would disturb.
    pub(crate) fn is_for_programs(&self) -> bool {
        !matches!(self, Self::Table(_))
    }
}

/// The result, below what the workload has printed itself.
///
/// # Errors
/// When stdout cannot be written.
pub(crate) fn recording(recording: &Recording, output: &Output) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match output {
        Output::Table(view) => {
            let gap = if recording.group("client").is_some() { "\n" } else { "" };
            write!(out, "{gap}{}", text::run_below_bench(recording, view, &terminal::style()))?;
        }
        Output::Json => {
            serde_json::to_writer(&mut out, recording)?;
            out.write_all(b"\n")?;
        }
        Output::Strace => write!(out, "{}", text::strace(recording))?,
        Output::Path => {}
    }
    out.flush()?;
    // Loss is never left unsaid; a script that asked for quiet is told of nothing else.
    if *output == Output::Strace || output.is_for_programs() && !text::is_whole(recording) {
        say(text::trust(recording));
    }
    Ok(())
}

/// Names the recording.
///
/// # Errors
/// When stdout cannot be written.
pub(crate) fn written(file: &Path, output: &Output) -> io::Result<()> {
    if *output == Output::Path {
        return writeln!(io::stdout(), "{}", file.display());
    }
    say(format_args!("recording written to {}", file.display()));
    Ok(())
}
