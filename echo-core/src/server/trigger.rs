//! Level-triggered or edge-triggered: every difference between the two servers.

use rustix::event::epoll::EventFlags;

/// What a connection or a listener waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Interest {
    /// Bytes, or connections, to take.
    Read,
    /// Room for the rest of an answer.
    Write,
    /// Nothing, for now.
    Nothing,
}

/// How epoll reports readiness.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trigger {
    /// As long as there is something to take: one receive for each report.
    Level,
    /// Once for each arrival: receives go on until EAGAIN.
    Edge,
}

impl Trigger {
    /// The flags to register.
    pub(super) fn flags(self, interest: Interest) -> EventFlags {
        let flags = match interest {
            Interest::Read => EventFlags::IN,
            Interest::Write => EventFlags::OUT,
            Interest::Nothing => return EventFlags::empty(),
        };
        match self {
            Self::Level => flags,
            Self::Edge => flags | EventFlags::ET,
        }
    }

    /// Receives in one visit to a connection. The bound on edges keeps one busy peer from starving all others.
    pub(super) fn receives_per_visit(self) -> u32 {
        match self {
            Self::Level => 1,
            Self::Edge => 256,
        }
    }

    /// Whether a visit that ended with something left has to ask epoll to report it again.
    pub(super) fn must_rearm(self) -> bool {
        self == Self::Edge
    }
}
