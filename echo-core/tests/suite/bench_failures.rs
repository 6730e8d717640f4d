//! Each way of not answering is counted under its own name, and none as success.

use std::{
    io::{Read, Write},
    net::{Shutdown, SocketAddr, TcpListener, TcpStream},
    thread,
    time::{Duration, Instant},
};

use rustix::net::listen;

use crate::{
    peer::{misbehaving, nobody, reset},
    process::{bench, bench_result, in_own_network, stderr},
};

/// Runs 2 connections of 3 rounds of 64 bytes in short mode and checks that all 6 failed as `kind`.
fn assert_all_fail_as(kind: &str, address: SocketAddr) {
    let (status, result) = bench_result(address, &["--connections", "2", "--rounds", "3", "--timeout", "300ms"]);
    assert_eq!((status, result.ok), (Some(1), 0));
    assert_eq!(result.failed, [(kind.to_owned(), 6)].into());
    assert_eq!((result.connected, result.request.count(), result.censored.count()), (6, 0, 6));
}

/// Takes one request off the stream.
fn request(stream: &mut TcpStream) -> [u8; 64] {
    let mut bytes = [0; 64];
    stream.read_exact(&mut bytes).expect("bench sends 64 bytes");
    bytes
}

#[test]
fn a_server_that_closes_without_an_answer_is_closed() {
    assert_all_fail_as("closed", misbehaving(|mut stream| assert_ne!(request(&mut stream), [0; 64])));
}

#[test]
fn a_server_that_answers_short_and_closes_is_short_reply() {
    let address = misbehaving(|mut stream| {
        let bytes = request(&mut stream);
        stream.write_all(&bytes[..63]).expect("bench reads");
    });
    assert_all_fail_as("short-reply", address);
}

#[test]
fn a_server_that_answers_one_wrong_byte_is_wrong_payload() {
    let address = misbehaving(|mut stream| {
        let mut bytes = request(&mut stream);
        bytes[63] ^= 1;
        let _ = stream.write_all(&bytes);
        thread::sleep(Duration::from_millis(50));
    });
    assert_all_fail_as("wrong-payload", address);
}

#[test]
fn a_server_that_answers_more_than_was_sent_is_wrong_payload() {
    let address = misbehaving(|mut stream| {
        let mut bytes = request(&mut stream).to_vec();
        bytes.push(0);
        let _ = stream.write_all(&bytes);
        thread::sleep(Duration::from_millis(50));
    });
    assert_all_fail_as("wrong-payload", address);
}

#[test]
fn a_server_that_resets_is_reset() {
    let address = misbehaving(|mut stream| {
        request(&mut stream);
        reset(stream);
    });
    assert_all_fail_as("reset", address);
}

#[test]
fn a_server_that_never_answers_is_timeout() {
    let started = Instant::now();
    assert_all_fail_as("timeout", misbehaving(|_stream| thread::sleep(Duration::from_secs(30))));
    assert!(started.elapsed() >= Duration::from_millis(900), "three rounds of 300 ms each");
}

#[test]
fn half_an_answer_and_then_nothing_is_timeout() {
    let address = misbehaving(|mut stream| {
        let bytes = request(&mut stream);
        stream.write_all(&bytes[..32]).expect("bench reads");
        thread::sleep(Duration::from_secs(30));
    });
    assert_all_fail_as("timeout", address);
}

#[test]
fn a_long_connection_that_fails_leaves_its_rest_unsent() {
    let address = misbehaving(|mut stream| {
        let bytes = request(&mut stream);
        stream.write_all(&bytes).expect("bench reads");
        request(&mut stream);
    });
    let (status, result) = bench_result(address, &["--mode", "long", "--connections", "2", "--rounds", "5"]);
    assert_eq!((status, result.ok, result.connected), (Some(1), 2, 2));
    assert_eq!(result.failed, [("closed".to_owned(), 2), ("not-sent".to_owned(), 6)].into());
}

