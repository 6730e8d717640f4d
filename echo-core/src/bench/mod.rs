//! The load generator: a closed loop of non-blocking connections on few epoll threads.
//!
//! Way of the data: `options` (asked for) -> `plan` -> `run` (threads of `worker`, each with its `slot`s) -> `tally` ->
//! `reports::bench::BenchResult`.

mod clock;
mod failure;
mod handover;
mod options;
mod pattern;
mod plan;
mod run;
mod slot;
mod tally;
mod worker;

pub use failure::Failure;
pub use handover::{JsonFile, RESULT_FILE_VARIABLE, append_line};
pub use options::BenchOptions;
pub use plan::Plan;
pub use run::run;
