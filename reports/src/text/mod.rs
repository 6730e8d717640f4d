//! Recordings as text for a terminal or a file: pure functions of what was recorded.
//!
//! Nothing here reads a file or looks at the terminal; [`Style`] says what the caller found there.

mod bench;
mod bench_series;
mod completeness;
mod counter_meaning;
mod grid;
mod hold;
mod overview;
mod page;
mod percentiles;
mod run;
mod style;
mod syscalls;
mod tcp;

pub use bench::bench;
pub use bench_series::bench_series;
pub use hold::{held, hold};
pub use overview::overview;
pub use percentiles::percentiles;
pub use run::{run, run_below_bench};
pub use style::Style;

/// Longest name shown in a table, in columns.
const NAME_COLUMNS: usize = 32;
