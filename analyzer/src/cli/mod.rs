//! The command line: what can be typed. What it means is checked in each command's `spec`.

mod trace;

use std::{path::PathBuf, time::Duration};

use clap::{Args, Parser, Subcommand};

pub(crate) use trace::{By, Format, TraceArgs};

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

/// Print the recordings below the given folders: one in full, several as a table to compare. Needs no root.
#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// Recordings, or folders with recordings below them
    #[arg(default_value = "results", value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// Print each run in full also when there are several
    #[arg(long)]
    pub(crate) full: bool,
    /// Draw charts as SVG files
    #[arg(long)]
    pub(crate) svg: bool,
    /// Folder for the charts; without it they go beside each recording
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
}

/// Show one row per listening socket and the host's TCP counters, until Ctrl-C.
#[derive(Debug, Args)]
#[command(after_help = "\
QUEUE/LIMIT  connections that wait for accept, and the backlog in force: a listener holds one more than that
HIGH         most that were seen waiting since the start of watch (it looks ten times an interval)
DROPS        connection attempts dropped since the start of watch, and per second; retried SYNs count again
EVER         the same since the socket was made, as `ss -lntm` shows it after the d
OWNER        a process that holds the socket: its id and name")]
pub(crate) struct WatchArgs {
    /// Time between rows, such as 1s or 500ms
    #[arg(short, long, value_name = "TIME", default_value = "1s", value_parser = interval)]
    pub(crate) interval: Duration,
    /// Stop after this many rounds
    #[arg(short = 'n', long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) count: Option<u64>,
}

const LONGEST: Duration = Duration::from_hours(365 * 24);
const SHORTEST_INTERVAL: Duration = Duration::from_millis(10);

fn positive_duration(text: &str) -> Result<Duration, String> {
    let duration = humantime::parse_duration(text).map_err(|error| format!("{error} (10s, 500ms, 1m30s)"))?;
    match duration {
        Duration::ZERO => Err("must be longer than nothing".to_owned()),
        duration if duration > LONGEST => Err("must be a year at most".to_owned()),
        duration => Ok(duration),
    }
}

/// Shorter ones cost more than they show.
fn interval(text: &str) -> Result<Duration, String> {
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
