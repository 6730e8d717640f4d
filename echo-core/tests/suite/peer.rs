//! Peers written without the code under test: clients of the servers, and servers that treat `bench` badly.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    thread,
    time::Duration,
};

use rustix::net::sockopt::set_socket_linger;

/// Long enough for a busy machine, short enough for a test that hangs.
const PATIENCE: Duration = Duration::from_secs(10);

pub(crate) fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).expect("the server listens");
    stream.set_read_timeout(Some(PATIENCE)).expect("a socket");
    stream.set_write_timeout(Some(PATIENCE)).expect("a socket");
    stream.set_nodelay(true).expect("a socket");
    stream
}

/// Sends `bytes` and reads as many back.
pub(crate) fn exchange(stream: &mut TcpStream, bytes: &[u8]) -> Vec<u8> {
    stream.write_all(bytes).expect("the server reads");
    let mut reply = vec![0; bytes.len()];
    stream.read_exact(&mut reply).expect("the server answers");
    reply
}

/// Takes 64 bytes and sends them back.
pub(crate) fn exchange_back(stream: &mut TcpStream) {
    let mut bytes = [0; 64];
    stream.read_exact(&mut bytes).expect("bench sends 64 bytes");
    stream.write_all(&bytes).expect("bench reads");
}

pub(crate) fn assert_echo(address: SocketAddr) {
    assert_eq!(exchange(&mut connect(address), b"still there?"), b"still there?");
}

/// Closes by RST instead of FIN.
pub(crate) fn reset(stream: TcpStream) {
    set_socket_linger(&stream, Some(Duration::ZERO)).expect("a socket");
    drop(stream);
}

/// Pseudo-random numbers, the same in every run.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// One of 1..=most.
    pub(crate) fn up_to(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).expect("64 bits") % most + 1
    }

    pub(crate) fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| u8::try_from(self.up_to(256) - 1).expect("below 256")).collect()
    }
}

/// A server that does `behave` with each connection, until the test's process ends.
pub(crate) fn misbehaving(behave: impl Fn(TcpStream) + Clone + Send + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("a bound socket");
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let behave = behave.clone();
            thread::spawn(move || behave(stream));
        }
    });
    address
}

/// An address where nobody listens.
pub(crate) fn nobody() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a free port")
}
