//! Figures that another tool printed and that cannot be recomputed: a percentile without its distribution.

use serde::{Deserialize, Serialize};

/// A time as a tool printed it. Our own recordings have none: there every percentile comes from a full histogram.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stated {
    /// Of what: `connect` or `request`.
    pub owner: String,
    /// Which figure: `mean`, `p50`, `p99`, `p99.9`, ...
    pub measure: String,
    /// As printed, in ns.
    pub value_ns: u64,
    /// Its last printed digit, in ns: the value is at most that wrong.
    pub resolution_ns: u64,
}
