//! `analyzer trace`: from what was asked to the recording.

mod assemble;
pub(crate) mod folder;
mod lookout;
mod outcome;
mod print;
mod run;
mod session;
mod spec;
mod target;
mod workload;

pub(crate) use run::{FAILED, run};
