//! What is sent.

use super::values;

/// Sizes of requests, both ends included.
pub type Sizes = std::ops::RangeInclusive<u32>;

/// What is sent.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Payload")]
pub struct PayloadOptions {
    /// Bytes of a request, and of its reply; with a range every request has a size of its own
    #[arg(long, value_name = "BYTES|MIN-MAX", default_value = "64", value_parser = values::sizes)]
    pub payload: Sizes,
}
