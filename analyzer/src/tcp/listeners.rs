//! Listeners over a run: what `sock_diag` said at its two ends, and what the connections say between.

use std::{collections::BTreeMap, net::SocketAddr};

use probes::tcp::Listener as Trouble;
use reports::{histogram::Recorder, recording::ListenerQueue};

use super::connection::End;
use crate::sockets::listeners::Listener;

/// Connections by the listener that they came from.
#[derive(Default)]
pub(crate) struct Accepts(BTreeMap<Key, Sums>);

/// A listener's cookie, or its address where the kernel did not say which listener it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Cookie(u64),
    Address(SocketAddr),
}

struct Sums {
    /// Address of its connections, for one that has gone meanwhile.
    address: SocketAddr,
    established: u64,
    accepted: u64,
    queue_high: u32,
    handshake: Recorder,
    accept_wait: Recorder,
    first_byte: Recorder,
}

impl Sums {
    fn none(address: SocketAddr) -> Self {
        let none = Recorder::default;
        let (handshake, accept_wait, first_byte) = (none(), none(), none());
        Self { address, established: 0, accepted: 0, queue_high: 0, handshake, accept_wait, first_byte }
    }
}

impl Accepts {
    /// A connection that a listener has made.
    pub(crate) fn add(&mut self, end: End<'_>) {
        let address = end.source();
        let key = if end.0.listener == 0 { Key::Address(address) } else { Key::Cookie(end.0.listener) };
        let sums = self.0.entry(key).or_insert_with(|| Sums::none(address));
        sums.established += 1;
        sums.queue_high = sums.queue_high.max(end.0.queue_before.saturating_add(1));
        if end.0.handshake_us > 0 && end.0.syn_ack_retransmits == 0 {
            sums.handshake.record(u64::from(end.0.handshake_us) * 1000);
        }
        if let Some(ns) = end.accept_wait_ns() {
            sums.accepted += 1;
            sums.accept_wait.record(ns);
        }
        if let Some(ns) = end.first_byte_ns() {
            sums.first_byte.record(ns);
        }
    }

    fn take(&mut self, listener: &Listener) -> Sums {
        let by_cookie = self.0.remove(&Key::Cookie(listener.cookie));
        // A listener on any address has connections on each.
        let is_its = |key: &Key| {
            matches!(key, Key::Address(address) if address.port() == listener.address.port()
                && (listener.address.ip().is_unspecified() || listener.address.ip() == address.ip()))
        };
        let by_address: Vec<Key> = self.0.keys().copied().filter(is_its).collect();
        let unnamed = by_address.into_iter().filter_map(|key| self.0.remove(&key));
        by_cookie.into_iter().chain(unnamed).reduce(Sums::with).unwrap_or_else(|| Sums::none(listener.address))
    }
}

impl Sums {
    fn with(mut self, other: Self) -> Self {
        self.established += other.established;
        self.accepted += other.accepted;
        self.queue_high = self.queue_high.max(other.queue_high);
        self.handshake.add(&other.handshake);
        self.accept_wait.add(&other.accept_wait);
        self.first_byte.add(&other.first_byte);
        self
    }
}

/// What there is to join, all of one namespace.
pub(crate) struct Joined<'a> {
    pub(crate) before: &'a [Listener],
    pub(crate) after: &'a [Listener],
    pub(crate) accepts: Accepts,
    pub(crate) trouble: &'a BTreeMap<u64, Trouble>,
    /// Owner of a socket by its inode.
    pub(crate) owners: &'a BTreeMap<u32, String>,
    pub(crate) tells_final_ack_drops: bool,
    pub(crate) tells_first_byte: bool,
}

impl Joined<'_> {
    /// One row for each listener that was there at the start or the end, or had connections.
    pub(crate) fn into_rows(mut self) -> Vec<ListenerQueue> {
        let mut all: BTreeMap<u64, Listener> = BTreeMap::new();
        for listener in self.before.iter().chain(self.after) {
            all.insert(listener.cookie, listener.clone());
        }
        let mut rows: Vec<ListenerQueue> = Vec::new();
        for listener in all.values() {
            let sums = self.accepts.take(listener);
            rows.push(self.row(Some(listener), listener.cookie, sums));
        }
        for (key, sums) in std::mem::take(&mut self.accepts.0) {
            let cookie = if let Key::Cookie(cookie) = key { cookie } else { 0 };
            rows.push(self.row(None, cookie, sums));
        }
        rows.sort_by(|a, b| b.established.cmp(&a.established).then_with(|| a.address.cmp(&b.address)));
        rows
    }

    fn row(&self, listener: Option<&Listener>, cookie: u64, sums: Sums) -> ListenerQueue {
        let before = self.before.iter().find(|known| known.cookie == cookie).map_or(0, |known| known.drops);
        let after = self.after.iter().find(|known| known.cookie == cookie);
        let drops = after.map(|listener| u64::from(listener.drops.wrapping_sub(before)));
        let trouble = self.trouble.get(&cookie).copied().unwrap_or_default();
        let address = listener.map_or(sums.address, |listener| listener.address);
        let twins = self.before.iter().chain(self.after).filter(|known| known.address == address);
        ListenerQueue {
            address: SocketAddr::new(address.ip().to_canonical(), address.port()).to_string(),
            cookie,
            owner: listener.and_then(|listener| self.owners.get(&listener.inode).cloned()),
            reuseport: twins.map(|known| known.cookie).any(|other| other != cookie),
            limit: listener.map(|listener| listener.limit),
            queue_high: sums.queue_high.max(listener.map_or(0, |listener| listener.queue)),
            drops: drops.map(|drops| drops.saturating_sub(trouble.dropped_segments)),
            drops_at_final_ack: self.tells_final_ack_drops.then_some(trouble.final_ack_drops),
            established: sums.established,
            accepted: sums.accepted,
            syn_ack_retransmits: trouble.syn_ack_retransmits,
            handshake: sums.handshake.into(),
            accept_wait: sums.accept_wait.into(),
            first_byte: self.tells_first_byte.then(|| sums.first_byte.into()),
        }
    }
}
