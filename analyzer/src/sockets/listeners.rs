//! Listening TCP sockets of a network namespace, by `sock_diag`: queue, limit and drops of each.
//!
//! Asks for listeners only (about 0.2 ms): a dump of all states walks every connection's hash chain.

use std::net::SocketAddr;

use anyhow::{Context as _, Result};
use netlink_packet_core::{NLM_F_DUMP, NLM_F_REQUEST, NetlinkHeader, NetlinkMessage, NetlinkPayload};
use netlink_packet_sock_diag::{
    SockDiagMessage,
    constants::{AF_INET, AF_INET6, IPPROTO_TCP},
    inet::{ExtensionFlags, InetRequest, InetResponse, SocketId, StateFlags, nlas::Nla},
};
use netlink_sys::{Socket, SocketAddr as NetlinkAddr, protocols::NETLINK_SOCK_DIAG};

use crate::advice::Advise as _;

/// One listening socket at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Listener {
    pub(crate) address: SocketAddr,
    /// Network device that it is bound to, 0 for any.
    pub(crate) interface: u32,
    /// Names the socket for as long as it lives, unlike its address (`ss -e` shows it as `sk:`).
    pub(crate) cookie: u64,
    pub(crate) inode: u32,
    /// Connections that wait for accept.
    pub(crate) queue: u32,
    /// Backlog in force: a listener holds one more than this.
    pub(crate) limit: u32,
    /// Connection attempts dropped since the socket was made (the kernel's `sk_drops`).
    pub(crate) drops: u32,
}

/// A netlink socket to ask with, kept open between questions. It asks the namespace in which it was opened.
pub(crate) struct ListenerQuery {
    socket: Socket,
}

impl ListenerQuery {
    /// Opens the socket.
    ///
    /// # Errors
    /// When the kernel has no `sock_diag`.
    pub(crate) fn open() -> Result<Self> {
        let mut socket = Socket::new(NETLINK_SOCK_DIAG).context("failed to open a sock_diag netlink socket")?;
        socket.bind_auto()?;
        socket.connect(&NetlinkAddr::new(0, 0))?;
        Ok(Self { socket })
    }

    /// All listening TCP sockets now, IPv4 and IPv6.
    ///
    /// # Errors
    /// When the kernel refuses to answer.
    pub(crate) fn listeners(&self) -> Result<Vec<Listener>> {
        let mut found = Vec::new();
        for (family, id) in [(AF_INET, SocketId::new_v4()), (AF_INET6, SocketId::new_v6())] {
            self.ask(InetRequest {
                family,
                protocol: IPPROTO_TCP,
                extensions: ExtensionFlags::SKMEMINFO,
                states: StateFlags::LISTEN,
                socket_id: id,
            })?;
            self.answers(&mut found)?;
        }
        Ok(found)
    }

    fn ask(&self, request: InetRequest) -> Result<()> {
        let mut header = NetlinkHeader::default();
        header.flags = NLM_F_REQUEST | NLM_F_DUMP;
        let mut message = NetlinkMessage::new(header, SockDiagMessage::InetRequest(request).into());
        message.finalize();
        let mut bytes = vec![0; message.buffer_len()];
        message.serialize(&mut bytes);
        self.socket.send(&bytes, 0).context("failed to ask sock_diag")?;
        Ok(())
    }

    fn answers(&self, found: &mut Vec<Listener>) -> Result<()> {
        loop {
            let (datagram, _) = self.socket.recv_from_full().context("failed to read from sock_diag")?;
            let mut rest = datagram.as_slice();
            while !rest.is_empty() {
                let message =
                    NetlinkMessage::<SockDiagMessage>::deserialize(rest).context("failed to parse sock_diag")?;
                let length = (message.header.length as usize).next_multiple_of(4).clamp(16, rest.len().max(16));
                rest = rest.get(length..).unwrap_or_default();
                match message.payload {
                    NetlinkPayload::InnerMessage(SockDiagMessage::InetResponse(response)) => {
                        found.push(listener(&response));
                    }
                    NetlinkPayload::Done(_) => return Ok(()),
                    // ENOENT: what answers for TCP is a module that could not be loaded on demand.
                    NetlinkPayload::Error(error) => {
                        return Err(error.to_io())
                            .context("sock_diag does not list TCP sockets")
                            .hint("modprobe tcp_diag");
                    }
                    _ => {}
                }
            }
        }
    }
}

fn listener(response: &InetResponse) -> Listener {
    let id = &response.header.socket_id;
    let drops = response.nlas.iter().find_map(|attribute| match attribute {
        Nla::MemInfo(memory) => Some(memory.drops),
        _ => None,
    });
    Listener {
        address: SocketAddr::new(id.source_address, id.source_port),
        interface: id.interface_id,
        cookie: u64::from_ne_bytes(id.cookie),
        inode: response.header.inode,
        queue: response.header.recv_queue,
        limit: response.header.send_queue,
        drops: drops.unwrap_or(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn a_listener_is_found_with_the_connections_that_wait_in_its_queue() {
        let socket = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = socket.local_addr().expect("bound");
        let _waiting: Vec<_> = (0..3).map(|_| TcpStream::connect(address).expect("connected")).collect();
        let query = ListenerQuery::open().expect("sock_diag");
        let mine = query.listeners().expect("answered").into_iter().find(|listener| listener.address == address);
        let mine = mine.expect("found");
        assert_eq!((mine.queue, mine.drops), (3, 0));
        assert!(mine.limit >= 128, "{mine:?}");
    }
}
