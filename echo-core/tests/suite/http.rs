//! `bench --http` against small web servers that answer well or badly, each written out byte by byte.

use std::{
    fs,
    io::{Read, Write},
    net::{Shutdown, SocketAddr, TcpStream},
    thread,
    time::Duration,
};

use reports::bench::BenchResult;

use crate::{
    peer::misbehaving,
    process::{Running, bench, bench_command, stderr, stdout},
};

const HELLO: &str = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

/// The head of the next request, or nothing when the client has closed.
fn request(stream: &mut TcpStream) -> Option<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        if stream.read(&mut byte).unwrap_or(0) == 0 {
            assert!(head.is_empty(), "half a request: {}", String::from_utf8_lossy(&head));
            return None;
        }
        head.push(byte[0]);
    }
    Some(String::from_utf8(head).expect("plain text"))
}

/// A web server that answers request number N of each connection by `reply(N)`, from 0, and closes after `last`.
fn web(last: usize, reply: fn(usize) -> String) -> SocketAddr {
    misbehaving(move |mut stream| {
        for number in 0..last {
            let Some(_) = request(&mut stream) else { return };
            stream.write_all(reply(number).as_bytes()).expect("bench reads");
        }
    })
}

/// Runs `bench --http` against it, and gives its exit status and its result.
fn get(address: SocketAddr, arguments: &[&str]) -> (Option<i32>, BenchResult) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("result.json");
    let mut command = bench_command(&["--http", &format!("http://{address}/page?x=1")]);
    let output = Running::start(command.args(arguments).arg("--json").arg(&file)).finish(Duration::from_secs(20));
    let text = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{error}: {}", stderr(&output)));
    (output.status.code(), serde_json::from_str(&text).expect("a result"))
}

/// Checks that 2 connections of 3 requests all fail as `kind`.
fn assert_all_fail_as(kind: &str, address: SocketAddr) {
    let (status, result) = get(address, &["--connections", "2", "--rounds", "3", "--timeout", "300ms"]);
    assert_eq!((status, result.ok, &result.failed), (Some(1), 0, &[(kind.to_owned(), 6)].into()));
}

#[test]
fn long_mode_keeps_the_connection_and_short_mode_asks_to_close_it() {
    let address = misbehaving(|mut stream| {
        while let Some(head) = request(&mut stream) {
            let path = if head.contains("Connection: close\r\n") { "close" } else { "keep" };
            assert!(head.starts_with("GET /page?x=1 HTTP/1.1\r\nHost: 127.0.0.1:"), "{head}");
            let status = if path == "close" { 201 } else { 202 };
            let reply = format!("HTTP/1.1 {status} OK\r\nContent-Length: 0\r\n\r\n");
            stream.write_all(reply.as_bytes()).expect("bench reads");
        }
    });
    let (status, result) = get(address, &["--mode", "long", "--connections", "2", "--rounds", "10"]);
    assert_eq!((status, result.ok, result.connected, &result.statuses), (Some(0), 20, 2, &[(202, 20)].into()));
    let (status, result) = get(address, &["--mode", "short", "--connections", "2", "--rounds", "10"]);
    assert_eq!((status, result.ok, result.connected, &result.statuses), (Some(0), 20, 20, &[(201, 20)].into()));
    let (status, result) = get(address, &["--requests-per-connection", "5", "--connections", "2", "--rounds", "10"]);
    let statuses = [(201, 4), (202, 16)].into();
    assert_eq!((status, result.ok, result.connected, &result.statuses), (Some(0), 20, 4, &statuses));
}

#[test]
fn bodies_by_length_by_chunks_and_without_any_are_read_to_their_end() {
    let address = web(usize::MAX, |number| match number % 3 {
        0 => format!("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n{}", "x".repeat(100_000)),
        1 => format!(
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n186a0\r\n{}\r\n0\r\n\r\n",
            "x".repeat(100_000)
        ),
        _ => "HTTP/1.1 204 No Content\r\n\r\n".to_owned(),
    });
    let (status, result) = get(address, &["--mode", "long", "--connections", "3", "--rounds", "30"]);
    let statuses = [(200, 60), (204, 30)].into();
    assert_eq!((status, result.ok, result.connected, &result.statuses), (Some(0), 90, 3, &statuses));
}

#[test]
fn a_body_that_ends_with_the_connection_is_a_success_and_the_next_request_has_a_new_one() {
    let address = web(1, |_| "HTTP/1.1 200 OK\r\n\r\nwhatever comes".to_owned());
    let (status, result) = get(address, &["--mode", "long", "--connections", "2", "--rounds", "5"]);
    assert_eq!((status, result.ok, result.failures(), result.connected), (Some(0), 10, 0, 10));
}

#[test]
fn a_server_that_announces_its_close_is_connected_to_again_without_a_failure() {
    let address = web(3, |number| {
        let close = if number == 2 { "Connection: close\r\n" } else { "" };
        format!("HTTP/1.1 200 OK\r\n{close}Content-Length: 2\r\n\r\nok")
    });
    let (status, result) = get(address, &["--mode", "long", "--connections", "2", "--rounds", "9"]);
    assert_eq!((status, result.ok, result.failures(), result.connected), (Some(0), 18, 0, 6));
}

