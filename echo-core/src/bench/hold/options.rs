//! The command line of `bench --hold`, as typed.

use super::part::Role;

/// Nothing is sent, and nothing is repeated.
const NOT_FOR_HOLD: [&str; 18] = [
    "classic_connections",
    "classic_rounds",
    "close",
    "connections",
    "hdr",
    "http",
    "linger0",
    "mode",
    "pace",
    "payload",
    "rate",
    "repeat",
    "requests_per_connection",
    "rounds",
    "sources",
    "sweep",
    "think",
    "warmup",
];

/// What to open and keep.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Connections that are only kept")]
pub struct HoldOptions {
    /// Open N connections, send nothing, and keep them for --duration or until Ctrl-C; with as many processes as the limit
    /// of descriptors asks for
    #[arg(long, value_name = "N", conflicts_with_all = NOT_FOR_HOLD,
          value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pub hold: Option<u32>,
    /// Be the other end too: accept them on loopback, instead of a server's
    #[arg(long, requires = "hold", conflicts_with_all = ["host", "port", "classic_host"])]
    pub hold_sink: bool,
    /// Open no more when the machine has less memory left [default: a tenth of all]
    #[arg(long, value_name = "MIB", requires = "hold")]
    pub hold_leave: Option<u64>,
    /// What this process is a part of; for its own use.
    #[arg(long, hide = true, exclusive = true)]
    pub hold_part: Option<Role>,
}
