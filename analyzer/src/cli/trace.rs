//! What can be typed after `analyzer trace`.

use std::{path::PathBuf, time::Duration};

use clap::{Args, ValueEnum};

use super::{ViewArgs, interval, positive_duration};

/// Start a server, wait until it listens, start the workload held, attach the probes to both, release it.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sudo analyzer trace --target echo-epoll-lt -- bench --mode short
  sudo analyzer trace --target 'python3 -m http.server 8000' -- ab -n 1000 http://127.0.0.1:8000/
  sudo analyzer trace -p $(pidof nginx) -d 10s
  sudo analyzer trace -e %net,close -- curl http://127.0.0.1/
  sudo analyzer trace --cgroup /sys/fs/cgroup/system.slice/nginx.service -d 1m --by process
  sudo analyzer trace --format strace -- ls > table

Exit status: the workload's own; 128+N when signal N ended it; 125 when tracing itself failed;
126 or 127 when the workload cannot be executed or found; 2 for wrong usage.")]
#[expect(clippy::struct_excessive_bools, reason = "independent switches of a command line")]
pub(crate) struct TraceArgs {
    /// Server to start and trace: a program beside `analyzer` or on PATH, or a quoted command line
    #[arg(short, long, value_name = "COMMAND", conflicts_with_all = ["pid", "comm", "cgroup"])]
    pub(crate) target: Option<String>,
    /// Running processes to trace, with all their threads and children: -p 12,13 or -p $(pidof nginx); the number inside
    /// a container is understood where it means one process only
    #[arg(short, long, value_name = "PID", num_args = 1.., conflicts_with_all = ["comm", "cgroup"])]
    pub(crate) pid: Vec<String>,
    /// Processes of this name, those that exist and those that come by exec
    #[arg(long, value_name = "NAME", conflicts_with = "cgroup")]
    pub(crate) comm: Option<String>,
    /// Processes in this control group (version 2) or below it, those that exist and those that exec in it later
    #[arg(long, value_name = "PATH")]
    pub(crate) cgroup: Option<PathBuf>,
    /// End the run after this time, such as 10s or 1m30s
    #[arg(short, long, value_name = "TIME", value_parser = positive_duration)]
    pub(crate) duration: Option<Duration>,
    /// Count only these system calls: names, %net and other classes, /regex/, separated by commas; ! before them: all others
    #[arg(short = 'e', long = "calls", value_name = "CALLS", value_parser = not_empty)]
    pub(crate) calls: Vec<String>,
    /// Also one table by thread or process
    #[arg(long, value_name = "WHAT")]
    pub(crate) by: Option<By>,
    /// Read no clock: calls and errors only, at the least cost
    #[arg(long)]
    pub(crate) count_only: bool,
    /// Do not tell time on the CPU from time off it, which costs a little at each context switch
    #[arg(long)]
    pub(crate) no_on_cpu: bool,
    /// Length of an interval of the series over time [default: grows with the run, at most 120 of them]
    #[arg(long, value_name = "TIME", value_parser = interval)]
    pub(crate) interval: Option<Duration>,
    /// What is printed: our tables, the recording as JSON, or the table of `strace -c`; in the latter two and with -q, what
    /// the workload prints goes to stderr
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    pub(crate) format: Format,
    /// Print only the path of the recording
    #[arg(short, long, conflicts_with = "format")]
    pub(crate) quiet: bool,
    #[command(flatten)]
    pub(crate) view: ViewArgs,
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

/// Into what the table is split.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum By {
    /// One row for each thread and call.
    Thread,
    /// One row for each process and call.
    Process,
}

/// What is printed on stdout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Tables for people.
    Table,
    /// The recording.
    Json,
    /// What scripts for `strace -c` read.
    Strace,
}

fn not_empty(text: &str) -> Result<String, String> {
    if text.trim().is_empty() { Err("no name (connect,close,accept4)".to_owned()) } else { Ok(text.to_owned()) }
}