#[test]
fn a_connection_that_the_server_ends_while_it_is_idle_is_replaced_without_a_failure() {
    let address = web(1, |_| HELLO.to_owned());
    let arguments = ["--mode", "long", "--connections", "2", "--rounds", "3", "--think", "300ms"];
    let (status, result) = get(address, &arguments);
    assert_eq!((status, result.ok, result.failures(), result.connected), (Some(0), 6, 0, 6));
}

#[test]
fn bad_statuses_are_failures_of_their_own_kind_and_the_connection_goes_on() {
    let address = web(usize::MAX, |number| {
        let status = ["200 OK", "301 Moved", "404 Not Found", "500 Oops"][number % 4];
        format!("HTTP/1.1 {status}\r\nContent-Length: 1\r\n\r\nx")
    });
    let (status, result) = get(address, &["--mode", "long", "--connections", "1", "--rounds", "8"]);
    assert_eq!((status, result.ok, result.connected), (Some(1), 4, 1));
    assert_eq!(result.failed, [("bad-status".to_owned(), 4)].into());
    assert_eq!(result.statuses, [(200, 2), (301, 2), (404, 2), (500, 2)].into());
}

#[test]
fn a_body_that_ends_early_is_a_short_reply() {
    assert_all_fail_as("short-reply", web(1, |_| "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell".to_owned()));
    let chunked = |_| "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n".to_owned();
    assert_all_fail_as("short-reply", web(1, chunked));
    assert_all_fail_as("short-reply", web(1, |_| "HTTP/1.1 200".to_owned()));
}

#[test]
fn what_follows_a_reply_that_nobody_asked_for_is_malformed() {
    assert_all_fail_as("malformed-reply", web(1, |_| format!("{HELLO}{HELLO}")));
    assert_all_fail_as("malformed-reply", web(1, |_| format!("{HELLO}!")));
}

#[test]
fn what_is_not_http_is_malformed_and_silence_is_a_timeout_or_a_close() {
    assert_all_fail_as("malformed-reply", web(1, |_| "220 mail.example ESMTP\r\n".to_owned()));
    assert_all_fail_as("timeout", web(9, |_| "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell".to_owned()));
    assert_all_fail_as("closed", web(1, |_| String::new()));
}

#[test]
fn a_reply_that_trickles_in_is_read_whole_and_its_first_byte_is_earlier_than_its_last() {
    let address = misbehaving(|mut stream| {
        while request(&mut stream).is_some() {
            for byte in HELLO.as_bytes().chunks(7) {
                stream.write_all(byte).expect("bench reads");
                thread::sleep(Duration::from_millis(2));
            }
        }
        let _ = stream.shutdown(Shutdown::Both);
    });
    let (status, result) = get(address, &["--mode", "long", "--connections", "2", "--rounds", "5"]);
    assert_eq!((status, result.ok, result.failures()), (Some(0), 10, 0));
    assert!(result.first_byte.min() < result.request.min(), "{result:?}");
    assert!(result.request.min() >= Some(10_000_000), "{result:?}");
}

#[test]
fn an_open_loop_and_headers_work_as_for_the_echo_load() {
    let address = misbehaving(|mut stream| {
        while let Some(head) = request(&mut stream) {
            let status = if head.contains("\r\naccept: text/plain\r\n") { 200 } else { 400 };
            // In one piece: two would wait for a delayed ACK.
            let reply = format!("HTTP/1.1 {status} X\r\nContent-Length: 0\r\n\r\n");
            stream.write_all(reply.as_bytes()).expect("bench reads");
        }
    });
    let arguments = ["--mode", "long", "--connections", "4", "--rate", "200", "--duration", "500ms"];
    let (status, result) = get(address, &[&arguments[..], &["--header", "Accept: text/plain"]].concat());
    assert!(matches!(status, Some(0 | 1)) && result.settings.rate_per_s == Some(200));
    assert_eq!(result.statuses, [(200, result.ok)].into());
    // On a machine that is too busy some are due and not sent; every one is in the books.
    let not_sent = result.failed.get("not-sent").copied().unwrap_or(0);
    assert_eq!(result.failures(), not_sent, "{:?}", result.failed);
    assert!(result.ok > 0 && (95..=101).contains(&(result.ok + not_sent)), "{}", result.ok);
}

#[test]
fn the_output_names_the_url_and_the_statuses() {
    let address = web(usize::MAX, |_| HELLO.to_owned());
    let url = format!("http://{address}/");
    let output = bench(&["--http", &url, "--mode", "long", "--connections", "2", "--rounds", "3"]);
    let text = stdout(&output);
    assert!(text.contains(&format!("GET {url}")) && text.contains("200: 6"), "{text}");
}

#[test]
fn urls_that_cannot_be_asked_for_are_usage_errors() {
    let wrong: [&[&str]; 6] = [
        &["--http", "https://127.0.0.1/"],
        &["--http", "127.0.0.1"],
        &["--http", "http://127.0.0.1/", "--port", "80"],
        &["--http", "http://127.0.0.1/", "--payload", "5"],
        &["--http", "http://127.0.0.1/", "--header", "Host: other"],
        &["--header", "X: y"],
    ];
    for arguments in wrong {
        let output = bench(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", stderr(&output));
    }
}
