//! What the load generator was asked, what it measured, and what it found out about its own figures: the documents that
//! `bench --json` writes and recordings embed. Does not measure and does not print.

mod finding;
mod result;
mod series;
mod settings;

pub use finding::{Finding, Unit};
pub use result::{BenchResult, Machine, SCHEMA};
pub use series::{BenchSeries, Sweep, SweepOver};
pub use settings::{BenchSettings, Close, Mode, Pace};
