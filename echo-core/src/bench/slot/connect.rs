//! How a slot's connection begins and ends.

use std::net::SocketAddrV4;

use nix::sys::socket::{setsockopt, sockopt::IpBindAddressNoPort};
use reports::bench::{Close, Mode};
use rustix::{
    event::epoll::{self, EventData, EventFlags},
    io::Errno,
    net::{self, AddressFamily, RecvFlags, Shutdown, SocketFlags, SocketType, sockopt},
};

use super::{Phase, Slot, Step, Watch};
use crate::bench::{clock::now_ns, failure::Failure, job::Gear};

/// Nagle's algorithm holds back what follows a first unacknowledged segment. A payload that fits in any path's segment
/// has nothing that follows, and is spared the call.
const ONE_SEGMENT_BYTES: usize = 512;

impl Slot {
    pub(super) fn connect(&mut self, gear: &mut Gear) -> Result<Step, Failure> {
        let server = gear.job.server;
        let family = if server.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        let socket = net::socket_with(family, SocketType::STREAM, flags, None)?;
        if gear.job.largest_payload_bytes > ONE_SEGMENT_BYTES {
            sockopt::set_tcp_nodelay(&socket, true)?;
        }
        if gear.job.linger0 {
            sockopt::set_socket_linger(&socket, Some(std::time::Duration::ZERO))?;
        }
        if let Some(&source) = gear.job.sources.get(self.connects as usize % gear.job.sources.len().max(1)) {
            // The port is chosen by connect(), which may give the same one for another source.
            setsockopt(&socket, IpBindAddressNoPort, &true).map_err(|errno| Errno::from_raw_os_error(errno as i32))?;
            net::bind(&socket, &SocketAddrV4::new(source, 0))?;
        }
        self.connects = self.connects.wrapping_add(1);
        self.start_clock();
        match net::connect(&socket, &server) {
            Ok(()) | Err(Errno::INPROGRESS) => {}
            Err(errno) => return Err(errno.into()),
        }
        self.phase = Phase::Connecting;
        let socket = self.socket.insert(socket);
        let on_loopback = server.ip().is_loopback();
        if gear.job.mode == Mode::Connect {
            // Over loopback the handshake is mostly over when connect() returns.
            if on_loopback && net::getpeername(&*socket).is_ok() {
                return Ok(self.connected_only(gear));
            }
        } else if on_loopback {
            // Sending at once saves a wake-up, and the connect time is the kernel's, without the wait in our own queue of
            // events.
            self.send(gear)?;
            let all_sent = self.all_sent();
            // Without an unsent rest, watching for room would be one wake-up for nothing.
            self.register(if all_sent { Watch::Input } else { Watch::Room }, gear)?;
            return Ok(Step::Waits);
        }
        self.register(Watch::Room, gear)?;
        Ok(Step::Waits)
    }

    fn register(&mut self, watch: Watch, gear: &Gear) -> Result<(), Failure> {
        let Some(socket) = &self.socket else { return Ok(()) };
        self.watch = watch;
        Ok(epoll::add(&gear.epoll, socket, EventData::new_u64(self.token), flags_of(watch))?)
    }

    pub(super) fn watch_for_room(&mut self, gear: &Gear) -> Result<(), Failure> {
        let Some(socket) = &self.socket else { return Ok(()) };
        if self.watch == Watch::Room || self.all_sent() {
            return Ok(());
        }
        self.watch = Watch::Room;
        Ok(epoll::modify(&gear.epoll, socket, EventData::new_u64(self.token), flags_of(self.watch))?)
    }

    /// In mode `connect`: what the event on a connecting socket means.
    pub(super) fn check_connected(&mut self, gear: &mut Gear) -> Result<Step, Failure> {
        let Some(socket) = &self.socket else { return Ok(Step::Waits) };
        sockopt::socket_error(socket)??;
        match net::getpeername(socket) {
            Ok(_) => Ok(self.connected_only(gear)),
            Err(Errno::NOTCONN) => Ok(Step::Waits),
            Err(errno) => Err(errno.into()),
        }
    }

    fn connected_only(&mut self, gear: &mut Gear) -> Step {
        let at_ns = now_ns();
        self.connected(at_ns, gear);
        self.answer(at_ns)
    }

    pub(super) fn connected(&mut self, at_ns: u64, gear: &mut Gear) {
        if gear.tally.connected == 0 {
            gear.job.somebody_listens();
        }
        gear.tally.connected += 1;
        gear.tally.connect.record(at_ns - self.started_ns);
        if self.replaces_failed {
            self.replaces_failed = false;
            gear.tally.reconnects += u64::from(matches!(gear.job.mode, Mode::Long | Mode::Reconnect));
        }
    }

    /// Ends a connection that has done its requests in the way that was asked for; [`Step::Waits`] when the server's FIN
    /// has yet to come.
    pub(in crate::bench) fn finish(&mut self, gear: &mut Gear) -> Step {
        let Some(socket) = &self.socket else { return Step::Closed };
        match gear.job.close {
            Close::Client => {
                self.close();
                return Step::Closed;
            }
            // A peer that has reset the connection leaves nothing to shut down: await_close finds that out.
            Close::Half => drop(net::shutdown(socket, Shutdown::Write)),
            Close::Server => {}
        }
        if self.watch == Watch::Nothing && self.register(Watch::Input, gear).is_err() {
            self.close();
            return Step::Closed;
        }
        self.phase = Phase::Closing;
        self.start_clock();
        // The FIN may be there already, its edge gone by with the reply's.
        self.await_close(gear)
    }

    /// Takes whatever ends the connection: FIN, reset, or bytes after the whole reply.
    pub(super) fn await_close(&mut self, gear: &mut Gear) -> Step {
        let Some(socket) = &self.socket else { return Step::Closed };
        match net::recv(socket, &mut *gear.buffer, RecvFlags::empty()) {
            Err(Errno::AGAIN) => return Step::Waits,
            Ok((_, received)) if received > 0 => gear.tally.unclosed += 1,
            _ => {}
        }
        self.close();
        Step::Closed
    }
}

/// Registered once, edge-triggered: no call is needed to switch between sending and receiving.
fn flags_of(watch: Watch) -> EventFlags {
    let flags = EventFlags::IN | EventFlags::RDHUP | EventFlags::ET;
    if watch == Watch::Room { flags | EventFlags::OUT } else { flags }
}
