//! How the work is split: parts, their connections, their local addresses. Pure.

use std::{
    net::{IpAddr, Ipv4Addr, SocketAddr},
    time::Duration,
};

use super::message::{ConnectSpec, SinkSpec};
use crate::{
    Error,
    bench::{
        BenchOptions,
        plan::{nanoseconds, resolve},
    },
};

/// Connects in flight, of all parts together.
const AT_ONCE: u32 = 100;
/// More processes than this are no split but a flood.
const MOST_PARTS: u32 = 2000;
/// Connections of one local address, as a share of the number from which on the kernel searches long for a port.
const FILL: f64 = 0.9;

/// What is to be opened, and by how many processes.
#[derive(Clone, Debug)]
pub struct HoldPlan {
    /// Where to; nowhere where the parts are the other end too.
    pub server: Option<SocketAddr>,
    /// How many.
    pub connections: u32,
    /// How long they are kept; until a signal if nothing is said.
    pub duration: Option<Duration>,
    /// A connect that takes longer has failed.
    pub timeout_ns: u64,
    /// Memory to leave to others, in MiB; a tenth of all if nothing is said.
    pub leave_mib: Option<u64>,
}

/// What the machine allows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    /// Connections of one process, by its descriptors.
    pub(super) of_process: u32,
    /// Connections of one local address to one server from which on the kernel searches long for a port.
    pub(super) of_source: u64,
}

impl HoldPlan {
    /// Looks up the server's address.
    ///
    /// # Errors
    /// [`Error::Resolve`] when the host's name leads nowhere.
    pub fn new(options: &BenchOptions, connections: u32) -> Result<Self, Error> {
        let host = options.positional.host.as_ref().unwrap_or(&options.target.host);
        let port = options.positional.port.unwrap_or(options.target.port);
        let server = if options.hold.hold_sink {
            None
        } else {
            Some(resolve(host, port).map_err(|source| Error::Resolve { host: host.clone(), source })?)
        };
        Ok(Self {
            server,
            connections,
            duration: options.load.duration,
            timeout_ns: nanoseconds(options.connections.timeout),
            leave_mib: options.hold.hold_leave,
        })
    }

    /// What each connecting part is to do; its server is yet to be filled in where that is a part too.
    ///
    /// # Errors
    /// [`Error::FdLimit`] when that would take too many processes.
    pub(super) fn split(&self, room: Room) -> Result<Vec<ConnectSpec>, Error> {
        let parts = self.connections.div_ceil(room.of_process.max(1));
        if parts > MOST_PARTS {
            let (connections, needed) = (self.connections, u64::from(self.connections.div_ceil(MOST_PARTS)));
            return Err(Error::FdLimit { connections, needed, limit: room.of_process.into() });
        }
        let server = self.server.unwrap_or_else(|| (Ipv4Addr::LOCALHOST, 0).into());
        let on_loopback = matches!(server.ip(), IpAddr::V4(address) if address.is_loopback());
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a number of ports")]
        let of_source = ((room.of_source as f64 * FILL) as u32).max(1);
        let mut first_source = 0;
        let spec = |part| {
            let connections = self.connections / parts + u32::from(part < self.connections % parts);
            let sources = if on_loopback { connections.div_ceil(of_source) } else { 0 };
            let addresses = (first_source..first_source + sources).map(source).collect();
            first_source += sources;
            let at_once = (AT_ONCE / parts).max(1);
            ConnectSpec { server, sources: addresses, connections, at_once, timeout_ns: self.timeout_ns }
        };
        Ok((0..parts).map(spec).collect())
    }
}

impl ConnectSpec {
    /// Its other end.
    pub(super) fn sink(&self) -> SinkSpec {
        SinkSpec { connections: self.connections }
    }
}

/// 127.2.0.1 and on, apart from servers' usual ones.
fn source(number: u32) -> Ipv4Addr {
    Ipv4Addr::from(u32::from(Ipv4Addr::new(127, 2, 0, 1)) + number)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    const ROOM: Room = Room { of_process: 19_976, of_source: 14_116 };

    fn plan(connections: u32, server: Option<&str>) -> HoldPlan {
        let server = server.map(|server| server.parse().expect("an address"));
        HoldPlan { server, connections, duration: None, timeout_ns: 1, leave_mib: None }
    }

    #[test]
    fn a_million_is_split_evenly_and_no_two_parts_share_a_source() {
        let specs = plan(1_000_000, None).split(ROOM).expect("a split");
        assert_eq!(specs.len(), 51);
        assert_eq!(specs.iter().map(|spec| spec.connections).sum::<u32>(), 1_000_000);
        assert!(specs.iter().all(|spec| (19_607..=19_608).contains(&spec.connections) && spec.sources.len() == 2));
        let sources: HashSet<_> = specs.iter().flat_map(|spec| &spec.sources).collect();
        assert_eq!(sources.len(), 102);
        assert!(sources.iter().all(|source| source.is_loopback()));
    }

    #[test]
    fn few_connections_are_one_process_and_foreign_servers_get_the_kernels_choice_of_source() {
        let specs = plan(3, Some("192.0.2.1:80")).split(ROOM).expect("a split");
        assert_eq!((specs.len(), specs[0].connections, specs[0].sources.len()), (1, 3, 0));
    }

    #[test]
    fn too_low_a_limit_of_descriptors_is_refused() {
        let room = Room { of_process: 100, of_source: 14_116 };
        assert!(matches!(plan(1_000_000, None).split(room), Err(Error::FdLimit { .. })));
    }
}
