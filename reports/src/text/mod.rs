//! Recordings as text for a terminal or a file: pure functions of what was recorded.
//!
//! Nothing here reads a file or looks at the terminal; [`Style`] says what the caller found there.

mod bench;
mod completeness;
mod counter_meaning;
mod grid;
mod overview;
mod page;
mod run;
mod style;
mod syscalls;
mod tcp;
mod tcp_connects;
mod tcp_lives;

pub use bench::bench;
pub use overview::overview;
pub use run::{run, run_below_bench};
pub use style::Style;

/// Longest name shown in a table, in columns.
const NAME_COLUMNS: usize = 32;
