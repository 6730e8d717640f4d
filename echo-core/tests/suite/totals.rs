//! The totals say what happened, no more and no less.

use std::{thread, time::Duration};

use rustix::process::Signal;
use serde_json::Value;

use crate::{
    models::{Model, epoll_lt_keep_epollout, for_each_model},
    peer::{connect, exchange},
    process::Server,
};

for_each_model![
    totals_equal_what_the_client_did,
    an_unused_server_stops_with_nothing_counted,
    totals_as_json_are_one_line_with_the_system_calls,
];

/// All but the one that keeps EPOLLOUT, and the one with a process for each connection.
mod idle {
    use super::idle_connections_cause_no_wake_ups;

    crate::models::for_models!(
        [epoll_lt, epoll_lt_mod, epoll_et, epoll_et_mod, mp, mt_reuseport, mt_exclusive, oneshot, threads, uring],
        [idle_connections_cause_no_wake_ups]
    );
}

fn totals_equal_what_the_client_did(model: Model) {
    let server = Server::of(model);
    for client in 1..=20usize {
        let mut stream = connect(server.address);
        for _ in 0..client {
            exchange(&mut stream, &vec![7; client * 10]);
        }
    }
    let totals = server.stop();
    let (requests, bytes) = (1..=20u64).fold((0, 0), |(requests, bytes), n| (requests + n, bytes + n * n * 10));
    assert_eq!((totals.connections, totals.requests, totals.bytes), (20, requests, bytes));
}

fn idle_connections_cause_no_wake_ups(model: Model) {
    let server = Server::of(model);
    let idle: Vec<_> = (0..200).map(|_| connect(server.address)).collect();
    let mut active = connect(server.address);
    for _ in 0..1_000 {
        exchange(&mut active, b"one of a thousand");
    }
    let totals = server.stop();
    drop(idle);
    // Two for each connection at most, its beginning and its end, those for each request, and the stop.
    let most = 2 * 201 + 1_000 * model.wake_ups_per_request + 2;
    assert!(totals.wake_ups <= most + 201 * model.rivals, "{totals:?}");
    assert!(totals.useless_wake_ups <= 2 + 201 * model.rivals, "{totals:?}");
}

fn an_unused_server_stops_with_nothing_counted(model: Model) {
    for signal in [Signal::INT, Signal::TERM] {
        let totals = Server::of(model).stop_by(signal);
        assert_eq!((totals.connections, totals.requests, totals.bytes), (0, 0, 0));
        assert!(totals.wake_ups <= 1 + model.rivals && totals.useless_wake_ups == 0, "{totals:?}");
    }
}

fn totals_as_json_are_one_line_with_the_system_calls(model: Model) {
    let server = Server::of_with(model, &["--json"]);
    let mut stream = connect(server.address);
    for _ in 0..10 {
        exchange(&mut stream, b"one of ten");
    }
    drop(stream);
    let text = server.last_words(Signal::TERM);
    assert_eq!(text.lines().count(), 1, "{text}");
    let json: Value = serde_json::from_str(&text).expect("JSON");
    let counts = ["connections", "requests", "received_bytes", "sent_bytes"].map(|name| json[name].as_u64());
    assert_eq!(counts, [Some(1), Some(10), Some(100), Some(100)], "{text}");
    let calls = |name: &str| json["system_calls"][name].as_u64().expect("a count");
    if calls("io_uring_enter") == 0 {
        assert_eq!((calls("sendto"), calls("close")), (10, 1), "{text}");
        assert!(calls("recvfrom") >= 11, "{text}");
    }
}

#[test]
fn keeping_epollout_registered_wakes_for_nothing_again_and_again() {
    let server = Server::of(epoll_lt_keep_epollout());
    let idle: Vec<_> = (0..50).map(|_| connect(server.address)).collect();
    thread::sleep(Duration::from_millis(300));
    let totals = server.stop();
    drop(idle);
    assert!(totals.useless_wake_ups > 200, "{totals:?}");
}
