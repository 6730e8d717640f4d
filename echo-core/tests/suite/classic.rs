//! `bench --classic`: the same counts as the good client, its own label, and the artefact it is kept for.

use std::{net::TcpListener, thread, time::Duration};

use reports::bench::Client;
use rustix::{net::listen, process::Signal};

use crate::{
    SERVERS,
    peer::{exchange_back, misbehaving, nobody},
    process::{Running, Server, bench, bench_command, bench_result, stderr, stdout},
};

#[test]
fn the_classic_client_makes_exactly_the_rounds_in_both_modes() {
    for (mode, connects) in [("short", 70), ("long", 7)] {
        let server = Server::start(SERVERS[0]);
        let arguments = ["--classic", "--mode", mode, "--connections", "7", "--rounds", "10"];
        let (status, result) = bench_result(server.address, &arguments);
        assert_eq!((status, result.ok, result.failures(), result.connected), (Some(0), 70, 0, connects), "{mode}");
        assert_eq!((result.connect.count(), result.request.count()), (connects, 70));
        assert_eq!((result.settings.client, result.settings.threads), (Client::Classic, 7));
        let totals = server.stop();
        assert_eq!((totals.connections, totals.requests), (connects, 70));
    }
}

#[test]
fn its_output_says_which_client_it_was() {
    let server = Server::start(SERVERS[1]);
    let port = server.address.port().to_string();
    let output = bench(&["--classic", "127.0.0.1", &port, "3", "2"]);
    assert!(stdout(&output).contains("classic client: a thread for each connection"), "{}", stdout(&output));
}

#[test]
fn its_failures_are_counted_by_kind_and_a_long_connection_that_fails_leaves_its_rest_unsent() {
    let arguments = ["--classic", "--connections", "2", "--rounds", "3", "--timeout", "200ms"];
    let kinds = |address, mode| bench_result(address, &[&arguments[..], &["--mode", mode]].concat()).1.failed;
    assert_eq!(kinds(nobody(), "short"), [("refused".to_owned(), 6)].into());
    assert_eq!(kinds(nobody(), "long"), [("refused".to_owned(), 2), ("not-sent".to_owned(), 4)].into());
    let silent = misbehaving(|_stream| thread::sleep(Duration::from_secs(30)));
    assert_eq!(kinds(silent, "short"), [("timeout".to_owned(), 6)].into());
}

#[test]
fn a_full_accept_queue_makes_its_short_run_last_for_whole_seconds() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    listen(&listener, 0).expect("it listens already");
    let address = listener.local_addr().expect("a bound socket");
    thread::spawn(move || {
        thread::sleep(Duration::from_millis(300));
        listener.incoming().flatten().for_each(|mut stream| exchange_back(&mut stream));
    });
    let (status, result) = bench_result(address, &["--classic", "--connections", "4", "--rounds", "1"]);
    assert_eq!((status, result.ok), (Some(0), 4));
    assert!(result.connect.max() >= Some(900_000_000), "{:?}", result.connect);
    assert!(result.elapsed_ns >= 900_000_000, "{} ns", result.elapsed_ns);
}

#[test]
fn a_signal_ends_it_at_once_with_what_was_done() {
    let address = misbehaving(|mut stream| {
        exchange_back(&mut stream);
        thread::sleep(Duration::from_secs(30));
    });
    let port = address.port().to_string();
    let mut command =
        bench_command(&["--classic", "--port", &port, "--mode", "long", "--connections", "3", "--rounds", "5"]);
    let running = Running::start(command.args(["--timeout", "60s"]));
    thread::sleep(Duration::from_millis(500));
    running.signal(Signal::INT);
    let output = running.finish(Duration::from_secs(5));
    assert_eq!(output.status.code(), Some(130), "{}", stderr(&output));
    assert!(stdout(&output).contains("partial"), "{}", stdout(&output));
}

#[test]
fn what_it_does_not_know_is_a_usage_error() {
    let wrong: [&[&str]; 5] =
        [&["--rate", "5"], &["--duration", "1s"], &["--mode", "connect"], &["--threads", "2"], &["--warmup", "1s"]];
    for arguments in wrong {
        let output = bench(&[&["--classic"], arguments].concat());
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", stderr(&output));
    }
}
