//! Makes and ends connections in every way, so many times each, for tests of what the TCP probes say about them.
//!
//! Prints nothing when all went well.

#![allow(clippy::unwrap_used, reason = "a test program")]

use std::{
    env,
    io::{Read as _, Write as _},
    net::{Ipv4Addr, Ipv6Addr, Shutdown, SocketAddr, TcpListener, TcpStream},
    thread,
    time::Duration,
};

use socket2::{Domain, Protocol, SockRef, Socket, Type};

fn main() {
    let words: Vec<String> = env::args().collect();
    let number = |at: usize| -> u64 { words[at].parse().unwrap() };
    let port = |at: usize| -> u16 { words[at].parse().unwrap() };
    match words[1].as_str() {
        "start" => start(&words[3..], Duration::from_millis(number(2)), false),
        "start-and-send" => start(&words[3..], Duration::from_millis(number(2)), true),
        "blocking" => blocking(local(port(2)), number(3)),
        "alone" => alone(port(2), i32::try_from(number(3)).unwrap(), number(4)),
        "closing" => closing(&words[2], number(3)),
        "outcomes" => outcomes(port(2)),
        "early" => early(port(2), number(3), Duration::from_millis(number(4))),
        "same-tuple" => same_tuple(port(2), number(3)),
        "families" => families(port(2)),
        "mptcp" => mptcp(port(2), number(3)),
        "bytes" => bytes(number(2)),
        other => panic!("no fixture `{other}`"),
    }
}

fn local(port: u16) -> SocketAddr {
    SocketAddr::from((Ipv4Addr::LOCALHOST, port))
}

fn begin(address: SocketAddr) -> Socket {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, None).unwrap();
    socket.set_nonblocking(true).unwrap();
    let _ = socket.connect(&address.into());
    socket
}

/// `PORT=N` each: starts N connections without waiting for them, keeps all for a while.
fn start(words: &[String], keep: Duration, send: bool) {
    let mut all = Vec::new();
    for word in words {
        let (port, times) = word.split_once('=').unwrap();
        let address = local(port.parse().unwrap());
        all.extend((0..times.parse::<u64>().unwrap()).map(|_| begin(address)));
        if send {
            thread::sleep(Duration::from_millis(100));
            for socket in &all {
                let _ = socket.send(b"x");
            }
        }
    }
    thread::sleep(keep);
}

/// One connection after the other, all kept until the end.
fn blocking(address: SocketAddr, times: u64) {
    let _all: Vec<_> = (0..times).map(|_| TcpStream::connect(address).unwrap()).collect();
    thread::sleep(Duration::from_millis(200));
}

/// A listener that overflows, all in this process.
fn alone(port: u16, backlog: i32, times: u64) {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    socket.bind(&local(port).into()).unwrap();
    socket.listen(backlog).unwrap();
    let _all: Vec<_> = (0..times).map(|_| begin(local(port))).collect();
    thread::sleep(Duration::from_millis(200));
}

/// Both ends of a connection.
fn pair(listener: &TcpListener) -> (TcpStream, TcpStream) {
    let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    (client, listener.accept().unwrap().0)
}

fn settle() {
    thread::sleep(Duration::from_millis(15));
}

fn closing(how: &str, times: u64) {
    let listener = TcpListener::bind(local(0)).unwrap();
    let mut kept = Vec::new();
    for _ in 0..times {
        let (client, mut server) = pair(&listener);
        match how {
            "client" => in_order(client, server),
            "server" => in_order(server, client),
            // Neither reads the other's FIN before it has sent its own.
            "both" => {
                client.shutdown(Shutdown::Write).unwrap();
                server.shutdown(Shutdown::Write).unwrap();
            }
            // The other end never closes: FIN_WAIT2 without an owner.
            "orphan" => {
                drop(client);
                kept.push(server);
            }
            "data-after-close" => {
                drop(client);
                settle();
                let _ = server.write_all(b"x");
                settle();
            }
            "linger-0" => {
                SockRef::from(&client).set_linger(Some(Duration::ZERO)).unwrap();
                drop(client);
                settle();
            }
            "unread" => {
                server.write_all(b"never read").unwrap();
                settle();
                drop(client);
                settle();
            }
            other => panic!("no way to close `{other}`"),
        }
    }
    thread::sleep(Duration::from_millis(200));
}

