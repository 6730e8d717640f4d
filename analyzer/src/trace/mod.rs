//! `analyzer trace`: from what was asked to the recording.

mod assemble;
mod calibration;
mod ending;
pub(crate) mod folder;
mod lookout;
mod outcome;
mod print;
mod run;
mod sampling;
mod series;
mod session;
mod spec;
mod target;
mod wanted;
mod workload;

pub(crate) use run::{FAILED, run};