#[test]
fn a_server_that_closes_after_each_reply_is_closed_and_its_connections_are_replaced_in_a_run_by_time() {
    let address = misbehaving(|mut stream| {
        let bytes = request(&mut stream);
        // By FIN, and not by the reset that a close with unread bytes is.
        stream.write_all(&bytes).and_then(|()| stream.shutdown(Shutdown::Write)).expect("bench reads");
        let _ = stream.read_to_end(&mut Vec::new());
    });
    let (status, result) = bench_result(address, &["--mode", "long", "--connections", "2", "--duration", "300ms"]);
    assert_eq!(status, Some(1));
    // What is answered is right; the next request on that connection never is.
    assert_eq!(result.failed.keys().collect::<Vec<_>>(), ["closed"], "{:?}", result.failed);
    let closed = result.failed["closed"];
    assert!(result.ok >= closed && closed > 2, "{} ok, {closed} closed", result.ok);
    assert!((closed - 2..=closed).contains(&result.reconnects), "{} for {closed}", result.reconnects);
    assert!(result.findings.iter().any(|finding| finding.name == "reconnects" && finding.warns));
}

#[test]
fn nobody_listening_ends_at_once_with_every_request_accounted_for() {
    let address = nobody();
    let more: [&[&str]; 4] = [
        &["--mode", "short"],
        &["--mode", "long"],
        &["--requests-per-connection", "7"],
        &["--mode", "long", "--rate", "10000"],
    ];
    for more in more {
        let started = Instant::now();
        let arguments = [more, &["--connections", "10", "--rounds", "1000000"]].concat();
        let (status, result) = bench_result(address, &arguments);
        assert!(started.elapsed() < Duration::from_secs(5));
        assert_eq!((status, result.ok, result.connected, result.failures()), (Some(1), 0, 0, 10_000_000));
        assert!(result.failed["refused"] >= 10 && result.failed["not-sent"] > 9_000_000, "{:?}", result.failed);
    }
}

#[test]
fn nobody_listening_ends_a_run_by_time_too_and_says_what_to_do() {
    let port = nobody().port().to_string();
    let started = Instant::now();
    let output = bench(&["--port", &port, "--duration", "60s"]);
    assert!(started.elapsed() < Duration::from_secs(10));
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("hint: is the server running?"), "{}", stderr(&output));
}

#[test]
fn a_full_accept_queue_is_timeout_and_the_kernels_counters_say_why() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    // A queue of 2, from which nobody takes.
    listen(&listener, 1).expect("it listens already");
    let address = listener.local_addr().expect("a bound socket");
    let (status, result) = bench_result(address, &["--connections", "6", "--rounds", "1", "--timeout", "300ms"]);
    assert_eq!((status, result.ok, result.connected), (Some(1), 0, 2));
    assert_eq!(result.failed, [("timeout".to_owned(), 6)].into());
    assert!(result.kernel_counters["TcpExt.ListenOverflows"] >= 4, "{:?}", result.kernel_counters);
}

#[test]
fn a_connect_that_needs_a_second_syn_takes_a_second_and_succeeds() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    listen(&listener, 0).expect("it listens already");
    let address = listener.local_addr().expect("a bound socket");
    thread::spawn(move || {
        thread::sleep(Duration::from_millis(300));
        for mut stream in listener.incoming().flatten() {
            let bytes = request(&mut stream);
            stream.write_all(&bytes).expect("bench reads");
        }
    });
    let (status, result) = bench_result(address, &["--connections", "2", "--rounds", "1"]);
    assert_eq!((status, result.ok, result.connected), (Some(0), 2, 2));
    assert!(result.connect.max() >= Some(900_000_000), "{:?}", result.connect);
    assert!(result.kernel_counters["TcpExt.TCPSynRetrans"] >= 1, "{:?}", result.kernel_counters);
}

#[test]
fn no_local_port_left_is_addr_unavailable() {
    let script = r#"
        echo "40000 40009" > /proc/sys/net/ipv4/ip_local_port_range; start_server
        "$bench" --mode long --sources 1 --connections 14 --rounds 2 --force > "$results""#;
    let Some(output) = in_own_network("no_local_port_left_is_addr_unavailable", script) else { return };
    assert_eq!(output.status, Some(1));
    assert!(output.text.contains("addr-unavailable 4, not-sent 4"), "{}", output.text);
}
