//! Every byte comes back, whatever its peer does.

use std::{
    io::{Read, Write},
    net::Shutdown,
    thread,
    time::Duration,
};

use rustix::net::{SendFlags, send};

use crate::{
    models::{Model, for_each_model},
    peer::{Random, assert_echo, connect, exchange, reset},
    process::Server,
};

for_each_model![
    bytes_of_any_size_in_any_split_come_back_in_order,
    data_and_end_in_one_segment_are_both_honoured,
    what_is_pending_at_half_close_is_sent_before_the_end,
    a_reset_in_any_state_hurts_nobody_else,
    answering_a_peer_that_has_gone_is_no_sigpipe,
    a_slow_reader_gets_all_and_costs_no_memory,
    many_clients_at_once_get_their_own_bytes,
    a_buffer_of_one_byte_echoes_as_well_as_any,
];

fn bytes_of_any_size_in_any_split_come_back_in_order(model: Model) {
    let server = Server::of(model);
    let mut random = Random::new(1);
    let mut sizes = vec![1, 2, 63, 4095, 4096, 4097, 8192, 65_535, 65_536, 1 << 20];
    sizes.extend((0..6).map(|_| random.up_to(1 << 20)));
    let sum: usize = sizes.iter().sum();
    let mut stream = connect(server.address);
    for size in sizes {
        let sent = random.bytes(size);
        let mut writer = stream.try_clone().expect("a socket");
        let mut received = vec![0; size];
        thread::scope(|scope| {
            scope.spawn(|| {
                let mut random = Random::new(size as u64);
                let mut rest = sent.as_slice();
                while !rest.is_empty() {
                    let (now, later) = rest.split_at(random.up_to(rest.len().min(50_000)));
                    writer.write_all(now).expect("the server reads");
                    rest = later;
                }
            });
            stream.read_exact(&mut received).expect("the server answers");
        });
        assert!(received == sent, "{size} bytes came back changed");
    }
    drop(stream);
    assert_eq!(server.stop().bytes, sum as u64);
}

fn data_and_end_in_one_segment_are_both_honoured(model: Model) {
    let server = Server::of(model);
    for size in [1, 4096, 20_000] {
        let mut stream = connect(server.address);
        let sent = Random::new(2).bytes(size);
        // MORE keeps the bytes back until the FIN is there to go with them.
        assert_eq!(send(&stream, &sent, SendFlags::MORE), Ok(size));
        stream.shutdown(Shutdown::Write).expect("connected");
        let mut received = Vec::new();
        stream.read_to_end(&mut received).expect("an answer and its end");
        assert!(received == sent, "{size} bytes came back as {}", received.len());
    }
}

fn what_is_pending_at_half_close_is_sent_before_the_end(model: Model) {
    let server = Server::of(model);
    let sent = Random::new(3).bytes(6 << 20);
    let mut stream = connect(server.address);
    let mut writer = stream.try_clone().expect("a socket");
    let mut received = Vec::new();
    thread::scope(|scope| {
        scope.spawn(|| {
            writer.write_all(&sent).expect("the server reads");
            writer.shutdown(Shutdown::Write).expect("connected");
        });
        // Both directions are full by now, and the end is behind them.
        thread::sleep(Duration::from_millis(100));
        stream.read_to_end(&mut received).expect("an answer and its end");
    });
    assert!(received == sent, "{} of {} bytes came back", received.len(), sent.len());
}

fn a_reset_in_any_state_hurts_nobody_else(model: Model) {
    let server = Server::of(model);
    let mut witness = connect(server.address);
    let many = vec![7; 100_000];
    for round in 0..10 {
        reset(connect(server.address));
        let mut answered = connect(server.address);
        exchange(&mut answered, b"answered and reset");
        reset(answered);
        let mut unread = connect(server.address);
        unread.write_all(&[7; 10_000]).expect("the server reads");
        reset(unread);
        let full = connect(server.address);
        full.set_nonblocking(true).expect("a socket");
        while (&full).write(&many).is_ok() {}
        reset(full);
        let ended = connect(server.address);
        ended.shutdown(Shutdown::Write).expect("connected");
        reset(ended);
        assert_eq!(exchange(&mut witness, &[round; 100]), [round; 100]);
    }
    drop(witness);
    assert_echo(server.address);
    assert_eq!(server.stop().connections, 52);
}

fn answering_a_peer_that_has_gone_is_no_sigpipe(model: Model) {
    let server = Server::of(model);
    let many = vec![7; 40_000];
    for _ in 0..50 {
        let mut stream = connect(server.address);
        // More than one receive takes, so that answers follow the one that draws the RST.
        stream.write_all(&many).expect("the server reads");
        drop(stream);
    }
    assert_echo(server.address);
    assert_eq!(server.stop().connections, 51);
}

fn a_slow_reader_gets_all_and_costs_no_memory(model: Model) {
    let server = Server::of(model);
    // Whatever it takes to serve is in use before: buffers that the kernel picks from are touched one after the other.
    let many = vec![7; 100_000];
    for _ in 0..3 {
        let mut warm = connect(server.address);
        for _ in 0..24 {
            exchange(&mut warm, &many);
        }
    }
    let before_bytes = server.peak_memory_bytes();
    let sent = Random::new(4).bytes(8 << 20);
    let mut stream = connect(server.address);
    let mut writer = stream.try_clone().expect("a socket");
    let mut received = vec![0; sent.len()];
    thread::scope(|scope| {
        scope.spawn(|| writer.write_all(&sent).expect("the server reads"));
        thread::sleep(Duration::from_millis(200));
        let ticks = server.cpu_ticks();
        thread::sleep(Duration::from_millis(200));
        assert!(server.cpu_ticks() - ticks < 10, "busy while its peer does not read");
        stream.read_exact(&mut received).expect("the server answers");
    });
    assert!(received == sent, "8 MiB came back changed");
    let grown_bytes = server.peak_memory_bytes() - before_bytes;
    assert!(grown_bytes < 1 << 20, "grew by {grown_bytes} bytes");
}

fn many_clients_at_once_get_their_own_bytes(model: Model) {
    let server = Server::of(model);
    thread::scope(|scope| {
        for client in 0..8u64 {
            let address = server.address;
            scope.spawn(move || {
                let mut random = Random::new(100 + client);
                let mut stream = connect(address);
                for _ in 0..50 {
                    let size = random.up_to(9_000);
                    let sent = random.bytes(size);
                    assert!(exchange(&mut stream, &sent) == sent, "client {client} got something else");
                }
            });
        }
    });
    assert_eq!(server.stop().connections, 8);
}

fn a_buffer_of_one_byte_echoes_as_well_as_any(model: Model) {
    // More receives than an edge-triggered server makes in one visit.
    let server = Server::of_with(model, &["--buffer", "1"]);
    let sent = Random::new(5).bytes(2_000);
    let mut stream = connect(server.address);
    for _ in 0..3 {
        assert!(exchange(&mut stream, &sent) == sent, "2,000 bytes came back changed");
    }
    assert_eq!(server.stop().requests, 6_000);
}
