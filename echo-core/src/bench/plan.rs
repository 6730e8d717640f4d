//! From options to what a run needs to know: the server's address, the bounds, the bytes. Does not open sockets.

use std::{
    io,
    net::{SocketAddr, ToSocketAddrs},
    time::Duration,
};

use reports::bench::BenchSettings;

use super::options::BenchOptions;
use crate::Error;

const DEFAULT_ROUNDS: u64 = 100;

/// A run that can start.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Where to connect to.
    pub server: SocketAddr,
    /// What was asked for, as it is kept with the result.
    pub settings: BenchSettings,
}

impl Plan {
    /// Fills in the defaults and looks up the server's address.
    ///
    /// # Errors
    /// [`Error::Resolve`] when the host's name leads nowhere.
    pub fn new(options: &BenchOptions) -> Result<Self, Error> {
        let classic = &options.classic;
        let host = classic.host.as_ref().unwrap_or(&options.host);
        let port = classic.port.unwrap_or(options.port);
        let connections = classic.connections.unwrap_or(options.connections);
        let rounds = classic.rounds.or(options.rounds);
        let server = resolve(host, port).map_err(|source| Error::Resolve { host: host.clone(), source })?;
        let settings = BenchSettings {
            address: server.to_string(),
            mode: options.mode,
            connections,
            rounds: if options.duration.is_some() { None } else { Some(rounds.unwrap_or(DEFAULT_ROUNDS)) },
            duration_ns: options.duration.map(nanoseconds),
            payload_bytes: options.payload,
            threads: options.threads.min(connections),
            timeout_ns: nanoseconds(options.timeout),
        };
        Ok(Self { server, settings })
    }
}

fn resolve(host: &str, port: u16) -> io::Result<SocketAddr> {
    let mut addresses = (host, port).to_socket_addrs()?;
    addresses.next().ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "the name has no address"))
}

/// Saturates after 584 years.
fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
