//! Which server, by options or by words in a row.

/// Where the server is.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Server")]
pub struct TargetOptions {
    /// Name or address of the server
    #[arg(long, default_value = "127.0.0.1")]
    pub host: String,
    /// Port of the server
    #[arg(long, default_value_t = 9988, value_parser = clap::value_parser!(u16).range(1..))]
    pub port: u16,
}

/// `bench HOST PORT CONNECTIONS ROUNDS`, any of them left out from the right.
#[derive(Clone, Debug, clap::Args)]
pub struct Positional {
    /// Same as --host
    #[arg(id = "classic_host", value_name = "HOST", conflicts_with = "host")]
    pub host: Option<String>,
    /// Same as --port
    #[arg(id = "classic_port", value_name = "PORT", conflicts_with = "port", value_parser = clap::value_parser!(u16).range(1..))]
    pub port: Option<u16>,
    /// Same as --connections
    #[arg(id = "classic_connections", value_name = "CONNECTIONS", conflicts_with = "connections",
          value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub connections: Option<u32>,
    /// Same as --rounds
    #[arg(id = "classic_rounds", value_name = "ROUNDS", conflicts_with_all = ["rounds", "duration"],
          value_parser = clap::value_parser!(u64).range(1..))]
    pub rounds: Option<u64>,
}