fn in_order(mut first: TcpStream, mut second: TcpStream) {
    first.shutdown(Shutdown::Write).unwrap();
    assert_eq!(second.read(&mut [0]).unwrap(), 0);
    drop(second);
    assert_eq!(first.read(&mut [0]).unwrap(), 0);
}

/// Non-blocking connects: one established, one refused, one that times out at a full listener, one closed before.
fn outcomes(full: u16) {
    let listener = TcpListener::bind(local(0)).unwrap();
    let established = begin(listener.local_addr().unwrap());
    // Nothing listens where something was bound a moment ago.
    let free = TcpListener::bind(local(0)).unwrap().local_addr().unwrap();
    let refused = begin(free);
    let timed_out = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    timed_out.set_nonblocking(true).unwrap();
    SockRef::from(&timed_out).set_tcp_user_timeout(Some(Duration::from_millis(1500))).unwrap();
    let _ = timed_out.connect(&local(full).into());
    drop(begin(local(full)));
    thread::sleep(Duration::from_millis(3200));
    assert!(established.take_error().unwrap().is_none());
    assert!(refused.take_error().unwrap().is_some() && timed_out.take_error().unwrap().is_some());
    // Two sockets cannot have one tuple: nothing is sent.
    let bound = |port: u16| {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        socket.set_reuse_address(true).unwrap();
        socket.bind(&local(port).into()).unwrap();
        socket
    };
    let one = bound(0);
    let other = bound(one.local_addr().unwrap().as_socket().unwrap().port());
    one.connect(&listener.local_addr().unwrap().into()).unwrap();
    assert!(other.connect(&listener.local_addr().unwrap().into()).is_err());
}

/// Connections that are there before the port is; they are closed later, this end first.
fn early(port: u16, times: u64, keep: Duration) {
    let listener = TcpListener::bind(local(0)).unwrap();
    let all: Vec<_> = (0..times).map(|_| pair(&listener)).collect();
    let _ready = TcpListener::bind(local(port)).unwrap();
    thread::sleep(keep);
    for (client, server) in all {
        in_order(client, server);
    }
    thread::sleep(Duration::from_hours(1));
}

/// One connection after the other with the same two addresses and ports.
fn same_tuple(port: u16, times: u64) {
    let listener = TcpListener::bind(local(0)).unwrap();
    for _ in 0..times {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        socket.set_reuse_address(true).unwrap();
        socket.bind(&local(port).into()).unwrap();
        socket.connect(&listener.local_addr().unwrap().into()).unwrap();
        let server = listener.accept().unwrap();
        socket.set_linger(Some(Duration::ZERO)).unwrap();
        drop((socket, server));
    }
}

/// By IPv6, by IPv4, and by IPv4 from a socket for IPv6.
fn families(port: u16) {
    let mapped = Ipv4Addr::LOCALHOST.to_ipv6_mapped();
    for address in [SocketAddr::from((Ipv6Addr::LOCALHOST, port)), local(port), SocketAddr::from((mapped, port))] {
        blocking(address, 2);
    }
}

fn mptcp(port: u16, times: u64) {
    let all = (0..times).map(|_| {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::MPTCP)).unwrap();
        socket.connect(&local(port).into()).unwrap();
        socket
    });
    let _all: Vec<_> = all.collect();
    blocking(local(port), times);
}

/// Sends so many bytes one way and one back, and waits between.
fn bytes(size: u64) {
    let listener = TcpListener::bind(local(0)).unwrap();
    let (mut client, mut server) = pair(&listener);
    thread::sleep(Duration::from_millis(50));
    let sent = vec![7; usize::try_from(size).unwrap()];
    let reader = thread::spawn(move || {
        let mut received = vec![0; usize::try_from(size).unwrap()];
        server.read_exact(&mut received).unwrap();
        server.write_all(b"!").unwrap();
        server
    });
    client.write_all(&sent).unwrap();
    client.read_exact(&mut [0]).unwrap();
    in_order(client, reader.join().unwrap());
}
