//! How often each remote address was used, and how long nothing was between.

use std::net::SocketAddr;

use foldhash::HashMap;
use reports::{
    histogram::{Histogram, Recorder},
    recording::{Peer, Side},
};

/// Peers that go into the recording, those with most connections.
const KEPT: usize = 20;
/// Peers told apart; further ones are left out.
const TOLD_APART: usize = 10_000;
/// Connections whose times are kept for the gaps (16 MB); further ones are counted only.
const TIMES: usize = 1 << 20;

/// Uses of each peer so far.
#[derive(Default)]
pub(crate) struct Peers {
    by_address: HashMap<(Side, SocketAddr), Uses>,
    times: usize,
}

#[derive(Default)]
struct Uses {
    connections: u64,
    /// Begin and end of each.
    times: Vec<(u64, u64)>,
}

impl Peers {
    /// One connection with a peer; `ended` is `u64::MAX` while it is open. A client is told by its address alone.
    pub(crate) fn add(&mut self, side: Side, mut peer: SocketAddr, began: u64, ended: u64) {
        if side == Side::Passive {
            peer.set_port(0);
        }
        let is_full = self.by_address.len() >= TOLD_APART;
        if is_full && !self.by_address.contains_key(&(side, peer)) {
            return;
        }
        let uses = self.by_address.entry((side, peer)).or_default();
        uses.connections += 1;
        if self.times < TIMES {
            self.times += 1;
            uses.times.push((began, ended));
        }
    }

    /// The peers with most connections.
    pub(crate) fn into_rows(self) -> Vec<Peer> {
        let mut all: Vec<_> = self.by_address.into_iter().collect();
        all.sort_by(|(a, x), (b, y)| y.connections.cmp(&x.connections).then_with(|| a.cmp(b)));
        all.truncate(KEPT);
        let row = |((side, peer), uses): ((Side, SocketAddr), Uses)| Peer {
            side,
            address: if side == Side::Passive { peer.ip().to_string() } else { peer.to_string() },
            connections: uses.connections,
            gap: gaps(uses.times),
        };
        all.into_iter().map(row).collect()
    }
}

/// From the latest end before a connection began to its begin; 0 where another one was still open.
fn gaps(mut times: Vec<(u64, u64)>) -> Histogram {
    let mut gaps = Recorder::default();
    times.sort_unstable();
    let mut times = times.into_iter();
    let Some((_, mut latest_end)) = times.next() else { return gaps.into() };
    for (began, ended) in times {
        gaps.record(began.saturating_sub(latest_end));
        latest_end = latest_end.max(ended);
    }
    gaps.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peer(port: u16) -> SocketAddr {
        SocketAddr::from(([10, 0, 0, 1], port))
    }

    #[test]
    fn gaps_are_between_uses_whatever_the_order_of_the_ends() {
        let gaps = gaps(vec![(500, 600), (100, 200), (150, 300), (310, u64::MAX)]);
        assert_eq!((gaps.count(), gaps.min(), gaps.max(), gaps.sum()), (3, Some(0), Some(10), 10));
    }

    #[test]
    fn clients_are_told_by_address_and_servers_by_address_and_port() {
        let mut peers = Peers::default();
        for port in [1000, 1001, 1002] {
            peers.add(Side::Passive, peer(port), 1, 2);
        }
        peers.add(Side::Active, peer(80), 1, 2);
        let rows = peers.into_rows();
        let rows: Vec<_> = rows.iter().map(|row| (row.side, row.address.as_str(), row.connections)).collect();
        assert_eq!(rows, [(Side::Passive, "10.0.0.1", 3), (Side::Active, "10.0.0.1:80", 1)]);
    }

    #[test]
    fn the_number_of_peers_is_bounded() {
        let mut peers = Peers::default();
        for port in 1..=20_000 {
            peers.add(Side::Active, peer(port), 1, 2);
        }
        assert_eq!((peers.by_address.len(), peers.into_rows().len()), (TOLD_APART, KEPT));
    }
}
