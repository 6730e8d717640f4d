//! More than there is room for: descriptors, connections, a port that is taken.

use std::{
    io::{Read, Write},
    net::TcpStream,
    process::Command,
    thread,
    time::Duration,
};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::{
    for_each_server,
    peer::{connect, exchange},
    process::{Server, stderr, with_descriptors},
};

for_each_server![
    out_of_descriptors_it_waits_quietly_and_serves_the_rest_later,
    twelve_hundred_connections_are_held_and_answered,
    a_soft_limit_of_descriptors_is_raised,
    a_taken_port_is_named_with_the_way_to_its_owner,
    wrong_options_are_a_usage_error,
];

fn out_of_descriptors_it_waits_quietly_and_serves_the_rest_later(binary: &str) {
    let server = Server::start(binary);
    server.leave_descriptors(20);
    let mut streams: Vec<TcpStream> = (0..50).map(|_| connect(server.address)).collect();
    for stream in &mut streams {
        stream.write_all(b"please").expect("queued at least");
    }
    let mut reply = [0; 6];
    for stream in &mut streams[..20] {
        stream.read_exact(&mut reply).expect("there was room for it");
    }
    let ticks = server.cpu_ticks();
    thread::sleep(Duration::from_millis(300));
    assert!(server.cpu_ticks() - ticks < 10, "busy while out of descriptors");
    // Each place that becomes free is given to one that waits.
    while !streams.is_empty() {
        let mut first = streams.remove(0);
        if streams.len() < 30 {
            first.read_exact(&mut reply).expect("served after others closed");
            assert_eq!(&reply, b"please");
        }
    }
    assert_eq!(server.stop().connections, 50);
}

fn twelve_hundred_connections_are_held_and_answered(binary: &str) {
    const CONNECTIONS: u16 = 1_200;
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum })
        .expect("up to the hard limit");
    let server = Server::start(binary);
    let mut streams: Vec<TcpStream> = (0..CONNECTIONS).map(|_| connect(server.address)).collect();
    for (number, stream) in (0..CONNECTIONS).zip(&mut streams) {
        assert_eq!(exchange(stream, &number.to_le_bytes()), number.to_le_bytes());
    }
    let totals = server.stop();
    assert_eq!((totals.connections, totals.requests, totals.bytes), (1_200, 1_200, 2_400));
}

fn a_taken_port_is_named_with_the_way_to_its_owner(binary: &str) {
    let first = Server::start(binary);
    let port = first.address.port().to_string();
    let output = Command::new(binary).args(["--bind", "127.0.0.1", "--port", &port]).output().expect("a built binary");
    assert_eq!(output.status.code(), Some(1));
    let text = stderr(&output);
    assert!(text.contains(&format!("failed to listen on `127.0.0.1:{port}`: Address already in use")), "{text}");
    assert!(text.contains(&format!("hint: who has it: `ss -ltnp 'sport = :{port}'`")), "{text}");
}

fn wrong_options_are_a_usage_error(binary: &str) {
    for arguments in [["--port", "70000"], ["--backlog", "0"], ["--buffer", "0"], ["--bind", "nowhere"], ["--x", "1"]] {
        let output = Command::new(binary).args(arguments).output().expect("a built binary");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    }
}

fn a_soft_limit_of_descriptors_is_raised(binary: &str) {
    let server = Server::start_by(with_descriptors("32:256", binary), &["--bind", "127.0.0.1"]);
    let mut streams: Vec<TcpStream> = (0..100).map(|_| connect(server.address)).collect();
    for stream in &mut streams {
        assert_eq!(exchange(stream, b"all of them at once"), b"all of them at once");
    }
}
