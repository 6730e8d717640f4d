//! The command line of `analyzer watch`.

use std::time::Duration;

use clap::Args;

use super::{alert::Alert, namespaces::Wanted};
use crate::cli::interval;

/// Show one row per listening socket and the host's TCP counters: full-screen on a terminal, lines into a pipe.
#[derive(Debug, Args)]
#[command(after_help = "\
QUEUE/LIMIT  connections that wait for accept, and the backlog in force: a listener holds one more than that
HIGH         most that were seen waiting since the start of watch (it looks ten times an interval)
DROPS        connection attempts dropped since the start of watch, and per second; retried SYNs count again
AT-SYN       of these, the accept queue was full when the SYN came
AT-ACK       the accept queue was full when the handshake's final ACK came (`-` without the probes)
SYN-Q        the SYN queue was full and no cookie was sent
OTHER        another cause, or one that the kernel does not tell of one listener among several
EVER         the socket's own counter since it was made, as `ss -lntm` shows it after the d (a drop at the final ACK
             moves it by 2)
P50, P99     wait in the accept queue, from the end of the handshake to accept's return, over the last 10 intervals
OWNER        a process that holds the socket: its id and name

Metrics for --alert, of each listener: drops, drops_per_s, drops_ever, queue, high, fill (0..1, or in %), wait_p50,
wait_p99 (with a unit: 10ms); of the namespace: syn_retransmits, time_wait, orphans. Operators: > >= < <= == !=

Exit status: 0 done; 1 failed; 2 wrong usage; 3 when an --alert came true.

Examples:
  sudo analyzer watch
  sudo analyzer watch --netns all --port 443
  analyzer watch --once --json | jq '.namespaces[].listeners[]'
  sudo analyzer watch --interval 100ms --count 100 --alert 'drops>0' --alert 'fill>=90%' > watch.log")]
pub(crate) struct WatchArgs {
    /// Time between rows, such as 1s or 100ms
    #[arg(short, long, value_name = "TIME", default_value = "1s", value_parser = interval)]
    pub(crate) interval: Duration,
    /// Stop after this many rounds
    #[arg(short = 'n', long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) count: Option<u64>,
    /// Show what there is now and stop: nothing is counted (`-`) but by the sockets themselves (EVER), no probes
    #[arg(long, conflicts_with = "count")]
    pub(crate) once: bool,
    /// One JSON object per interval
    #[arg(long)]
    pub(crate) json: bool,
    /// Only listeners on this port; may be given several times
    #[arg(short, long, value_name = "PORT")]
    pub(crate) port: Vec<u16>,
    /// Network namespace: of a process id, of a file such as /run/netns/NAME, or `all`; may be given several times
    #[arg(long, value_name = "PID|PATH|all")]
    pub(crate) netns: Vec<Wanted>,
    /// End with status 3 as soon as this is true of an interval, such as 'drops>0'; may be given several times
    #[arg(long, value_name = "EXPRESSION")]
    pub(crate) alert: Vec<Alert>,
    /// Do without eBPF: no accept-queue wait, no backlog as asked for, fewer causes
    #[arg(long)]
    pub(crate) no_probes: bool,
}
