//! How much load, in which loop, how long and how often.

use std::time::Duration;

use reports::bench::{Pace, SweepOver};

use super::values;

/// The steps of `--sweep`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SweepSteps {
    /// What differs.
    pub over: SweepOver,
    /// In the order of the runs.
    pub steps: Vec<u64>,
}

/// How much, and when.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Load")]
pub struct LoadOptions {
    /// Connections kept busy at once, one request in flight on each; with --rate, the most in use at once
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub connections: u32,
    /// Open loop: so many requests are due each second, answered or not; latency counts from then
    #[arg(long, value_name = "PER_SECOND", value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    pub rate: Option<u64>,
    /// Requests of each connection [default: 100, unless --duration is given]
    #[arg(long, conflicts_with = "duration", value_parser = clap::value_parser!(u64).range(1..))]
    pub rounds: Option<u64>,
    /// Run for this long instead, such as 5s or 1m30s; requests in flight at the end are waited for
    #[arg(long, value_parser = values::positive_duration)]
    pub duration: Option<Duration>,
    /// Make the load for this long before anything is counted
    #[arg(long, value_name = "DURATION", value_parser = values::positive_duration)]
    pub warmup: Option<Duration>,
    /// Make the run so many times; prints each, and the median with the range
    #[arg(long, default_value_t = 1, value_name = "TIMES", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub repeat: u32,
    /// One run for each step: `connections=100,500,1000` or `rate=1000..20000/1000`; a rate that is not held ends it
    #[arg(long, value_name = "OVER=STEPS", value_parser = values::sweep)]
    pub sweep: Option<SweepSteps>,
    /// Pause of a connection between a reply and its next request
    #[arg(long, value_name = "DURATION", conflicts_with = "rate", value_parser = values::positive_duration)]
    pub think: Option<Duration>,
    /// At most so many requests begin in each interval, such as 500/1s: in a burst, where the load allows
    #[arg(long, value_name = "REQUESTS/INTERVAL", conflicts_with = "rate", value_parser = values::pace)]
    pub pace: Option<Pace>,
    /// Client threads; more than one helps only where the server leaves cores idle
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub threads: u32,
}
