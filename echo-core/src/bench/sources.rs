//! Local addresses: how many a run needs so that it does not measure the kernel's search for a free port. Does not bind.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use reports::bench::{BenchSettings, Close, Mode};

use super::{facts::Facts, options::Sources};
use crate::Error;

/// The most that `auto` takes: beyond, hashing costs more than ports gain.
const MOST_AUTO: u64 = 64;

/// How many local addresses to use towards `server`.
pub(super) fn number(
    wanted: Sources,
    settings: &BenchSettings,
    server: SocketAddr,
    facts: &Facts,
) -> Result<u32, Error> {
    let on_loopback = matches!(server.ip(), IpAddr::V4(address) if address.is_loopback());
    match wanted {
        Sources::Number(1) => Ok(1),
        Sources::Number(_) if !on_loopback => Err(Error::Sources { server }),
        Sources::Number(number) => Ok(number),
        Sources::Auto if !on_loopback => Ok(1),
        Sources::Auto => Ok(needed(expected_ports(settings, facts), facts)),
    }
}

/// As many as keep each below the step, with all of them twice as far from it where one is not enough.
fn needed(ports: u64, facts: &Facts) -> u32 {
    let number = if ports < facts.step() { 1 } else { (2 * ports).div_ceil(facts.step()).min(MOST_AUTO) };
    u32::try_from(number).unwrap_or(1)
}

/// Ports that are taken at the worst moment: those in use, and those in `TIME_WAIT` before and by this run.
pub(super) fn expected_ports(settings: &BenchSettings, facts: &Facts) -> u64 {
    let at_once = u64::from(settings.connections);
    let stock = facts.time_wait;
    if settings.mode == Mode::Long || !leaves_time_wait(settings) {
        return at_once + stock;
    }
    let per_connection = settings.requests_per_connection.unwrap_or(1);
    let by_count = settings.rounds.map(|rounds| at_once.saturating_mul(rounds.div_ceil(per_connection)));
    let by_rate = settings.rate_per_s.zip(settings.duration_ns);
    let by_rate = by_rate.map(|(rate, ns)| rate.saturating_mul(ns.min(60_000_000_000) / 1_000_000_000 + 1));
    let connections = by_count.or(by_rate.map(|requests| requests.div_ceil(per_connection)));
    at_once + stock + facts.expected_time_wait(connections, settings.duration_ns.unwrap_or(0) + settings.warmup_ns)
}

/// Whether connections of the run go on to take a port when they are closed.
pub(super) fn leaves_time_wait(settings: &BenchSettings) -> bool {
    !settings.linger0 && settings.close != Close::Server
}

/// What it means that so many ports are taken.
pub(super) fn port_bound(taken: u64, settings: &BenchSettings, facts: &Facts) -> String {
    format!(
        "port-bound: {taken} connections are in TIME_WAIT on {} source {}; from {} on each, half of \
         ip_local_port_range, connect() searches for a port about 100 times as long: spread them with `--sources`",
        settings.sources,
        if settings.sources == 1 { "address" } else { "addresses" },
        facts.step(),
    )
}

/// The addresses: 127.1.0.1, 127.1.0.2 and on, apart from the server's; none when one is enough and the kernel chooses.
pub(super) fn addresses(number: u32) -> Vec<Ipv4Addr> {
    let address = |host: u32| Ipv4Addr::from(u32::from(Ipv4Addr::new(127, 1, 0, 0)) + host);
    if number > 1 { (1..=number).map(address).collect() } else { Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FACTS: Facts = Facts { ports: (32_768, 60_999), most_time_wait: 65_536, somaxconn: 4096, time_wait: 0 };

    #[test]
    fn one_address_is_enough_below_the_step_and_not_from_it_on() {
        assert_eq!([needed(0, &FACTS), needed(14_115, &FACTS)], [1, 1]);
        assert_eq!([needed(14_116, &FACTS), needed(56_464, &FACTS), needed(u64::MAX / 4, &FACTS)], [2, 8, 64]);
    }

    #[test]
    fn addresses_are_loopback_and_all_different() {
        let addresses = addresses(250);
        assert!(addresses.iter().all(Ipv4Addr::is_loopback));
        assert_eq!(addresses.iter().collect::<std::collections::HashSet<_>>().len(), 250);
        assert!(super::addresses(1).is_empty());
    }
}
