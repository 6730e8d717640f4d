//! The line of totals says what happened, no more and no less.

use rustix::process::Signal;

use crate::{
    for_each_server,
    peer::{connect, exchange},
    process::Server,
};

for_each_server![
    totals_equal_what_the_client_did,
    idle_connections_cause_no_wake_ups,
    an_unused_server_stops_with_nothing_counted,
];

fn totals_equal_what_the_client_did(binary: &str) {
    let server = Server::start(binary);
    for client in 1..=20usize {
        let mut stream = connect(server.address);
        for _ in 0..client {
            exchange(&mut stream, &vec![7; client * 10]);
        }
    }
    let totals = server.stop();
    let (requests, bytes) = (1..=20u64).fold((0, 0), |(requests, bytes), n| (requests + n, bytes + n * n * 10));
    assert_eq!((totals.connections, totals.requests, totals.bytes), (20, requests, bytes));
    assert!(totals.useless_wake_ups <= 2, "{totals:?}");
}

fn idle_connections_cause_no_wake_ups(binary: &str) {
    let server = Server::start(binary);
    let idle: Vec<_> = (0..200).map(|_| connect(server.address)).collect();
    let mut active = connect(server.address);
    for _ in 0..1_000 {
        exchange(&mut active, b"one of a thousand");
    }
    let totals = server.stop();
    drop(idle);
    // One for each connection at most, one for each request, and the stop.
    assert!(totals.epoll_waits <= 201 + 1_000 + 1, "{totals:?}");
    assert!(totals.useless_wake_ups <= 2, "{totals:?}");
}

fn an_unused_server_stops_with_nothing_counted(binary: &str) {
    for signal in [Signal::INT, Signal::TERM] {
        let totals = Server::start(binary).stop_by(signal);
        assert_eq!((totals.connections, totals.requests, totals.bytes), (0, 0, 0));
        assert_eq!((totals.epoll_waits, totals.useless_wake_ups), (1, 0));
    }
}
