//! The way to stdout and stderr of every binary here. Does not format results.

use std::{
    io::{self, Write},
    process::ExitCode,
};

use crate::Error;

/// Writes `text` to stdout and flushes it. A reader that has gone (`bench | head -1`) is not an error.
///
/// # Errors
/// When stdout cannot be written for another reason, such as a full disk.
pub fn print(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}

/// Writes an error with its causes to stderr, and the remedy where we know one.
pub fn print_error(error: &anyhow::Error) {
    let mut text = format!("error: {error:#}\n");
    if let Some(hint) = error.downcast_ref::<Error>().and_then(Error::hint) {
        text.push_str("hint: ");
        text.push_str(&hint);
        text.push('\n');
    }
    // Nowhere is left to report to when stderr itself is closed.
    let _ = io::stderr().write_all(text.as_bytes());
}

/// The end of a program that has only done or failed: the error is printed.
#[must_use]
pub fn exit_code(result: anyhow::Result<()>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            print_error(&error);
            ExitCode::FAILURE
        }
    }
}

/// Writes a warning to stderr: the run goes on without what it names.
pub fn warn(text: &str) {
    let _ = writeln!(io::stderr(), "warning: {text}");
}
