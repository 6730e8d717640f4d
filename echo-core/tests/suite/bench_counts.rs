//! `bench` does exactly what was asked for: the server's totals are the witness.

use std::net::UdpSocket;

use reports::bench::{BenchResult, Mode};

use crate::{
    SERVERS, for_each_server,
    process::{Server, bench_result, in_own_network, skip},
};

for_each_server![
    short_mode_makes_one_connection_for_each_request,
    long_mode_makes_one_connection_for_each_slot,
    a_payload_of_a_mebibyte_comes_back_whole_in_both_modes,
];

fn short_mode_makes_one_connection_for_each_request(binary: &str) {
    for threads in ["1", "3"] {
        let server = Server::start(binary);
        let (status, result) =
            bench_result(server.address, &["--connections", "7", "--rounds", "13", "--threads", threads]);
        assert_eq!((status, result.ok, result.failures(), result.connected), (Some(0), 91, 0, 91));
        assert_eq!((result.connect.count(), result.request.count()), (91, 91));
        let totals = server.stop();
        assert_eq!((totals.connections, totals.requests, totals.bytes), (91, 91, 91 * 64));
    }
}

fn long_mode_makes_one_connection_for_each_slot(binary: &str) {
    for threads in ["1", "3"] {
        let server = Server::start(binary);
        let arguments =
            ["--mode", "long", "--connections", "7", "--rounds", "130", "--payload", "1000", "--threads", threads];
        let (status, result) = bench_result(server.address, &arguments);
        assert_eq!((status, result.ok, result.failures(), result.connected), (Some(0), 910, 0, 7));
        assert_eq!((result.connect.count(), result.request.count()), (7, 910));
        let totals = server.stop();
        assert_eq!((totals.connections, totals.requests, totals.bytes), (7, 910, 910_000));
    }
}

fn a_payload_of_a_mebibyte_comes_back_whole_in_both_modes(binary: &str) {
    let server = Server::start(binary);
    for mode in ["short", "long"] {
        let arguments = ["--mode", mode, "--connections", "3", "--rounds", "4", "--payload", "1048576"];
        let (status, result) = bench_result(server.address, &arguments);
        assert_eq!((status, result.ok, &result.failed), (Some(0), 12, &[].into()), "{mode}");
    }
    assert_eq!(server.stop().bytes, 24 << 20);
}

#[test]
fn a_run_by_time_lasts_that_long_and_is_not_partial() {
    let server = Server::start(SERVERS[0]);
    let (status, result) = bench_result(server.address, &["--connections", "2", "--duration", "150ms"]);
    assert_eq!((status, result.partial, result.failures()), (Some(0), false, 0));
    assert!((150_000_000..5_000_000_000).contains(&result.elapsed_ns), "{} ns", result.elapsed_ns);
    assert_eq!((result.settings.rounds, result.settings.duration_ns), (None, Some(150_000_000)));
    assert_eq!(server.stop().connections, result.ok);
}

#[test]
fn latencies_fit_into_the_run_and_cpu_time_is_counted() {
    let server = Server::start(SERVERS[1]);
    let (_, result): (_, BenchResult) = bench_result(server.address, &["--connections", "10", "--rounds", "20"]);
    assert_eq!(result.settings.mode, Mode::Short);
    assert!(result.client_cpu_ns > 0);
    for histogram in [&result.connect, &result.request] {
        assert!(histogram.min() > Some(0) && histogram.max() <= Some(result.elapsed_ns), "{result:?}");
    }
}

#[test]
fn an_address_that_is_not_loopback_gives_the_same_counts() {
    for (mode, connects) in [("short", 50), ("long", 5)] {
        let script = format!(
            r#"ip addr add 192.0.2.1/32 dev lo; start_server
            "$bench" --host 192.0.2.1 --mode {mode} --connections 5 --rounds 10 --json "$results" > /dev/null"#
        );
        let Some(output) = in_own_network("an_address_that_is_not_loopback_gives_the_same_counts", &script) else {
            return;
        };
        let result: BenchResult = output.result();
        assert_eq!((output.status, result.ok, result.connected), (Some(0), 50, connects));
    }
}

#[test]
fn version_six_of_the_protocol_gives_the_same_counts() {
    if UdpSocket::bind("[::1]:0").is_err() {
        skip("version_six_of_the_protocol_gives_the_same_counts", "this machine has no `::1`");
        return;
    }
    let server = Server::start_with(SERVERS[1], &["--bind", "::1"]);
    let (status, result) = bench_result(server.address, &["--host", "::1", "--connections", "5", "--rounds", "10"]);
    assert_eq!((status, result.ok), (Some(0), 50));
    assert_eq!(server.stop().connections, 50);
}
