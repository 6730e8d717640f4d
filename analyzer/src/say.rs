//! What is told to the user beside the results: on stderr, and a stderr that is closed is no reason to fail.

use std::{
    fmt::Display,
    io::{self, Write as _},
};

use reports::printable::printable;

/// Progress, warnings, errors.
pub(crate) fn say(text: impl Display) {
    let _ = writeln!(io::stderr(), "analyzer: {}", harmless(text));
}

/// The remedy, below an error.
pub(crate) fn hint(text: impl Display) {
    let _ = writeln!(io::stderr(), "hint: {}", harmless(text));
}

/// Names of files and processes come into these texts, and may hold anything: only line ends pass as they are.
fn harmless(text: impl Display) -> String {
    text.to_string().lines().map(printable).collect::<Vec<_>>().join("\n")
}
