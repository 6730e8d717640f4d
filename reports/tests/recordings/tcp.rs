//! What following every connection adds to a recording.

use reports::{
    histogram::{Histogram, KERNEL},
    recording::{Closes, Connects, Lifetimes, ListenerQueue, Outcome, Peer, PortUse, Side, StateTime, Tcp, Tracked},
};

use super::lognormal;

fn times(n: u32, median_ns: u32) -> Histogram {
    lognormal(KERNEL, n, median_ns, 0.5)
}

fn seconds(whole: &[(u64, u64)]) -> Histogram {
    let mut histogram = Histogram::new(KERNEL);
    for &(n, second) in whole {
        (0..n).for_each(|more| histogram.record(second * 1_000_000_000 + more * 91_000));
    }
    histogram
}

fn connects(outcome: Outcome, latency: Histogram, syn_retransmits: u64) -> Connects {
    let first_byte = (outcome == Outcome::Established).then(|| times(1_000, 320_000));
    Connects {
        group: "client".into(),
        destination: "127.0.0.1:9988".into(),
        outcome,
        latency,
        syn_retransmits,
        first_byte,
    }
}

fn listener(address: &str, drops: u64, established: u32) -> ListenerQueue {
    ListenerQueue {
        address: address.into(),
        cookie: 0x1001,
        owner: Some("123/echo-epoll-lt".into()),
        reuseport: false,
        limit: Some(128),
        queue_high: if drops > 0 { 129 } else { 12 },
        drops: Some(drops),
        drops_at_final_ack: Some(drops / 10),
        established: established.into(),
        accepted: u64::from(established) - drops / 90,
        syn_ack_retransmits: drops / 60,
        handshake: times(established, 18_000),
        accept_wait: times(established, 210_000),
        first_byte: Some(times(established, 4_000)),
    }
}

fn closes(side: Side, by_itself: u64, by_peer: u64) -> Closes {
    Closes {
        side,
        by_itself,
        by_peer,
        simultaneous: 1,
        without_fin: 4,
        resets_received: 3,
        resets_sent: 2,
        aborted_by_close: 1,
        into_time_wait: by_itself,
    }
}

fn lifetimes(side: Side) -> Lifetimes {
    Lifetimes {
        side,
        duration: times(1_000, 900_000),
        received_bytes: times(1_000, 64),
        sent_bytes: times(1_000, 640),
        retransmits: 9,
    }
}

fn state(state: &str, side: Side, median_ns: u32) -> StateTime {
    StateTime { state: state.into(), side, time: times(1_000, median_ns) }
}

/// Follows the connections of a run that overflowed its accept queue.
pub(crate) fn followed(tcp: &mut Tcp) {
    tcp.tracked = Some(Tracked { from_birth: 2_286, before_start: 6, open: 12, let_go: 40, lost: 3 });
    tcp.connects = vec![
        connects(Outcome::Established, times(1_000, 31_000), 271),
        connects(Outcome::TimedOut, seconds(&[(12, 2), (3, 7)]), 45),
        connects(Outcome::Refused, times(10, 12_000), 0),
    ];
    tcp.listeners = vec![listener("0.0.0.0:9988", 271, 1_000), listener("[::1]:9989", 0, 20)];
    tcp.states = vec![
        state("SYN_SENT", Side::Active, 31_000),
        state("ESTABLISHED", Side::Active, 700_000),
        state("CLOSE_WAIT", Side::Passive, 52_000),
    ];
    tcp.closes = vec![closes(Side::Active, 990, 5), closes(Side::Passive, 5, 990), closes(Side::Unknown, 3, 3)];
    tcp.lifetimes = vec![lifetimes(Side::Active), lifetimes(Side::Passive)];
    let peer =
        |side, address: &str| Peer { side, address: address.into(), connections: 1_000, gap: times(999, 50_000) };
    tcp.peers = vec![peer(Side::Active, "127.0.0.1:9988"), peer(Side::Passive, "127.0.0.1")];
    let ports = |destination: &str, in_use| PortUse {
        source: "127.0.0.1".into(),
        destination: destination.into(),
        in_use,
        available: 28_232,
    };
    tcp.ports = vec![ports("127.0.0.1:9988", 14_700), ports("127.0.0.1:80", 300)];
}
