//! The load generator: closed and open loops of non-blocking connections on few epoll threads.
//!
//! Way of the data: `options` (asked for) and `facts` (the kernel's) -> `plan` -> `preflight` -> `run` (threads of `worker`,
//! each with its `slot`s) -> `tally` and `readings` -> `findings` -> `reports::bench::BenchResult`; several of them: `series`.

mod alarm;
mod clock;
mod facts;
mod failure;
mod findings;
mod handover;
mod job;
mod monitor;
pub mod options;
mod pattern;
mod plan;
mod preflight;
mod progress;
mod readings;
mod run;
mod series;
mod slot;
mod sources;
mod tally;
mod timing;
mod worker;

pub use facts::Facts;
pub use failure::Failure;
pub use handover::{RESULT_FILE_VARIABLE, ResultFile, append_line};
pub use options::BenchOptions;
pub use plan::Plan;
pub use preflight::preflight;
pub use progress::Progress;
pub use run::run;
pub use series::SeriesPlan;
