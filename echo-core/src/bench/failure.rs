//! The kinds of failed requests: their names and which error belongs to which. Does not count them.

use rustix::io::Errno;

/// Why a request did not succeed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// Nobody listens there.
    Refused,
    /// The peer, or something on the way, broke the connection.
    Reset,
    /// The connect or the request took longer than `--timeout`, or the kernel gave up.
    Timeout,
    /// The peer ended the stream before any byte of the reply.
    Closed,
    /// The peer ended the stream within the reply.
    ShortReply,
    /// The reply is not what was sent, or longer.
    WrongPayload,
    /// No local port was left (EADDRNOTAVAIL).
    AddrUnavailable,
    /// No file descriptor was left.
    FdLimit,
    /// There is no way to the server.
    Unreachable,
    /// Never attempted: its long connection had failed, nobody listens at all, or every connection was busy until the end
    /// of an open loop.
    NotSent,
    /// Any other error.
    Other,
}

impl Failure {
    /// All kinds, in the order of their discriminants.
    pub const ALL: [Self; 11] = [
        Self::Refused,
        Self::Reset,
        Self::Timeout,
        Self::Closed,
        Self::ShortReply,
        Self::WrongPayload,
        Self::AddrUnavailable,
        Self::FdLimit,
        Self::Unreachable,
        Self::NotSent,
        Self::Other,
    ];

    /// The word in output and files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Refused => "refused",
            Self::Reset => "reset",
            Self::Timeout => "timeout",
            Self::Closed => "closed",
            Self::ShortReply => "short-reply",
            Self::WrongPayload => "wrong-payload",
            Self::AddrUnavailable => "addr-unavailable",
            Self::FdLimit => "fd-limit",
            Self::Unreachable => "unreachable",
            Self::NotSent => "not-sent",
            Self::Other => "other",
        }
    }
}

impl From<Errno> for Failure {
    fn from(errno: Errno) -> Self {
        match errno {
            Errno::CONNREFUSED => Self::Refused,
            Errno::CONNRESET | Errno::CONNABORTED => Self::Reset,
            // Sent after the peer's FIN: v6.18 tcp_reset() has EPIPE for that, and ECONNRESET for any other reset.
            Errno::PIPE => Self::Closed,
            Errno::TIMEDOUT => Self::Timeout,
            Errno::ADDRNOTAVAIL => Self::AddrUnavailable,
            Errno::MFILE | Errno::NFILE => Self::FdLimit,
            Errno::NETUNREACH | Errno::HOSTUNREACH | Errno::NETDOWN | Errno::HOSTDOWN => Self::Unreachable,
            _ => Self::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_listed_at_its_own_place_under_its_own_name() {
        for (place, kind) in Failure::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, place);
            assert_eq!(Failure::ALL.iter().filter(|other| other.name() == kind.name()).count(), 1);
        }
    }
}
