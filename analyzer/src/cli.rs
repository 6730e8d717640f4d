//! The command line: what can be typed. What it means is checked in each command's `spec`.

use std::{path::PathBuf, time::Duration};

use clap::{Args, Parser, Subcommand};

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
    Trace(TraceArgs),
    /// Print recordings as tables, and draw them
    Report(ReportArgs),
    /// Show listen queues and drops, live
    Watch(WatchArgs),
}

/// Start a server, wait until it listens, start the workload held, attach the probes to both, release it.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sudo analyzer trace --target echo-epoll-lt -- bench --mode short
  sudo analyzer trace --target 'python3 -m http.server 8000' -- ab -n 1000 http://127.0.0.1:8000/
  sudo analyzer trace -p $(pidof nginx) -d 10s
  sudo analyzer trace -e connect,close -- curl http://127.0.0.1/

Exit status: the workload's own; 128+N when signal N ended it; 125 when tracing itself failed;
126 or 127 when the workload cannot be executed or found; 2 for wrong usage.")]
pub(crate) struct TraceArgs {
    /// Server to start and trace: a program beside `analyzer` or on PATH, or a quoted command line
    #[arg(short, long, value_name = "COMMAND", conflicts_with = "pid")]
    pub(crate) target: Option<String>,
    /// Running processes to trace, with all their threads and children: -p 12,13 or -p $(pidof nginx)
    #[arg(short, long, value_name = "PID", num_args = 1..)]
    pub(crate) pid: Vec<String>,
    /// End the run after this time, such as 10s or 1m30s
    #[arg(short, long, value_name = "TIME", value_parser = positive_duration)]
    pub(crate) duration: Option<Duration>,
    /// Count only these system calls, separated by commas
    #[arg(short = 'e', long = "calls", value_name = "NAMES", value_delimiter = ',', value_parser = not_empty)]
    pub(crate) calls: Vec<String>,
    /// Run target and workload as this user
    #[arg(short, long, value_name = "NAME")]
    pub(crate) user: Option<String>,
    /// Folder for the run's own folder
    #[arg(short, long, value_name = "DIR", default_value = "results")]
    pub(crate) output: PathBuf,
    /// How long the target may take until it listens
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = positive_duration)]
    pub(crate) ready_timeout: Duration,
    /// Leave TCP out: no probes for it, no section about it
    #[arg(long, conflicts_with = "connections")]
    pub(crate) no_tcp: bool,
    /// Write a line of JSON about each TCP connection of the network namespace when it ends
    #[arg(long, value_name = "FILE")]
    pub(crate) connections: Option<PathBuf>,
    /// Command that makes the load, after `--`
    #[arg(last = true, value_name = "WORKLOAD")]
    pub(crate) workload: Vec<String>,
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

fn not_empty(text: &str) -> Result<String, String> {
    if text.trim().is_empty() { Err("no name (connect,close,accept4)".to_owned()) } else { Ok(text.to_owned()) }
}

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
