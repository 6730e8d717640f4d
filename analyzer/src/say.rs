//! What is told to the user beside the results: on stderr, and a stderr that is closed is no reason to fail.

use std::{
    fmt::Display,
    io::{self, Write as _},
};

/// Progress, warnings, errors.
pub(crate) fn say(text: impl Display) {
    let _ = writeln!(io::stderr(), "analyzer: {text}");
}

/// The remedy, below an error.
pub(crate) fn hint(text: impl Display) {
    let _ = writeln!(io::stderr(), "hint: {text}");
}
