//! The client of earlier tools.

/// The client of earlier tools.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Client of earlier tools")]
pub struct ClassicOptions {
    /// Replay what earlier tools measured, artefacts and all: a blocking thread for each connection, all released at once by
    /// a barrier, --rounds requests each, no warm-up; in short mode a latency is all of connect, send, receive and close
    #[arg(long, conflicts_with_all = ["http", "hold", "rate", "duration", "warmup", "think", "pace", "threads", "close", "linger0",
                                      "requests_per_connection", "sources"])]
    pub classic: bool,
}
