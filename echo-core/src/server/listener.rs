//! The listening socket: set-up, and one accept at a time with its errors sorted. Does not decide when to accept.

use std::{
    io,
    net::SocketAddr,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
    net::{self, AddressFamily, SocketFlags, SocketType, sockopt},
};

use super::options::ServerOptions;
use crate::Error;

/// Whether its calls wait, and those on the connections that it gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blocking {
    /// They wait.
    Yes,
    /// They say EAGAIN.
    No,
}

/// A listening socket.
#[derive(Debug)]
pub struct Listener {
    socket: OwnedFd,
    address: SocketAddr,
    /// For the connections that it gives.
    flags: SocketFlags,
}

/// What one attempt to accept gave.
#[derive(Debug)]
pub enum Accepted {
    /// A connection, close-on-exec.
    Connection(OwnedFd),
    /// The accept queue is empty.
    Empty,
    /// The peer gave up while it was queued; others may still wait.
    Gone,
    /// The process or the system is out of descriptors or memory; the connection stays queued.
    Exhausted,
}

impl Listener {
    /// Listens where `options` say; port 0 takes any that is free.
    ///
    /// # Errors
    /// [`Error::Listen`] when the address cannot be had.
    pub fn open(options: &ServerOptions, blocking: Blocking) -> Result<Self, Error> {
        let address = options.address();
        Self::bind(address, options.nodelay, blocking, false)
            .and_then(|listener| listener.listen(options.backlog))
            .map_err(|source| Error::Listen { address, source })
    }

    /// Opens `members` listeners that share one port (SO_REUSEPORT), each with an accept queue of its own.
    ///
    /// # Errors
    /// [`Error::Listen`] when the address cannot be had, also when another group has it.
    pub fn open_group(options: &ServerOptions, blocking: Blocking, members: usize) -> Result<Vec<Self>, Error> {
        let mut address = options.address();
        let mut group = Vec::with_capacity(members);
        for _ in 0..members {
            let member = Self::bind(address, options.nodelay, blocking, !group.is_empty())
                .map_err(|source| Error::Listen { address, source })?;
            // Only after the first bind: that one fails if anybody, even a group of the same user, has the port.
            sockopt::set_socket_reuseport(&member, true).map_err(Error::system("share the port"))?;
            address = member.address;
            group.push(member);
        }
        let listen = |member: Self| member.listen(options.backlog).map_err(|source| Error::Listen { address, source });
        group.into_iter().map(listen).collect()
    }

    fn bind(address: SocketAddr, nodelay: bool, blocking: Blocking, share: bool) -> io::Result<Self> {
        let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
        let socket = net::socket_with(family, SocketType::STREAM, flags(blocking), None)?;
        sockopt::set_socket_reuseaddr(&socket, true)?;
        sockopt::set_socket_reuseport(&socket, share)?;
        // Accepted sockets inherit it (v6.18 tcp_create_openreq_child clones the listener), which saves a call for each.
        sockopt::set_tcp_nodelay(&socket, nodelay)?;
        net::bind(&socket, &address)?;
        Self::of_socket(socket, blocking)
    }

    fn listen(self, backlog: i32) -> io::Result<Self> {
        net::listen(&self.socket, backlog)?;
        Ok(self)
    }

    /// Takes over a socket that listens already, such as one from another process.
    ///
    /// # Errors
    /// When it is no socket of the internet.
    pub fn of_socket(socket: OwnedFd, blocking: Blocking) -> io::Result<Self> {
        let address = net::getsockname(&socket)?.try_into()?;
        Ok(Self { socket, address, flags: flags(blocking) })
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
        match net::accept_with(&self.socket, self.flags) {
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

    /// Whether a connection waits in the accept queue at this moment.
    pub(super) fn has_queued(&self) -> bool {
        poll(&mut [PollFd::new(self, PollFlags::IN)], Some(&Timespec::default())).is_ok_and(|ready| ready > 0)
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

fn flags(blocking: Blocking) -> SocketFlags {
    match blocking {
        Blocking::Yes => SocketFlags::CLOEXEC,
        Blocking::No => SocketFlags::CLOEXEC | SocketFlags::NONBLOCK,
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpStream;

    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Arguments {
        #[command(flatten)]
        server: ServerOptions,
    }

    fn options(port: &str, arguments: &[&str]) -> ServerOptions {
        let first = ["test", "--bind", "127.0.0.1", "--port", port];
        Arguments::try_parse_from(first.iter().chain(arguments)).expect("options of a server").server
    }

    #[test]
    fn accepted_connections_inherit_nodelay_from_the_listener() {
        for (arguments, expected) in [(&[][..], true), (&["--nodelay"], true), (&["--nodelay", "off"], false)] {
            let listener = Listener::open(&options("0", arguments), Blocking::Yes).expect("a free port");
            let _client = TcpStream::connect(listener.address()).expect("listening");
            let Ok(Accepted::Connection(socket)) = listener.accept() else { panic!("the connection is there") };
            assert_eq!(sockopt::tcp_nodelay(&socket), Ok(expected));
        }
    }

    #[test]
    fn a_group_shares_its_port_with_nobody_else() {
        let group = Listener::open_group(&options("0", &[]), Blocking::No, 3).expect("a free port");
        assert!(group.iter().all(|member| member.address() == group[0].address()));
        let port = group[0].address().port().to_string();
        for members in [1, 2] {
            let other = Listener::open_group(&options(&port, &[]), Blocking::No, members);
            assert!(matches!(other, Err(Error::Listen { .. })), "{other:?}");
        }
    }
}
