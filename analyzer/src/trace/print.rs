//! What a run shows on the terminal: progress on stderr, results on stdout.

use std::{
    io::{self, Write as _},
    path::Path,
};

use reports::{recording::Recording, terminal, text};

use super::target::Target;
use crate::say::say;

/// Says what is about to be measured.
pub(crate) fn announce(target: Option<&Target>) {
    let Some(target) = target else { return };
    let pids = target.pids.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
    let listeners = target.listeners.iter().map(ToString::to_string).collect::<Vec<_>>();
    let place = if listeners.is_empty() { String::new() } else { format!(", listening on {}", listeners.join(", ")) };
    say(format_args!("tracing {} (pid {pids}){place}", target.label));
}

/// The result as tables, below what the workload has printed itself.
///
/// # Errors
/// When stdout cannot be written.
pub(crate) fn recording(recording: &Recording) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let gap = if recording.group("client").is_some() { "\n" } else { "" };
    write!(out, "{gap}{}", text::run_below_bench(recording, &terminal::style()))?;
    out.flush()
}

/// Names the recording.
pub(crate) fn written(file: &Path) {
    say(format_args!("recording written to {}", file.display()));
}
