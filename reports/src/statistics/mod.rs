//! What may be claimed from repeated runs: medians, intervals, tests, and the price of looking many times.
//!
//! Pure functions of numbers; nothing here knows what was measured. Random numbers are seeded: the same input gives
//! the same interval on every machine.

mod bootstrap;
mod many;
mod random;
mod rank;
mod sample;

pub use bootstrap::{LEAST_RUNS, ratio_of_medians};
pub use many::adjusted;
pub use random::{Random, seed_of};
pub use rank::{least_p, mann_whitney};
pub use sample::{Summary, median};

/// What is called significant: a difference that chance alone would show in one of twenty trials.
pub const ALPHA: f64 = 0.05;
