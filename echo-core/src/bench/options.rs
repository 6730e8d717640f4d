//! The command line of `bench`, as typed. Does not resolve or check anything beyond single values.

use std::{path::PathBuf, time::Duration};

use clap::builder::{PossibleValuesParser, TypedValueParser};
use reports::bench::Mode;

const LARGEST_PAYLOAD_BYTES: i64 = 64 << 20;

/// What to ask of which server.
#[derive(Clone, Debug, clap::Args)]
pub struct BenchOptions {
    /// How requests use connections: `short` opens and closes one for each, `long` keeps them
    #[arg(long, default_value = "short", value_parser = PossibleValuesParser::new(["short", "long"]).map(|name| mode_of(&name)))]
    pub mode: Mode,
    /// Connections kept busy at once, one request in flight on each
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub connections: u32,
    /// Requests of each connection [default: 100, unless --duration is given]
    #[arg(long, conflicts_with = "duration", value_parser = clap::value_parser!(u64).range(1..))]
    pub rounds: Option<u64>,
    /// Run for this long instead, such as 5s or 1m30s; requests in flight at the end are waited for
    #[arg(long, value_parser = positive_duration)]
    pub duration: Option<Duration>,
    /// Bytes of a request, and of its reply
    #[arg(long, value_name = "BYTES", default_value_t = 64,
          value_parser = clap::value_parser!(u32).range(1..=LARGEST_PAYLOAD_BYTES))]
    pub payload: u32,
    /// Name or address of the server
    #[arg(long, default_value = "127.0.0.1")]
    pub host: String,
    /// Port of the server
    #[arg(long, default_value_t = 9988, value_parser = clap::value_parser!(u16).range(1..))]
    pub port: u16,
    /// A connect or a request that takes longer has failed
    #[arg(long, default_value = "5s", value_parser = positive_duration)]
    pub timeout: Duration,
    /// Client threads; more than one helps only where the server leaves cores idle
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub threads: u32,
    /// Write the result to this file as JSON
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// The classic form: the same four as words in a row.
    #[command(flatten)]
    pub classic: Classic,
}

/// `bench HOST PORT CONNECTIONS ROUNDS`, any of them left out from the right.
#[derive(Clone, Debug, clap::Args)]
pub struct Classic {
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

fn mode_of(name: &str) -> Mode {
    if name == Mode::Long.name() { Mode::Long } else { Mode::Short }
}

fn positive_duration(text: &str) -> Result<Duration, String> {
    let duration = humantime::parse_duration(text).map_err(|error| error.to_string())?;
    if duration.is_zero() { Err("must be longer than nothing".into()) } else { Ok(duration) }
}
