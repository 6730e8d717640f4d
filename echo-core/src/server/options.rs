//! Command-line options that all servers have, and those of the servers with several workers. Does not act on them.

use std::{
    net::{IpAddr, SocketAddr},
    num::NonZero,
    thread,
    time::Duration,
};

use clap::{ArgAction, builder::BoolishValueParser, value_parser};

/// Where and how to serve.
#[derive(Clone, Debug, clap::Args)]
pub struct ServerOptions {
    /// Address to listen on
    #[arg(long, value_name = "ADDRESS", default_value = "0.0.0.0")]
    pub bind: IpAddr,
    /// Port to listen on; 0 takes any that is free
    #[arg(long, default_value_t = 9988)]
    pub port: u16,
    /// Connections that may wait for accept; the kernel caps it at net.core.somaxconn
    #[arg(long, value_name = "CONNECTIONS", default_value_t = 4096, value_parser = value_parser!(i32).range(1..))]
    pub backlog: i32,
    /// Send small answers at once: TCP_NODELAY
    #[arg(long, value_name = "on|off", default_value = "on", default_missing_value = "on", num_args = 0..=1,
          action = ArgAction::Set, value_parser = BoolishValueParser::new(), hide_possible_values = true)]
    pub nodelay: bool,
    /// Most that one receive takes, and that is kept for a peer which does not read
    #[arg(long, value_name = "BYTES", default_value_t = 4096, value_parser = parse_buffer)]
    pub buffer: usize,
    /// CPU time to burn on each request before the answer, as a service would
    #[arg(long, value_name = "MICROSECONDS", default_value_t = 0)]
    pub work_us: u32,
    /// Accept nothing for so long after the port is open: the accept queue fills
    #[arg(long, value_name = "SECONDS", default_value = "0", value_parser = parse_seconds)]
    pub stall_accept: Duration,
    /// Most connections at once, of each worker where there are several; others wait in the accept queue
    #[arg(long, value_name = "CONNECTIONS", value_parser = value_parser!(u32).range(1..))]
    pub max_connections: Option<u32>,
    /// Print the totals as one line of JSON
    #[arg(long)]
    pub json: bool,
}

impl ServerOptions {
    /// Address and port in one.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        SocketAddr::new(self.bind, self.port)
    }
}

/// How many processes or threads share the work.
#[derive(Clone, Debug, clap::Args)]
pub struct WorkerOptions {
    /// Processes or threads that serve [default: as many as there are CPUs; 128 in echo-prefork]
    #[arg(long, value_name = "N", overrides_with = "workers", value_parser = value_parser!(u16).range(1..=4096))]
    workers: Option<u16>,
    /// Keep each worker on one CPU, in turn
    #[arg(long)]
    pub pin: bool,
    /// Print connections and requests of each worker after the totals
    #[arg(long)]
    pub balance: bool,
}

impl WorkerOptions {
    /// Workers asked for, or one for each CPU that this process may use.
    #[must_use]
    pub fn workers(&self) -> usize {
        self.asked_for().unwrap_or_else(|| thread::available_parallelism().map_or(1, NonZero::get))
    }

    /// Workers asked for on the command line.
    #[must_use]
    pub fn asked_for(&self) -> Option<usize> {
        self.workers.map(usize::from)
    }
}

fn parse_buffer(text: &str) -> Result<usize, String> {
    const LARGEST: usize = 16 << 20;
    let bytes: usize = text.parse().map_err(|_| "not a number of bytes".to_owned())?;
    if (1..=LARGEST).contains(&bytes) { Ok(bytes) } else { Err(format!("must be in 1..={LARGEST}")) }
}

fn parse_seconds(text: &str) -> Result<Duration, String> {
    const LONGEST: Duration = Duration::from_hours(24);
    let seconds: f64 = text.parse().map_err(|_| "not a number of seconds".to_owned())?;
    Duration::try_from_secs_f64(seconds)
        .ok()
        .filter(|&seconds| seconds <= LONGEST)
        .ok_or_else(|| format!("must be in 0..={}", LONGEST.as_secs()))
}
