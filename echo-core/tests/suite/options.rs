//! The options that all servers have do what they say.

use std::{
    io::{ErrorKind, Read, Write},
    time::{Duration, Instant},
};

use crate::{
    models::{Model, for_each_model},
    peer::{connect, exchange},
    process::Server,
};

for_each_model![
    stalled_at_first_it_accepts_later,
    no_more_connections_than_allowed_are_served_at_once,
    work_takes_the_time_that_was_asked_for,
];

fn stalled_at_first_it_accepts_later(model: Model) {
    let started = Instant::now();
    let server = Server::of_with(model, &["--stall-accept", "0.4"]);
    let mut stream = connect(server.address);
    assert_eq!(exchange(&mut stream, b"at last"), b"at last");
    assert!(started.elapsed() >= Duration::from_millis(400), "{:?}", started.elapsed());
    // Once over it is over.
    assert_eq!(exchange(&mut connect(server.address), b"at once"), b"at once");
    assert_eq!(server.stop().connections, 2);
}

fn no_more_connections_than_allowed_are_served_at_once(model: Model) {
    let server = Server::of_three_at_once(model);
    let mut three: Vec<_> = (0..3).map(|_| connect(server.address)).collect();
    for stream in &mut three {
        assert_eq!(exchange(stream, b"one of three"), b"one of three");
    }
    let mut fourth = connect(server.address);
    fourth.write_all(b"one too many").expect("room in the kernel");
    fourth.set_read_timeout(Some(Duration::from_millis(150))).expect("a socket");
    let mut reply = [0; 12];
    let early = fourth.read_exact(&mut reply).expect_err("it has to wait");
    assert!(matches!(early.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut), "{early}");
    drop(three.pop());
    fourth.set_read_timeout(Some(Duration::from_secs(10))).expect("a socket");
    fourth.read_exact(&mut reply).expect("a place became free");
    assert_eq!(&reply, b"one too many");
    assert_eq!(server.stop().connections, 4);
}

fn work_takes_the_time_that_was_asked_for(model: Model) {
    let server = Server::of_with(model, &["--work-us", "30000"]);
    let mut stream = connect(server.address);
    for _ in 0..3 {
        let started = Instant::now();
        exchange(&mut stream, b"think");
        assert!(started.elapsed() >= Duration::from_millis(30), "{:?}", started.elapsed());
    }
}
