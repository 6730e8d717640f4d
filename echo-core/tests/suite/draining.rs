//! SIGTERM: what was sent before is answered, then the stream ends.

use std::{
    io::{Read, Write},
    net::TcpStream,
    time::{Duration, Instant},
};

use rustix::process::Signal;

use crate::{
    models::{Model, for_each_model},
    peer::{connect, exchange},
    process::Server,
};

for_each_model![
    what_was_sent_before_sigterm_is_answered_and_the_stream_ends,
    connections_that_still_queue_at_sigterm_are_answered,
    a_peer_that_does_not_read_does_not_keep_a_stopping_server,
];

fn assert_answered_to_the_end(stream: &mut TcpStream, expected: &[u8]) {
    let mut received = Vec::new();
    stream.read_to_end(&mut received).expect("an answer and its end");
    assert_eq!(received, expected);
}

fn what_was_sent_before_sigterm_is_answered_and_the_stream_ends(model: Model) {
    // Slow enough that most requests are still waiting when the signal comes.
    let server = Server::of_with(model, &["--work-us", "5000"]);
    let mut streams: Vec<TcpStream> = (0..10).map(|_| connect(server.address)).collect();
    for stream in &mut streams {
        assert_eq!(exchange(stream, b"first"), b"first");
    }
    for stream in &mut streams {
        stream.write_all(b"the last request").expect("the server reads");
    }
    let totals = server.stop_by(Signal::TERM);
    for stream in &mut streams {
        assert_answered_to_the_end(stream, b"the last request");
    }
    assert_eq!((totals.connections, totals.requests, totals.bytes), (10, 20, 10 * (5 + 16)));
}

fn connections_that_still_queue_at_sigterm_are_answered(model: Model) {
    let server = Server::of_with(model, &["--stall-accept", "30"]);
    let mut streams: Vec<TcpStream> = (0..5).map(|_| connect(server.address)).collect();
    for stream in &mut streams {
        stream.write_all(b"in the queue").expect("room in the kernel");
    }
    let totals = server.stop_by(Signal::TERM);
    for stream in &mut streams {
        assert_answered_to_the_end(stream, b"in the queue");
    }
    assert_eq!((totals.connections, totals.requests), (5, 5));
}

fn a_peer_that_does_not_read_does_not_keep_a_stopping_server(model: Model) {
    let server = Server::of(model);
    let stuck = connect(server.address);
    stuck.set_nonblocking(true).expect("a socket");
    let many = vec![7; 100_000];
    while (&stuck).write(&many).is_ok() {}
    let mut idle = connect(server.address);
    assert_eq!(exchange(&mut idle, b"idle from now on"), b"idle from now on");
    let start = Instant::now();
    let totals = server.stop_by(Signal::TERM);
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    assert_eq!(totals.connections, 2);
}
