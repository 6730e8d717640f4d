//! Command-line options that all servers have. Does not act on them.

use std::net::{IpAddr, SocketAddr};

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
    #[arg(long, value_name = "CONNECTIONS", default_value_t = 4096, value_parser = clap::value_parser!(i32).range(1..))]
    pub backlog: i32,
    /// Most that one receive takes, and that is kept for a peer which does not read
    #[arg(long, value_name = "BYTES", default_value_t = 4096, value_parser = parse_buffer)]
    pub buffer: usize,
}

impl ServerOptions {
    /// Address and port in one.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        SocketAddr::new(self.bind, self.port)
    }
}

fn parse_buffer(text: &str) -> Result<usize, String> {
    const LARGEST: usize = 16 << 20;
    let bytes: usize = text.parse().map_err(|_| "not a number of bytes".to_owned())?;
    if (1..=LARGEST).contains(&bytes) { Ok(bytes) } else { Err(format!("must be in 1..={LARGEST}")) }
}
