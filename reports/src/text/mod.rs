//! Recordings as text for a terminal or a file: pure functions of what was recorded.
//!
//! Nothing here reads a file or looks at the terminal; [`Style`] says what the caller found there.

mod bench;
mod bench_series;
mod column;
mod compare;
mod completeness;
mod counter_meaning;
mod findings;
mod footnotes;
mod grid;
mod hold;
mod overview;
mod own_cost;
mod page;
mod percentiles;
mod perf;
mod run;
mod split;
mod stated;
mod strace;
mod style;
mod syscalls;
mod tcp;
mod tcp_connects;
mod tcp_lives;
mod trust;
mod uring;

pub use bench::bench;
pub use bench_series::bench_series;
pub use column::{Column, UnknownColumn};
pub use compare::comparison;
pub(crate) use counter_meaning::meaning;
pub use hold::{held, hold};
pub use overview::overview;
pub use percentiles::percentiles;
pub use run::{run, run_below_bench, run_viewed};
pub use strace::strace;
pub use style::Style;
pub use syscalls::View;
pub use trust::{is_whole, trust};

/// Longest name shown in a table, in columns.
const NAME_COLUMNS: usize = 32;
