//! How connections are made, used and ended.

use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use reports::bench::{Close, Mode};

use super::values::{self, Sources};

/// How connections are made, used and ended.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Connections")]
pub struct ConnectionOptions {
    /// How requests use connections: `short` opens and closes one for each, `long` keeps them, `connect` sends nothing
    #[arg(long, default_value = "short",
          value_parser = PossibleValuesParser::new(["short", "long", "connect"]).map(|name| mode_of(&name)))]
    pub mode: Mode,
    /// Between short and long: a new connection after every K requests
    #[arg(long, value_name = "K", conflicts_with = "mode", value_parser = clap::value_parser!(u64).range(1..))]
    pub requests_per_connection: Option<u64>,
    /// A connect or a request that takes longer has failed
    #[arg(long, default_value = "5s", value_parser = values::positive_duration)]
    pub timeout: Duration,
    /// Who closes first: `client`; `half`: the client ends its sending half and waits for the server's FIN; `server`: the
    /// client waits for the FIN alone, which an echo server never sends by itself
    #[arg(long, default_value = "client", conflicts_with = "linger0",
          value_parser = PossibleValuesParser::new(["client", "half", "server"]).map(|name| close_of(&name)))]
    pub close: Close,
    /// Close by RST (`SO_LINGER` 0): no `TIME_WAIT` on either side
    #[arg(long)]
    pub linger0: bool,
    /// Local addresses of 127.0.0.0/8 to spread connections over; `auto`: as many as the expected `TIME_WAIT` needs
    #[arg(long, default_value = "auto", value_name = "auto|N", value_parser = values::sources)]
    pub sources: Sources,
}

fn mode_of(name: &str) -> Mode {
    [Mode::Long, Mode::Connect].into_iter().find(|mode| mode.name() == name).unwrap_or(Mode::Short)
}

fn close_of(name: &str) -> Close {
    [Close::Half, Close::Server].into_iter().find(|close| close.name() == name).unwrap_or_default()
}
