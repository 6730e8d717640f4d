//! Adds up the records of connections: pure, and bounded whatever the traffic.

use std::{collections::BTreeMap, net::SocketAddr};

use foldhash::HashMap;
use probes::tcp::{Connection, flag, state};
use reports::{
    histogram::Recorder,
    recording::{Closes, Connects, Lifetimes, Outcome, Peer, Side, StateTime, Tracked},
};

use super::{
    connection::{Closing, End},
    listeners::Accepts,
    peers::Peers,
};
use crate::bpf::tcp::{Transitions, state_name};

/// Destinations told apart; further ones are added up in one row.
const DESTINATIONS: usize = 200;
/// Name of that row.
const FURTHER: &str = "further destinations";

type ConnectKey = (&'static str, Option<SocketAddr>, Outcome);

/// What the records say so far.
#[derive(Default)]
pub(crate) struct Fold {
    tracked: Tracked,
    transitions: Transitions,
    connects: HashMap<ConnectKey, ConnectSums>,
    accepts: Accepts,
    states: BTreeMap<(Side, u32), Recorder>,
    closes: BTreeMap<Side, Closes>,
    lifetimes: BTreeMap<Side, LifetimeSums>,
    peers: Peers,
}

#[derive(Default)]
struct ConnectSums {
    latency: Recorder,
    syn_retransmits: u64,
    first_byte: Recorder,
}

#[derive(Default)]
struct LifetimeSums {
    duration: Recorder,
    received_bytes: Recorder,
    sent_bytes: Recorder,
    retransmits: u64,
}

/// What goes into the recording.
pub(crate) struct Folded {
    pub(crate) tracked: Tracked,
    pub(crate) transitions: Transitions,
    pub(crate) connects: Vec<Connects>,
    pub(crate) accepts: Accepts,
    pub(crate) states: Vec<StateTime>,
    pub(crate) closes: Vec<Closes>,
    pub(crate) lifetimes: Vec<Lifetimes>,
    pub(crate) peers: Vec<Peer>,
}

impl Fold {
    /// Adds one end of a connection; `now` is the end of the run for one that is still open.
    pub(crate) fn add(&mut self, connection: &Connection, now: u64) {
        let end = End(connection);
        if end.has(flag::BEFORE_START) {
            self.tracked.before_start += 1;
        } else {
            self.tracked.from_birth += 1;
        }
        self.tracked.open += u64::from(end.is_open());
        for (old, new) in connection.changes() {
            self.transitions.add(old, new, 1);
        }
        for (state, ns) in end.states() {
            self.states.entry((end.side(), state)).or_default().record(ns);
        }
        self.connect(end, now);
        if end.side() == Side::Passive && end.entered(state::ESTABLISHED).is_some() {
            self.accepts.add(end);
        }
        if let Some(closing) = end.closing() {
            self.close(end, closing);
        }
        self.peer(end);
    }

    fn connect(&mut self, end: End<'_>, now: u64) {
        let (Some(outcome), Some(latency)) = (end.outcome(), end.connect_ns(now)) else { return };
        let mut key = (end.group(), Some(end.destination()), outcome);
        if self.connects.len() >= DESTINATIONS && !self.connects.contains_key(&key) {
            key.1 = None;
        }
        let sums = self.connects.entry(key).or_default();
        sums.latency.record(latency);
        sums.syn_retransmits += u64::from(end.0.syn_retransmits);
        if let Some(ns) = end.first_byte_ns() {
            sums.first_byte.record(ns);
        }
    }

    fn close(&mut self, end: End<'_>, closing: Closing) {
        let side = end.side();
        let closes = self.closes.entry(side).or_insert(Closes {
            side,
            by_itself: 0,
            by_peer: 0,
            simultaneous: 0,
            without_fin: 0,
            resets_received: 0,
            resets_sent: 0,
            aborted_by_close: 0,
            into_time_wait: 0,
        });
        *match closing {
            Closing::ByItself => &mut closes.by_itself,
            Closing::ByPeer => &mut closes.by_peer,
            Closing::Simultaneous => &mut closes.simultaneous,
            Closing::WithoutFin => &mut closes.without_fin,
        } += 1;
        closes.resets_received += u64::from(end.has(flag::RESET_RECEIVED));
        closes.resets_sent += u64::from(end.has(flag::RESET_SENT));
        closes.aborted_by_close += u64::from(end.has(flag::RESET_BY_CLOSE));
        closes.into_time_wait += u64::from(end.went_into_time_wait());
        self.lifetime(end);
    }

    fn lifetime(&mut self, end: End<'_>) {
        let Some(duration) = end.duration_ns() else { return };
        let lifetimes = self.lifetimes.entry(end.side()).or_default();
        lifetimes.duration.record(duration);
        lifetimes.received_bytes.record(end.received_bytes());
        lifetimes.sent_bytes.record(end.0.sent_bytes);
        lifetimes.retransmits += u64::from(end.0.retransmits);
    }

    /// Only what was established has used its peer.
    fn peer(&mut self, end: End<'_>) {
        let Some(established) = end.entered(state::ESTABLISHED).filter(|_| end.side() != Side::Unknown) else { return };
        let began = end.entered(state::SYN_SENT).unwrap_or(established);
        let ended = end.entered(state::CLOSE).unwrap_or(u64::MAX);
        self.peers.add(end.side(), end.destination(), began, ended);
    }

    /// Everything, in a fixed order.
    pub(crate) fn finish(self, tells_first_byte: bool) -> Folded {
        let mut connects: Vec<Connects> = self
            .connects
            .into_iter()
            .map(|((group, destination, outcome), sums)| Connects {
                group: group.to_owned(),
                destination: destination.map_or_else(|| FURTHER.to_owned(), |address| address.to_string()),
                outcome,
                latency: sums.latency.into(),
                syn_retransmits: sums.syn_retransmits,
                first_byte: tells_first_byte.then(|| sums.first_byte.into()),
            })
            .collect();
        connects.sort_by(|a, b| {
            let key = |row: &Connects| (row.group.clone(), std::cmp::Reverse(row.latency.count()));
            key(a).cmp(&key(b)).then_with(|| (&a.destination, a.outcome).cmp(&(&b.destination, b.outcome)))
        });
        let states = self.states.into_iter();
        let lifetimes = self.lifetimes.into_iter().map(|(side, sums)| Lifetimes {
            side,
            duration: sums.duration.into(),
            received_bytes: sums.received_bytes.into(),
            sent_bytes: sums.sent_bytes.into(),
            retransmits: sums.retransmits,
        });
        Folded {
            tracked: self.tracked,
            transitions: self.transitions,
            connects,
            accepts: self.accepts,
            states: states
                .map(|((side, state), time)| StateTime { state: state_name(state), side, time: time.into() })
                .collect(),
            closes: self.closes.into_values().collect(),
            lifetimes: lifetimes.collect(),
            peers: self.peers.into_rows(),
        }
    }
}

#[cfg(test)]
mod tests {
    use reports::histogram::Histogram;

    use super::*;
    use crate::tcp::connection::tests::end;

    #[test]
    fn attempts_are_told_apart_by_destination_and_outcome() {
        let mut fold = Fold::default();
        let mut refused = end(flag::ACTIVE, &[(state::SYN_SENT, 10), (state::CLOSE, 40)]);
        refused.error = libc::ECONNREFUSED.unsigned_abs();
        let mut established = end(flag::ACTIVE, &[(state::SYN_SENT, 10), (state::ESTABLISHED, 20)]);
        (established.syn_retransmits, established.first_byte_ns) = (2, 25);
        fold.add(&refused, 100);
        fold.add(&established, 100);
        fold.add(&established, 100);
        let folded = fold.finish(true);
        let row = |row: &Connects| (row.outcome, row.latency.count(), row.latency.sum(), row.syn_retransmits);
        let rows: Vec<_> = folded.connects.iter().map(row).collect();
        assert_eq!(rows, [(Outcome::Established, 2, 20, 4), (Outcome::Refused, 1, 30, 0)]);
        assert_eq!(folded.connects[0].first_byte.as_ref().map(Histogram::sum), Some(10));
        assert_eq!((folded.tracked.from_birth, folded.tracked.open), (3, 2));
    }

    #[test]
    fn destinations_beyond_the_bound_are_added_up() {
        let mut fold = Fold::default();
        for port in 1..=300 {
            let mut connection = end(flag::ACTIVE, &[(state::SYN_SENT, 10), (state::CLOSE, 40)]);
            connection.destination_port = port;
            fold.add(&connection, 100);
        }
        let folded = fold.finish(false);
        assert_eq!(folded.connects.len(), DESTINATIONS + 1);
        let further = folded.connects.iter().find(|row| row.destination == FURTHER).expect("there");
        assert_eq!(further.latency.count(), 100);
    }

    #[test]
    fn a_close_counts_once_on_its_side() {
        let mut fold = Fold::default();
        let states = [(state::ESTABLISHED, 5), (state::FIN_WAIT1, 10), (state::FIN_WAIT2, 20), (state::CLOSE, 30)];
        let mut first = end(flag::ACTIVE | flag::FIN_RECEIVED, &states);
        (first.sent_bytes, first.received_bytes, first.retransmits) = (10, 8, 3);
        fold.add(&first, 100);
        fold.add(&end(flag::RESET_SENT | flag::RESET_BY_CLOSE, &[(state::ESTABLISHED, 5), (state::CLOSE, 9)]), 100);
        let folded = fold.finish(true);
        let [active, passive] = folded.closes[..] else { panic!("{:?}", folded.closes) };
        assert_eq!((active.by_itself, active.into_time_wait, active.resets_sent), (1, 1, 0));
        assert_eq!((passive.without_fin, passive.resets_sent, passive.aborted_by_close), (1, 1, 1));
        let life = &folded.lifetimes[0];
        assert_eq!((life.duration.sum(), life.sent_bytes.sum(), life.received_bytes.sum()), (25, 10, 7));
        assert_eq!(life.retransmits, 3);
    }
}
