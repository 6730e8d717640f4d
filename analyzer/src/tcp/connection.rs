//! What the record of one end of a connection means.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use probes::{
    syscalls::{CLIENT, SERVER},
    tcp::{COMM_BYTES, Connection, flag, state},
};
use reports::recording::{Outcome, Side};

/// Reads a record; asks nothing of the kernel.
#[derive(Clone, Copy)]
pub(crate) struct End<'a>(pub(crate) &'a Connection);

/// Which FIN came first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Closing {
    ByItself,
    ByPeer,
    Simultaneous,
    WithoutFin,
}

impl End<'_> {
    pub(crate) fn has(self, flag: u32) -> bool {
        self.0.flags & flag != 0
    }

    pub(crate) fn side(self) -> Side {
        match (self.has(flag::BEFORE_START), self.has(flag::ACTIVE)) {
            (true, _) => Side::Unknown,
            (_, true) => Side::Active,
            _ => Side::Passive,
        }
    }

    /// Traced group of its process.
    pub(crate) fn group(self) -> &'static str {
        match self.0.group.checked_sub(1) {
            Some(SERVER) => "server",
            Some(CLIENT) => "client",
            _ => "other",
        }
    }

    pub(crate) fn command(self) -> String {
        let length = self.0.comm.iter().position(|&byte| byte == 0).unwrap_or(COMM_BYTES);
        String::from_utf8_lossy(&self.0.comm[..length]).into_owned()
    }

    pub(crate) fn source(self) -> SocketAddr {
        SocketAddr::new(address(self.0.source), self.0.source_port)
    }

    pub(crate) fn destination(self) -> SocketAddr {
        SocketAddr::new(address(self.0.destination), self.0.destination_port)
    }

    /// When it entered a state; `None` when it did not, or before the start.
    pub(crate) fn entered(self, state: u32) -> Option<u64> {
        self.0.entered_ns.get(state.wrapping_sub(1) as usize).copied().filter(|&ns| ns > 0)
    }

    pub(crate) fn is_open(self) -> bool {
        self.entered(state::CLOSE).is_none()
    }

    /// When its first state that was seen began.
    pub(crate) fn began(self) -> Option<u64> {
        self.0.entered_ns.iter().copied().filter(|&ns| ns > 0).min()
    }

    /// How connecting came out; `None` for an end that did not connect, or of which that is not known.
    pub(crate) fn outcome(self) -> Option<Outcome> {
        if self.side() != Side::Active {
            return None;
        }
        if self.entered(state::ESTABLISHED).is_some() {
            return Some(Outcome::Established);
        }
        if self.is_open() {
            return Some(Outcome::InProgress);
        }
        if self.has(flag::NOTHING_SENT) {
            return Some(Outcome::NotSent);
        }
        Some(match i32::try_from(self.0.error).unwrap_or(0) {
            0 => Outcome::Cancelled,
            libc::ECONNREFUSED => Outcome::Refused,
            libc::ETIMEDOUT => Outcome::TimedOut,
            // A connection that is torn down from outside (`ss -K`) ends with ECONNABORTED.
            libc::ECONNRESET | libc::EPIPE | libc::ECONNABORTED => Outcome::Reset,
            _ => Outcome::Unreachable,
        })
    }

    /// From `SYN_SENT` to the outcome, or to `now` when there is none yet.
    pub(crate) fn connect_ns(self, now: u64) -> Option<u64> {
        let began = self.entered(state::SYN_SENT)?;
        let came_out = self.entered(state::ESTABLISHED).or(self.entered(state::CLOSE)).unwrap_or(now);
        Some(came_out.saturating_sub(began))
    }

    /// From established to accept's return.
    pub(crate) fn accept_wait_ns(self) -> Option<u64> {
        let established = self.entered(state::ESTABLISHED)?;
        (self.0.accepted_ns > 0).then(|| self.0.accepted_ns.saturating_sub(established))
    }

    /// From accept's return (active end: from established) to the first byte; 0 when that was there before.
    pub(crate) fn first_byte_ns(self) -> Option<u64> {
        let from = match self.side() {
            Side::Active => self.entered(state::ESTABLISHED)?,
            Side::Passive => Some(self.0.accepted_ns).filter(|&ns| ns > 0)?,
            Side::Unknown => return None,
        };
        (self.0.first_byte_ns > 0).then(|| self.0.first_byte_ns.saturating_sub(from))
    }

    /// From established to closed.
    pub(crate) fn duration_ns(self) -> Option<u64> {
        Some(self.entered(state::CLOSE)?.saturating_sub(self.entered(state::ESTABLISHED)?))
    }

    /// Bytes received, without the FIN.
    pub(crate) fn received_bytes(self) -> u64 {
        self.0.received_bytes.saturating_sub(u64::from(self.has(flag::FIN_RECEIVED)))
    }

    /// The states that it has left, and the time in each; not in the order of time.
    pub(crate) fn states(self) -> impl Iterator<Item = (u32, u64)> {
        // It began in `CLOSE` or `LISTEN`, and it may have gone to `CLOSE` since.
        self.0.changes().filter_map(move |(old, new)| Some((old, self.entered(new)?.checked_sub(self.entered(old)?)?)))
    }

    /// Which FIN came first, of an end that was established and is closed.
    pub(crate) fn closing(self) -> Option<Closing> {
        if self.is_open() || self.outcome().is_some_and(|outcome| outcome != Outcome::Established) {
            return None;
        }
        let went = |state| self.entered(state).is_some();
        Some(if went(state::CLOSING) {
            Closing::Simultaneous
        } else if went(state::FIN_WAIT1) || went(state::FIN_WAIT2) {
            Closing::ByItself
        } else if went(state::CLOSE_WAIT) || went(state::LAST_ACK) {
            Closing::ByPeer
        } else {
            Closing::WithoutFin
        })
    }

    /// It left for what `TIME_WAIT` needs: our FIN acknowledged, the other one there.
    pub(crate) fn went_into_time_wait(self) -> bool {
        let finished = self.entered(state::FIN_WAIT2).is_some() || self.entered(state::CLOSING).is_some();
        !self.is_open() && finished && self.has(flag::FIN_RECEIVED) && !self.has(flag::RESET_RECEIVED)
    }
}

