//! Local ports in use towards each destination, at the end of a run, `TIME_WAIT` included.
//!
//! Lists every socket of the namespace, which walks the kernel's whole hash (0.1 s): only where so many sockets are there
//! that ports could run short.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::{self, File},
    net::{IpAddr, SocketAddr},
    ops::RangeInclusive,
    path::Path,
};

use anyhow::{Context as _, Result};
use procfs::{
    FromReadSI as _,
    net::{TcpNetEntries, TcpState},
};
use reports::recording::PortUse;

/// Below this share of the range (one in so many) no destination can be short of ports.
const WORTH_A_LOOK: u64 = 64;
/// Beyond this many sockets the list takes seconds.
const TOO_MANY: u64 = 1_000_000;
/// Rows that are kept, and the least of the range (one in so many) that makes one.
const KEPT: usize = 10;
const WORTH_A_ROW: usize = 256;

/// Looks at the network namespace of the calling thread.
///
/// # Errors
/// When `/proc` cannot be read.
pub(crate) fn in_use() -> Result<Vec<PortUse>> {
    let net = Path::new("/proc/thread-self/net");
    let range = fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range");
    let range = range_of(&range.context("failed to read `ip_local_port_range`")?).context("an odd port range")?;
    let sockets = sockets(&fs::read_to_string(net.join("sockstat")).context("failed to read `sockstat`")?);
    if sockets < range.len() as u64 / WORTH_A_LOOK || sockets > TOO_MANY {
        return Ok(Vec::new());
    }
    let mut all = Vec::new();
    for table in ["tcp", "tcp6"] {
        // Without IPv6 there is no second one.
        let Ok(file) = File::open(net.join(table)) else { continue };
        let entries = TcpNetEntries::from_read(file, procfs::current_system_info());
        let entries = entries.with_context(|| format!("failed to read `{}`", net.join(table).display()))?.0;
        let connected = entries.into_iter().filter(|entry| entry.state != TcpState::Listen);
        all.extend(connected.map(|entry| (entry.local_address, entry.remote_address)));
    }
    Ok(rows(&all, &range))
}

fn range_of(text: &str) -> Option<RangeInclusive<u16>> {
    let mut bounds = text.split_whitespace().map(str::parse);
    Some(bounds.next()?.ok()?..=bounds.next()?.ok()?)
}

/// Sockets with a port, from `TCP: inuse 5 orphan 0 tw 2 ...`.
fn sockets(sockstat: &str) -> u64 {
    let line = sockstat.lines().find_map(|line| line.strip_prefix("TCP: ")).unwrap_or_default();
    let words: Vec<_> = line.split_whitespace().collect();
    let counted = words.chunks_exact(2).filter(|pair| matches!(pair[0], "inuse" | "tw"));
    counted.filter_map(|pair| pair[1].parse::<u64>().ok()).sum()
}

/// Counts sockets given by their two addresses.
fn rows(sockets: &[(SocketAddr, SocketAddr)], range: &RangeInclusive<u16>) -> Vec<PortUse> {
    let mut ports: BTreeMap<(IpAddr, SocketAddr), BTreeSet<u16>> = BTreeMap::new();
    for (local, remote) in sockets {
        if range.contains(&local.port()) {
            let remote = SocketAddr::new(remote.ip().to_canonical(), remote.port());
            ports.entry((local.ip().to_canonical(), remote)).or_default().insert(local.port());
        }
    }
    let mut rows: Vec<_> = ports.into_iter().filter(|(_, ports)| ports.len() >= range.len() / WORTH_A_ROW).collect();
    rows.sort_by_key(|(_, ports)| std::cmp::Reverse(ports.len()));
    rows.truncate(KEPT);
    let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let row = |((source, destination), ports): ((IpAddr, SocketAddr), BTreeSet<u16>)| PortUse {
        source: source.to_string(),
        destination: destination.to_string(),
        in_use: number(ports.len()),
        available: number(range.len()),
    };
    rows.into_iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_are_counted_towards_each_destination_whatever_the_family() {
        let sockets = [
            ("127.0.0.1:40000", "127.0.0.1:80"),
            ("127.0.0.1:40001", "127.0.0.1:80"),
            ("[::ffff:127.0.0.1]:40002", "[::ffff:127.0.0.1]:80"),
            ("127.0.0.1:80", "127.0.0.1:40000"),
            ("127.0.0.2:40000", "127.0.0.1:80"),
        ];
        let sockets =
            sockets.map(|(local, remote)| (local.parse().expect("an address"), remote.parse().expect("an address")));
        let rows = rows(&sockets, &(40_000..=40_099));
        let rows: Vec<_> = rows.iter().map(|row| (row.source.as_str(), row.in_use, row.available)).collect();
        assert_eq!(rows, [("127.0.0.1", 3, 100), ("127.0.0.2", 1, 100)]);
    }

    #[test]
    fn the_number_of_sockets_and_the_range_are_read_as_the_kernel_writes_them() {
        assert_eq!(sockets("sockets: used 15\nTCP: inuse 5 orphan 1 tw 28000 alloc 7 mem 16\nUDP: inuse 9\n"), 28_005);
        assert_eq!(range_of("32768\t60999\n"), Some(32_768..=60_999));
        assert_eq!(range_of("x"), None);
    }
}
