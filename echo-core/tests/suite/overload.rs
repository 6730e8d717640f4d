//! More than there is room for: descriptors, connections, a port that is taken.

use std::{
    io::{Read, Write},
    net::TcpStream,
    process::Command,
    sync::{Mutex, PoisonError},
    thread,
    time::Duration,
};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::{
    models::{Model, for_each_model},
    peer::{assert_echo, connect, exchange, reset},
    process::{Server, stderr, with_descriptors},
};

for_each_model![
    as_many_connections_as_it_holds_are_held_and_answered,
    a_taken_port_is_named_with_the_way_to_its_owner,
    wrong_options_are_a_usage_error,
];

mod roomy {
    use super::{a_soft_limit_of_descriptors_is_raised, out_of_descriptors_it_waits_quietly_and_serves_the_rest_later};

    crate::models::for_each_roomy_model![
        a_soft_limit_of_descriptors_is_raised,
        out_of_descriptors_it_waits_quietly_and_serves_the_rest_later,
    ];
}

fn out_of_descriptors_it_waits_quietly_and_serves_the_rest_later(model: Model) {
    // One process or thread with room for all: it is the limit that stops it.
    let server = Server::of_one_worker(model);
    // Once it has answered it has opened whatever it needs for itself.
    assert_echo(server.address);
    server.leave_descriptors(20);
    let mut streams: Vec<TcpStream> = (0..50).map(|_| connect(server.address)).collect();
    for stream in &mut streams {
        stream.write_all(b"please").expect("queued at least");
    }
    let mut reply = [0; 6];
    for stream in &mut streams[..20] {
        stream.read_exact(&mut reply).expect("there was room for it");
    }
    if !model.options.contains(&"--keep-epollout") {
        let ticks = server.cpu_ticks();
        thread::sleep(Duration::from_millis(300));
        assert!(server.cpu_ticks() - ticks < 10, "busy while out of descriptors");
    }
    // Each place that becomes free is given to one that waits.
    while !streams.is_empty() {
        let mut first = streams.remove(0);
        if streams.len() < 30 {
            first.read_exact(&mut reply).expect("served after others closed");
            assert_eq!(&reply, b"please");
        }
    }
    assert_eq!(server.stop().connections, 51);
}

fn as_many_connections_as_it_holds_are_held_and_answered(model: Model) {
    // The tests of one process share its descriptors: one of these at a time.
    static DESCRIPTORS: Mutex<()> = Mutex::new(());
    let _all = DESCRIPTORS.lock().unwrap_or_else(PoisonError::into_inner);
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum })
        .expect("up to the hard limit");
    let connections =
        limit.maximum.map_or(model.holds, |most| u16::try_from(most / 2).unwrap_or(u16::MAX)).min(model.holds);
    let server = Server::of(model);
    let mut streams: Vec<TcpStream> = (0..connections).map(|_| connect(server.address)).collect();
    for (number, stream) in (0..connections).zip(&mut streams) {
        stream.write_all(&number.to_le_bytes()).expect("the server reads");
    }
    for (number, stream) in (0..connections).zip(&mut streams) {
        let mut reply = [0; 2];
        stream.read_exact(&mut reply).expect("the server answers");
        assert_eq!(reply, number.to_le_bytes());
    }
    // Without leaving thousands of them in TIME_WAIT.
    streams.into_iter().for_each(reset);
    let (totals, connections) = (server.stop(), u64::from(connections));
    assert_eq!((totals.connections, totals.requests, totals.bytes), (connections, connections, 2 * connections));
}

fn a_taken_port_is_named_with_the_way_to_its_owner(model: Model) {
    let first = Server::of(model);
    let port = first.address.port().to_string();
    let output =
        Command::new(model.binary).args(["--bind", "127.0.0.1", "--port", &port]).output().expect("a built binary");
    assert_eq!(output.status.code(), Some(1));
    let text = stderr(&output);
    assert!(text.contains(&format!("failed to listen on `127.0.0.1:{port}`: Address already in use")), "{text}");
    assert!(text.contains(&format!("hint: who has it: `ss -ltnp 'sport = :{port}'`")), "{text}");
}

fn wrong_options_are_a_usage_error(model: Model) {
    let wrong = [
        ["--port", "70000"],
        ["--backlog", "0"],
        ["--buffer", "0"],
        ["--bind", "nowhere"],
        ["--nodelay", "perhaps"],
        ["--stall-accept", "-1"],
        ["--max-connections", "0"],
        ["--x", "1"],
    ];
    for arguments in wrong {
        let output = Command::new(model.binary).args(arguments).output().expect("a built binary");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    }
}

fn a_soft_limit_of_descriptors_is_raised(model: Model) {
    let options = [&["--bind", "127.0.0.1"], model.options].concat();
    let server = Server::start_by(with_descriptors("32:256", model.binary), &options);
    let mut streams: Vec<TcpStream> = (0..100).map(|_| connect(server.address)).collect();
    for stream in &mut streams {
        assert_eq!(exchange(stream, b"all of them at once"), b"all of them at once");
    }
}
