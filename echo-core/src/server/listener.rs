//! The listening socket: set-up, and one accept at a time with its errors sorted. Does not decide when to accept.

use std::{
    io,
    net::SocketAddr,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
};

use rustix::{
    io::Errno,
    net::{self, AddressFamily, SocketFlags, SocketType, sockopt},
};

use crate::Error;

/// A non-blocking listening socket whose connections have `TCP_NODELAY` on.
#[derive(Debug)]
pub struct Listener {
    socket: OwnedFd,
    address: SocketAddr,
}

/// What one attempt to accept gave.
#[derive(Debug)]
pub enum Accepted {
    /// A connection, non-blocking and close-on-exec.
    Connection(OwnedFd),
    /// The accept queue is empty.
    Empty,
    /// The peer gave up while it was queued; others may still wait.
    Gone,
    /// The process or the system is out of descriptors or memory; the connection stays queued.
    Exhausted,
}

impl Listener {
    /// Listens on `address`; port 0 takes any that is free.
    ///
    /// # Errors
    /// [`Error::Listen`] when the address cannot be had.
    pub fn open(address: SocketAddr, backlog: i32) -> Result<Self, Error> {
        Self::try_open(address, backlog).map_err(|source| Error::Listen { address, source })
    }

    fn try_open(address: SocketAddr, backlog: i32) -> io::Result<Self> {
        let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        let socket = net::socket_with(family, SocketType::STREAM, flags, None)?;
        sockopt::set_socket_reuseaddr(&socket, true)?;
        // Accepted sockets inherit it (v6.18 tcp_create_openreq_child clones the listener), which saves a call for each.
        sockopt::set_tcp_nodelay(&socket, true)?;
        net::bind(&socket, &address)?;
        net::listen(&socket, backlog)?;
        let address = net::getsockname(&socket)?.try_into()?;
        Ok(Self { socket, address })
    }

    /// The address that was bound, with the port that was given.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Takes one connection off the accept queue.
    ///
    /// # Errors
    /// Only for what can never pass, such as a descriptor that does not listen.
    pub fn accept(&self) -> Result<Accepted, Error> {
        match net::accept_with(&self.socket, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC) {
            Ok(socket) => Ok(Accepted::Connection(socket)),
            Err(Errno::AGAIN) => Ok(Accepted::Empty),
            Err(Errno::MFILE | Errno::NFILE | Errno::NOBUFS | Errno::NOMEM) => Ok(Accepted::Exhausted),
            Err(errno @ (Errno::BADF | Errno::INVAL | Errno::NOTSOCK | Errno::OPNOTSUPP | Errno::FAULT)) => {
                Err(Error::system("accept a connection")(errno))
            }
            // ECONNABORTED, and the network errors that accept(2) passes on from the new socket.
            Err(_) => Ok(Accepted::Gone),
        }
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use std::{net::TcpStream, thread, time::Duration};

    use super::*;

    #[test]
    fn accepted_connections_inherit_nodelay_from_the_listener() {
        let listener = Listener::open("127.0.0.1:0".parse().expect("an address"), 16).expect("a free port");
        let _client = TcpStream::connect(listener.address()).expect("listening");
        for _ in 0..1_000 {
            if let Accepted::Connection(socket) = listener.accept().expect("a listener") {
                assert!(sockopt::tcp_nodelay(&socket).expect("a TCP socket"));
                return;
            }
            thread::sleep(Duration::from_millis(1));
        }
        panic!("the connection was never seen");
    }
}
