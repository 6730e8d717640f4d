//! Connections that are opened and kept, nothing sent: how many a machine holds, at which price in memory, how fast they
//! open, and what the first that cannot be had fails of.
//!
//! One process may have only so many descriptors, so the work is split: the process that was started (`crew`, `run`) starts
//! itself again, once for each part (`connect`, and `sink` where it is to be the other end too), and talks with the parts
//! by pipes (`message`). A part whose pipe ends, ends.

mod connect;
mod crew;
mod memory;
mod message;
mod options;
mod part;
mod plan;
mod run;
mod sink;

pub use options::HoldOptions;
pub use part::run_part;
pub use plan::HoldPlan;
pub use run::{Held, open};
