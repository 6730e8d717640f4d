//! `bench` makes the load that was asked for: loops, modes, sizes, pauses, ends of connections. The server's totals, the
//! clock or the kernel are the witness.

use std::{io::Write, thread, time::Duration};

use reports::bench::{BenchResult, Mode};

use crate::{
    SERVERS,
    peer::misbehaving,
    process::{Server, bench_result, in_own_network},
};

fn warns(result: &BenchResult, name: &str) -> bool {
    result.findings.iter().any(|finding| finding.name == name && finding.warns)
}

/// A server whose every reply takes so long, and which serves each connection by a thread of its own.
fn slow(service: Duration) -> std::net::SocketAddr {
    misbehaving(move |mut stream| {
        let mut bytes = [0; 64];
        while std::io::Read::read_exact(&mut stream, &mut bytes).is_ok() {
            thread::sleep(service);
            if stream.write_all(&bytes).is_err() {
                return;
            }
        }
    })
}

#[test]
fn a_connection_serves_as_many_requests_as_was_asked_for() {
    let server = Server::start(SERVERS[0]);
    let arguments = ["--requests-per-connection", "4", "--connections", "3", "--rounds", "10"];
    let (status, result) = bench_result(server.address, &arguments);
    assert_eq!((status, result.ok, result.settings.mode, result.reconnects), (Some(0), 30, Mode::Reconnect, 0));
    // 4 + 4 + 2 requests for each of 3.
    assert_eq!(result.connected, 9);
    let totals = server.stop();
    assert_eq!((totals.connections, totals.requests), (9, 30));
}

#[test]
fn mode_connect_connects_and_sends_nothing() {
    let server = Server::start(SERVERS[1]);
    for more in [&["--threads", "1"] as &[&str], &["--threads", "2", "--linger0"], &["--close", "half"]] {
        let arguments = [&["--mode", "connect", "--connections", "5", "--rounds", "8"], more].concat();
        let (status, result) = bench_result(server.address, &arguments);
        assert_eq!((status, result.ok, result.connected, result.failures()), (Some(0), 40, 40, 0), "{more:?}");
        assert_eq!((result.connect.count(), result.request.count(), result.first_byte.count()), (40, 40, 0));
    }
    let totals = server.stop();
    assert_eq!((totals.connections, totals.requests), (120, 0));
}

#[test]
fn sizes_of_a_range_come_back_whole() {
    let server = Server::start(SERVERS[0]);
    let arguments = ["--payload", "1-200000", "--connections", "4", "--rounds", "20", "--mode", "long"];
    let (status, result) = bench_result(server.address, &arguments);
    assert_eq!((status, result.ok, result.settings.payload_max_bytes), (Some(0), 80, Some(200_000)));
    assert_eq!((result.first_byte.count(), result.request.count()), (80, 80));
    let mean = server.stop().bytes / 80;
    assert!((70_000..130_000).contains(&mean), "{mean} bytes are not the middle of the range");
}

#[test]
fn a_pace_is_not_exceeded_and_a_pause_is_kept() {
    let server = Server::start(SERVERS[0]);
    // 5 at once, 5 after 100 ms, 5 after 200 ms.
    let (_, paced) = bench_result(server.address, &["--pace", "5/100ms", "--connections", "3", "--rounds", "5"]);
    assert_eq!((paced.ok, paced.failures()), (15, 0));
    assert!((200_000_000..5_000_000_000).contains(&paced.elapsed_ns), "{}", paced.elapsed_ns);
    let (_, thinking) = bench_result(server.address, &["--think", "30ms", "--connections", "2", "--rounds", "5"]);
    assert_eq!((thinking.ok, thinking.failures()), (10, 0));
    assert!((120_000_000..5_000_000_000).contains(&thinking.elapsed_ns), "{}", thinking.elapsed_ns);
}

#[test]
fn an_open_loop_asks_as_often_as_was_asked_for_and_no_more() {
    let server = Server::start(SERVERS[0]);
    for mode in ["short", "long", "connect"] {
        for threads in ["1", "3"] {
            let arguments = ["--mode", mode, "--rate", "400", "--duration", "500ms", "--threads", threads];
            let (status, result) = bench_result(server.address, &arguments);
            assert_eq!((status, result.ok, &result.failed), (Some(0), 200, &[].into()), "{mode}");
            assert!(result.elapsed_ns >= 500_000_000);
        }
    }
    let (_, counted) = bench_result(server.address, &["--rate", "1000", "--rounds", "10", "--connections", "9"]);
    assert_eq!((counted.ok, counted.failures()), (90, 0));
}

#[test]
fn a_rate_above_capacity_is_said_and_its_latencies_count_from_when_requests_were_due() {
    // 2 connections x 100 a second, of 1000 that are due.
    let arguments = ["--mode", "long", "--connections", "2", "--rate", "1000", "--duration", "600ms"];
    let (status, result) = bench_result(slow(Duration::from_millis(10)), &arguments);
    assert_eq!(status, Some(1));
    assert_eq!(result.ok + result.failures(), 600, "every request that was due is accounted for");
    assert!(result.ok <= 124 && result.failed["not-sent"] >= 476, "{:?}", result.failed);
    assert!(warns(&result, "rate"), "{:?}", result.findings);
    // The service takes 10 ms; nearly all the rest is the wait for a connection.
    assert!(result.request.quantile(0.5) >= Some(100_000_000), "{:?}", result.request.quantile(0.5));
    assert!(result.latency_max() >= Some(400_000_000), "those that were never sent waited too");
}

