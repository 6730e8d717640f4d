//! Rounds for the renderers' tests.

use super::round::{Causes, Count, Host, NetnsRound, Recent, Round, Row, Wait, Waits, fill};

pub(crate) fn row(address: &str) -> Row {
    let wait = Wait {
        count: 500,
        p50_ns: Some(120_000),
        p90_ns: Some(900_000),
        p99_ns: Some(2_500_000),
        max_ns: Some(3_000_000),
    };
    Row {
        address: address.parse().expect("valid"),
        cookie: 1,
        netns: 4_026_531_840,
        owner: Some("1234/echo-epoll-lt".to_owned()),
        group: None,
        queue: 3,
        high: 129,
        asked: Some(4096),
        limit: 128,
        fill: fill(3, 128, 1),
        drops: 271,
        drops_per_s: 13.55,
        causes: Causes { accept_queue_at_syn: 250, accept_queue_at_ack: Some(15), syn_queue: 4, other: 2 },
        drops_ever: 300,
        put_aside: Some(14),
        cookies: Some(0),
        syn_ack_retransmits: Some(2),
        accept_wait: Some(Waits { since_start: wait, recent: wait }),
        gone: false,
        recent: Recent { queue: (0..60).collect(), drops: (0..60).map(|n| n % 7).collect() },
    }
}

pub(crate) fn host() -> Host {
    let count = |since_start, per_s| Count { since_start, per_s };
    Host {
        listen_overflows: count(271, 13.55),
        listen_drops: count(280, 14.0),
        handshake_retransmits: count(43, 2.0),
        syn_retransmits: Some(count(40, 2.0)),
        syn_ack_retransmits: Some(count(3, 0.0)),
        time_wait: 12,
        time_wait_made: count(120, 6.0),
        port_range: Some((32_768, 60_999)),
        ports_at_most: 512,
        somaxconn: Some(4096),
        orphans: 1,
        max_orphans: Some(131_072),
        memory_pages: 512,
        memory_pressure_pages: Some(250_000),
        ..Host::default()
    }
}

pub(crate) fn round(rows: Vec<Row>) -> Round {
    let netns = NetnsRound { netns: 4_026_531_840, name: None, listeners: rows, groups: Vec::new(), host: host() };
    Round {
        time: "2026-11-30T10:00:00.123Z".to_owned(),
        interval_s: 1.0,
        elapsed_s: 61.0,
        namespaces: vec![netns],
        missing: Vec::new(),
        lost: Some(0),
    }
}
