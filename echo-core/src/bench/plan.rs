//! From options to what a run needs to know: the server's address, the bounds, the bytes, the local addresses. Does not
//! open sockets.

use std::{
    io,
    net::{SocketAddr, ToSocketAddrs},
    time::Duration,
};

use reports::bench::{BenchSettings, Client, Mode, Pace, SweepOver};

use super::{
    facts::Facts,
    http::{Request, Url},
    options::{BenchOptions, Sources},
    sources,
};
use crate::Error;

const DEFAULT_ROUNDS: u64 = 100;

/// A run that can start.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Where to connect to.
    pub server: SocketAddr,
    /// What was asked for, as it is kept with the result.
    pub settings: BenchSettings,
    /// What a web server is asked; an echo server gets a pattern.
    pub http: Option<Request>,
    /// What the kernel had to say before.
    pub facts: Facts,
    /// Local addresses as typed; `settings` has how many that is.
    wanted_sources: Sources,
    /// Threads as typed; `settings` has as many as have something to do.
    wanted_threads: u32,
}

impl Plan {
    /// Fills in the defaults and looks up the server's address.
    ///
    /// # Errors
    /// [`Error::Resolve`] when the host's name leads nowhere, [`Error::Sources`] for local addresses that the server's
    /// address does not allow.
    pub fn new(options: &BenchOptions, facts: Facts) -> Result<Self, Error> {
        let (positional, load) = (&options.positional, &options.load);
        let url = options.web.http.as_ref();
        let host = url.map(Url::host).or(positional.host.as_deref()).unwrap_or(&options.target.host);
        let port = url.map(Url::port).or(positional.port).unwrap_or(options.target.port);
        let server = resolve(host, port).map_err(|source| Error::Resolve { host: host.to_owned(), source })?;
        let mut plan = Self {
            server,
            settings: settings(options, server),
            http: url.map(|url| Request::new(url, &options.web.header)),
            facts,
            wanted_sources: options.connections.sources,
            wanted_threads: load.threads,
        };
        plan.fit()?;
        Ok(plan)
    }

    /// The same with another value for what a sweep is over.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn step(&self, over: SweepOver, value: u64, facts: Facts) -> Result<Self, Error> {
        let mut plan = Self { facts, ..self.clone() };
        match over {
            SweepOver::Connections => plan.settings.connections = u32::try_from(value).unwrap_or(u32::MAX),
            SweepOver::Rate => plan.settings.rate_per_s = Some(value),
        }
        plan.fit()?;
        Ok(plan)
    }

    /// What follows from the rest: threads that all have something to do, and enough local addresses.
    fn fit(&mut self) -> Result<(), Error> {
        let settings = &mut self.settings;
        let most = settings.pace.map_or(u64::MAX, |Pace { requests, .. }| requests).min(settings.connections.into());
        settings.threads = match settings.client {
            Client::Epoll => u32::try_from(most).unwrap_or(u32::MAX).min(self.wanted_threads),
            Client::Classic => settings.connections,
        };
        settings.sources = sources::number(self.wanted_sources, settings, self.server, &self.facts)?;
        Ok(())
    }
}

fn settings(options: &BenchOptions, server: SocketAddr) -> BenchSettings {
    let (load, how, sizes) = (&options.load, &options.connections, &options.payload.payload);
    let rounds = options.positional.rounds.or(load.rounds);
    BenchSettings {
        address: server.to_string(),
        http: options.web.http.as_ref().map(ToString::to_string),
        client: if options.classic.classic { Client::Classic } else { Client::Epoll },
        mode: how.requests_per_connection.map_or(how.mode, |_| Mode::Reconnect),
        requests_per_connection: how.requests_per_connection,
        connections: options.positional.connections.unwrap_or(load.connections),
        rate_per_s: load.rate,
        rounds: if load.duration.is_some() { None } else { Some(rounds.unwrap_or(DEFAULT_ROUNDS)) },
        duration_ns: load.duration.map(nanoseconds),
        warmup_ns: load.warmup.map_or(0, nanoseconds),
        think_ns: load.think.map_or(0, nanoseconds),
        pace: load.pace,
        payload_bytes: if options.web.http.is_some() { 0 } else { *sizes.start() },
        payload_max_bytes: (sizes.start() < sizes.end()).then_some(*sizes.end()),
        threads: load.threads,
        timeout_ns: nanoseconds(how.timeout),
        close: how.close,
        linger0: how.linger0,
        sources: 1,
    }
}

pub(super) fn resolve(host: &str, port: u16) -> io::Result<SocketAddr> {
    // As addresses with ports are written.
    let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    let mut addresses = (host, port).to_socket_addrs()?;
    addresses.next().ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "the name has no address"))
}

/// Saturates after 584 years.
pub(super) fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
