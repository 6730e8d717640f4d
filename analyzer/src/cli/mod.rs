//! The command line: what can be typed. What it means is checked in each command's `spec`.

mod report;
mod trace;
mod view;

use std::time::Duration;

use clap::{Parser, Subcommand};

use crate::watch::WatchArgs;
pub(crate) use report::ReportArgs;
pub(crate) use trace::{By, Format, TraceArgs};
pub(crate) use view::ViewArgs;

/// Traces network servers and their load with eBPF: which system calls cost the time, and how it is distributed.
#[derive(Debug, Parser)]
#[command(version, propagate_version = true)]
pub(crate) struct Cli {
    /// Show the probes' own messages and what the kernel said of them; twice for more
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Start a server and a load, trace both, explain the run
    Trace(Box<TraceArgs>),
    /// Print recordings as tables, and draw them
    Report(ReportArgs),
    /// Compare runs: what changed, and is it more than noise
    Compare(crate::compare::CompareArgs),
    /// Make recordings of what strace -c, perf trace -s, bench, ab or wrk printed
    Import(crate::import::ImportArgs),
    /// Show listen queues and drops, live
    Watch(WatchArgs),
}

const LONGEST: Duration = Duration::from_hours(365 * 24);
const SHORTEST_INTERVAL: Duration = Duration::from_millis(10);

/// A time longer than nothing, such as `10s` or `1m30s`.
pub(crate) fn positive_duration(text: &str) -> Result<Duration, String> {
    let duration = humantime::parse_duration(text).map_err(|error| format!("{error} (10s, 500ms, 1m30s)"))?;
    match duration {
        Duration::ZERO => Err("must be longer than nothing".to_owned()),
        duration if duration > LONGEST => Err("must be a year at most".to_owned()),
        duration => Ok(duration),
    }
}

/// A time between looks. Shorter ones cost more than they show.
pub(crate) fn interval(text: &str) -> Result<Duration, String> {
    let interval = positive_duration(text)?;
    if interval < SHORTEST_INTERVAL { Err("must be 10ms at least".to_owned()) } else { Ok(interval) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