#[test]
fn a_warm_up_makes_load_and_counts_nothing() {
    let server = Server::start(SERVERS[0]);
    let arguments = ["--warmup", "200ms", "--mode", "long", "--connections", "4", "--rounds", "25"];
    let (status, result) = bench_result(server.address, &arguments);
    assert_eq!((status, result.failures()), (Some(0), 0));
    assert_eq!((result.ok, result.request.count()), (100, 100));
    assert_eq!(result.connected, 0, "connections were made in the warm-up");
    assert!(server.stop().requests > 150);
    let timed = Server::start(SERVERS[0]);
    let (_, result) = bench_result(timed.address, &["--warmup", "300ms", "--duration", "200ms"]);
    assert!((200_000_000..5_000_000_000).contains(&result.elapsed_ns));
    assert!(timed.stop().connections > result.ok);
}

#[test]
fn a_server_that_is_to_close_does_or_is_said_not_to() {
    let closing = misbehaving(|mut stream| {
        let mut bytes = [0; 64];
        std::io::Read::read_exact(&mut stream, &mut bytes).expect("bench sends 64 bytes");
        stream.write_all(&bytes).expect("bench reads");
    });
    let arguments = ["--close", "server", "--connections", "2", "--rounds", "3", "--timeout", "200ms"];
    let (status, result) = bench_result(closing, &arguments);
    assert_eq!((status, result.ok, result.unclosed), (Some(0), 6, 0));
    let echo = Server::start(SERVERS[0]);
    let (status, result) = bench_result(echo.address, &arguments);
    assert_eq!((status, result.ok, result.unclosed), (Some(0), 6, 6));
    assert!(warns(&result, "unclosed"));
    let (status, result) = bench_result(echo.address, &["--close", "half", "--connections", "2", "--rounds", "3"]);
    assert_eq!((status, result.ok, result.unclosed, result.connected), (Some(0), 6, 0, 6));
}

#[test]
fn time_wait_stays_where_the_end_of_a_connection_leaves_it() {
    for (end, expected) in [("--close client", 30), ("--close half", 30), ("--linger0", 0)] {
        let script = format!(
            r#"start_server
            "$bench" {end} --connections 3 --rounds 10 > /dev/null || exit
            # The server's FIN may still be under way.
            tries=0
            until grep -q " tw {expected} " /proc/net/sockstat || [ $tries -gt 100 ]; do
                sleep 0.02; tries=$((tries + 1))
            done
            cat /proc/net/sockstat > "$results""#
        );
        let Some(output) = in_own_network("time_wait_stays_where_the_end_of_a_connection_leaves_it", &script) else {
            return;
        };
        assert_eq!(output.status, Some(0));
        assert!(output.text.contains(&format!(" tw {expected} ")), "{end}: {}", output.text);
    }
}

#[test]
fn source_addresses_are_as_many_as_was_asked_for() {
    let script = r#"start_server
        "$bench" --sources 4 --connections 4 --rounds 10 > /dev/null || exit
        # All that remain towards port 9988, by local address.
        awk '$3 ~ /:2704$/ { split($2, at, ":"); print at[1] }' /proc/net/tcp | sort | uniq -c > "$results""#;
    let Some(output) = in_own_network("source_addresses_are_as_many_as_was_asked_for", script) else { return };
    let lines: Vec<Vec<&str>> = output.text.lines().map(|line| line.split_whitespace().collect()).collect();
    let expected = ["0100017F", "0200017F", "0300017F", "0400017F"].map(|address| vec!["10", address]);
    assert_eq!(lines, expected, "{}", output.text);
}

#[test]
fn enough_source_addresses_are_taken_where_one_would_be_port_bound() {
    let script = r#"
        echo "40000 40099" > /proc/sys/net/ipv4/ip_local_port_range; start_server
        "$bench" --connections 10 --rounds 30 --json "$results" > /dev/null"#;
    let test = "enough_source_addresses_are_taken_where_one_would_be_port_bound";
    let Some(output) = in_own_network(test, script) else { return };
    let result = output.result();
    assert_eq!((output.status, result.ok, result.failures()), (Some(0), 300, 0));
    assert!(result.settings.sources >= 6, "{}", result.settings.sources);
    assert!(!warns(&result, "port-bound"), "{:?}", result.findings);
}

#[test]
fn a_port_range_of_100_is_said_to_be_port_bound_before_it_runs_out() {
    let script = r#"
        echo "40000 40099" > /proc/sys/net/ipv4/ip_local_port_range
        echo 0 > /proc/sys/net/ipv4/tcp_tw_reuse; start_server
        "$bench" --sources 1 --connections 10 --rounds 30 --json "$results" > /dev/null 2> "$results.stderr"
        status=$?; grep -q "warning: port-bound: " "$results.stderr" || status=77; rm "$results.stderr"; (exit $status)"#;
    let test = "a_port_range_of_100_is_said_to_be_port_bound_before_it_runs_out";
    let Some(output) = in_own_network(test, script) else { return };
    let result = output.result();
    assert_eq!((output.status, result.ok), (Some(1), 100), "every port serves once");
    assert_eq!(result.failed, [("addr-unavailable".to_owned(), 200)].into());
    assert!(warns(&result, "port-bound"), "{:?}", result.findings);
}

#[test]
fn more_connections_than_ports_are_refused_up_front() {
    let script = r#"
        echo "40000 40009" > /proc/sys/net/ipv4/ip_local_port_range; start_server
        "$bench" --mode long --sources 1 --connections 14 --rounds 2 2> "$results""#;
    let Some(output) = in_own_network("more_connections_than_ports_are_refused_up_front", script) else { return };
    assert_eq!(output.status, Some(1));
    assert!(
        output.text.contains("`14` connections at once need as many local ports, but 10 are there"),
        "{}",
        output.text
    );
    assert!(output.text.contains("hint: ") && output.text.contains("ip_local_port_range"), "{}", output.text);
}
