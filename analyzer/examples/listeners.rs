//! Listens in odd ways and accepts late or never, for tests of what the TCP probes say about listeners.
//!
//! The port is ready when everything before it is. Prints nothing when all went well.

#![allow(clippy::unwrap_used, reason = "a test program")]

use std::{
    env,
    net::{Ipv4Addr, Ipv6Addr, SocketAddr},
    os::fd::AsRawFd as _,
    thread,
    time::Duration,
};

use socket2::{Domain, Protocol, Socket, Type};

fn main() {
    let words: Vec<String> = env::args().collect();
    let number = |at: usize| -> i32 { words[at].parse().unwrap() };
    let port = |at: usize| -> u16 { words[at].parse().unwrap() };
    match words[1].as_str() {
        "stalled" => stalled(&words[2..], false),
        "deferred" => stalled(&words[2..], true),
        "late" => late(port(2), number(3), u64::try_from(number(4)).unwrap()),
        "relisten" => relisten(port(2), number(3), number(4)),
        "reuseport" => reuseport(port(2), number(3)),
        "dual" => accepting(listener(SocketAddr::from((Ipv6Addr::UNSPECIFIED, port(2))), 128, None, false)),
        "stalled-on" => {
            let _stalled = listener(SocketAddr::new(words[2].parse().unwrap(), port(3)), number(4), None, false);
            forever();
        }
        "flood" => flood(words[2].parse().unwrap(), port(3), u16::try_from(number(4)).unwrap()),
        "mptcp" => {
            accepting(listener(SocketAddr::from((Ipv4Addr::LOCALHOST, port(2))), 128, Some(Protocol::MPTCP), false));
        }
        other => panic!("no fixture `{other}`"),
    }
}

fn listener(address: SocketAddr, backlog: i32, protocol: Option<Protocol>, reuseport: bool) -> Socket {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, protocol).unwrap();
    if reuseport {
        socket.set_reuse_port(true).unwrap();
    }
    if address.is_ipv6() {
        socket.set_only_v6(false).unwrap();
    }
    socket.bind(&address.into()).unwrap();
    socket.listen(backlog).unwrap();
    socket
}

fn local(port: u16) -> SocketAddr {
    SocketAddr::from((Ipv4Addr::LOCALHOST, port))
}

/// `PORT=BACKLOG` each, in order; never accepts.
fn stalled(words: &[String], deferred: bool) {
    let listen = |word: &String| {
        let (port, backlog) = word.split_once('=').unwrap();
        let socket = listener(local(port.parse().unwrap()), backlog.parse().unwrap(), None, false);
        if deferred {
            let seconds: libc::c_int = 30;
            // SAFETY: the kernel reads four bytes of `seconds`.
            let result = unsafe {
                libc::setsockopt(
                    socket.as_raw_fd(),
                    libc::IPPROTO_TCP,
                    libc::TCP_DEFER_ACCEPT,
                    (&raw const seconds).cast(),
                    4,
                )
            };
            assert_eq!(result, 0);
        }
        socket
    };
    let _all: Vec<Socket> = words.iter().map(listen).collect();
    forever();
}

fn forever() -> ! {
    loop {
        thread::sleep(Duration::from_hours(1));
    }
}

/// Accepts and keeps everything.
fn accepting(socket: Socket) {
    let mut all = Vec::new();
    loop {
        all.push(socket.accept().unwrap());
    }
}

/// Accepts nothing for a while, counted from the first connection, then everything.
fn late(port: u16, backlog: i32, wait_ms: u64) {
    let socket = listener(local(port), backlog, None, false);
    wait_readable(&socket);
    thread::sleep(Duration::from_millis(wait_ms));
    accepting(socket);
}

fn wait_readable(socket: &Socket) {
    let mut poll = libc::pollfd { fd: socket.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    // SAFETY: one entry, which lives as long as the call.
    assert_eq!(unsafe { libc::poll(&raw mut poll, 1, -1) }, 1);
}

/// Changes its backlog 300 ms after the first connection; never accepts.
fn relisten(port: u16, backlog: i32, then: i32) {
    let socket = listener(local(port), backlog, None, false);
    wait_readable(&socket);
    thread::sleep(Duration::from_millis(300));
    socket.listen(then).unwrap();
    forever();
}

/// As many listeners on one port; the first never accepts.
fn reuseport(port: u16, members: i32) {
    let _stopped = listener(local(port), 128, None, true);
    let others: Vec<_> = (1..members).map(|_| listener(local(port), 128, None, true)).collect();
    for socket in others {
        thread::spawn(move || accepting(socket));
    }
    forever();
}

/// Sends SYNs from addresses of the same network that nobody has, each from a port of its own, and waits for what comes
/// of them.
fn flood(to: Ipv4Addr, port: u16, times: u16) {
    let socket = Socket::new(Domain::IPV4, Type::RAW, Some(Protocol::from(libc::IPPROTO_RAW))).unwrap();
    let target = SocketAddr::from((to, 0)).into();
    for number in 0..times {
        let [a, b, c, _] = to.octets();
        let from = Ipv4Addr::new(a, b, c, u8::try_from(100 + number % 100).unwrap());
        socket.send_to(&syn(from, to, 20_000 + number, port), &target).unwrap();
    }
    thread::sleep(Duration::from_millis(1500));
}

/// An IPv4 packet with a SYN and no data. The kernel fills in the IP checksum and length.
fn syn(from: Ipv4Addr, to: Ipv4Addr, source: u16, port: u16) -> Vec<u8> {
    let mut tcp = [source.to_be_bytes(), port.to_be_bytes()].concat();
    // Sequence 1, no acknowledgement, five words of header, SYN, a window.
    tcp.extend([0, 0, 0, 1, 0, 0, 0, 0, 5 << 4, 2, 0xfa, 0xf0, 0, 0, 0, 0]);
    let pseudo = [&from.octets()[..], &to.octets(), &[0, 6, 0, 20]].concat();
    let sum = checksum(&[&pseudo[..], &tcp].concat());
    tcp[16..18].copy_from_slice(&sum.to_be_bytes());
    let mut packet = vec![0x45, 0, 0, 40, 0, 0, 0, 0, 64, 6, 0, 0];
    packet.extend(from.octets());
    packet.extend(to.octets());
    packet.extend(tcp);
    packet
}

/// The Internet checksum (RFC 1071) of an even number of bytes.
fn checksum(bytes: &[u8]) -> u16 {
    let mut sum: u32 = bytes.chunks_exact(2).map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]]))).sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !u16::try_from(sum).unwrap()
}