/// An address of either family; IPv4 ones come mapped into IPv6.
fn address(bytes: [u8; 16]) -> IpAddr {
    Ipv6Addr::from(bytes).to_canonical()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// An end that went through these states at these times.
    pub(crate) fn end(flags: u32, states: &[(u32, u64)]) -> Connection {
        let mut connection = Connection { flags, destination_port: 80, ..Connection::EMPTY };
        connection.destination[10..].copy_from_slice(&[0xff, 0xff, 127, 0, 0, 1]);
        let mut old = state::CLOSE;
        for &(new, ns) in states {
            assert!(connection.enter(old, new, ns), "a state entered for the first time");
            old = new;
        }
        connection
    }

    #[test]
    fn the_error_of_the_socket_tells_how_connecting_came_out() {
        let failed = |error: i32| {
            let mut connection = end(flag::ACTIVE, &[(state::SYN_SENT, 10), (state::CLOSE, 30)]);
            connection.error = u32::try_from(error).expect("positive");
            (End(&connection).outcome(), End(&connection).connect_ns(99))
        };
        assert_eq!(failed(libc::ECONNREFUSED), (Some(Outcome::Refused), Some(20)));
        assert_eq!(failed(libc::ETIMEDOUT), (Some(Outcome::TimedOut), Some(20)));
        assert_eq!(failed(libc::EHOSTUNREACH), (Some(Outcome::Unreachable), Some(20)));
        assert_eq!(failed(0), (Some(Outcome::Cancelled), Some(20)));
        let unsent = end(flag::ACTIVE | flag::NOTHING_SENT, &[(state::SYN_SENT, 10), (state::CLOSE, 30)]);
        assert_eq!(End(&unsent).outcome(), Some(Outcome::NotSent));
        let waiting = end(flag::ACTIVE, &[(state::SYN_SENT, 10)]);
        assert_eq!((End(&waiting).outcome(), End(&waiting).connect_ns(99)), (Some(Outcome::InProgress), Some(89)));
    }

    #[test]
    fn an_end_that_was_there_before_is_marked_and_not_guessed() {
        let before = end(flag::BEFORE_START, &[(state::FIN_WAIT1, 10), (state::FIN_WAIT2, 20), (state::CLOSE, 30)]);
        let end = End(&before);
        assert_eq!((end.side(), end.outcome(), end.duration_ns()), (Side::Unknown, None, None));
        assert_eq!(end.closing(), Some(Closing::ByItself));
        assert!(end.states().eq([(state::FIN_WAIT1, 10), (state::FIN_WAIT2, 10)]));
    }

    #[test]
    fn time_wait_needs_the_other_ends_fin() {
        let states = [(state::ESTABLISHED, 5), (state::FIN_WAIT1, 10), (state::FIN_WAIT2, 20), (state::CLOSE, 30)];
        let orphan = end(flag::ACTIVE, &states);
        assert!(!End(&orphan).went_into_time_wait());
        let proper = end(flag::ACTIVE | flag::FIN_RECEIVED, &states);
        assert!(End(&proper).went_into_time_wait());
        assert_eq!(End(&proper).closing(), Some(Closing::ByItself));
    }

    #[test]
    fn a_byte_that_was_there_before_accept_took_no_time() {
        let mut connection = end(0, &[(state::SYN_RECV, 4), (state::ESTABLISHED, 5)]);
        assert_eq!((End(&connection).accept_wait_ns(), End(&connection).first_byte_ns()), (None, None));
        (connection.accepted_ns, connection.first_byte_ns) = (50, 40);
        assert_eq!((End(&connection).accept_wait_ns(), End(&connection).first_byte_ns()), (Some(45), Some(0)));
    }

    #[test]
    fn a_mapped_address_is_an_ipv4_address_and_a_fin_is_no_byte() {
        let mut connection = end(flag::FIN_RECEIVED, &[]);
        connection.received_bytes = 65;
        assert_eq!(End(&connection).destination().to_string(), "127.0.0.1:80");
        assert_eq!(End(&connection).received_bytes(), 64);
        connection.destination = Ipv6Addr::LOCALHOST.octets();
        assert_eq!(End(&connection).destination().to_string(), "[::1]:80");
    }
}
