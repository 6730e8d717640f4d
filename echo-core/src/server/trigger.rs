//! How epoll is asked to report: every difference between the level-triggered and the edge-triggered server.

use rustix::event::epoll::EventFlags;

/// What a connection or a listener waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Interest {
    /// Bytes, or connections, to take.
    Read,
    /// Room for an answer.
    Write,
}

/// How epoll reports readiness.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trigger {
    /// As long as there is something to take: one receive for each report.
    Level,
    /// Once for each arrival: receives go on until EAGAIN.
    Edge,
    /// Once, to one thread, which asks for more when it is done (EPOLLONESHOT).
    Once,
}

impl Trigger {
    /// The flags to register.
    pub(super) fn flags(self, interest: Interest) -> EventFlags {
        let flags = match interest {
            Interest::Read => EventFlags::IN,
            Interest::Write => EventFlags::OUT,
        };
        match self {
            Self::Level => flags,
            Self::Edge => flags | EventFlags::ET,
            Self::Once => flags | EventFlags::ONESHOT,
        }
    }

    /// Receives in one visit to a connection. The bound on edges keeps one busy peer from starving all others.
    pub(super) fn receives_per_visit(self) -> u32 {
        match self {
            Self::Level | Self::Once => 1,
            Self::Edge => 256,
        }
    }

    /// Whether a visit that ended with something left has to ask epoll to report it again.
    pub(super) fn must_rearm(self) -> bool {
        self != Self::Level
    }
}

/// Everything in which one epoll server differs from another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// How epoll reports.
    pub trigger: Trigger,
    /// When answers are sent.
    pub write: Write,
    /// Never take back the interest in EPOLLOUT, so that every idle connection is reported as writable again and again.
    pub keep_epollout: bool,
    /// The listener is watched by several epolls, and one of them is to be woken (EPOLLEXCLUSIVE).
    pub shared_listener: bool,
}

/// When answers are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Write {
    /// At once; epoll is asked only for what does not fit
    Direct,
    /// After EPOLL_CTL_MOD to EPOLLOUT and its report, as classic state machines do
    Mod,
}

impl Style {
    /// Answers at once, with nothing unusual.
    #[must_use]
    pub fn direct(trigger: Trigger) -> Self {
        Self { trigger, write: Write::Direct, keep_epollout: false, shared_listener: false }
    }

    pub(super) fn listener_flags(self) -> EventFlags {
        let flags = self.trigger.flags(Interest::Read);
        if self.shared_listener { flags | EventFlags::EXCLUSIVE } else { flags }
    }

    pub(super) fn connection_flags(self, interest: Interest) -> EventFlags {
        let flags = self.trigger.flags(interest);
        if self.keep_epollout { flags | EventFlags::OUT } else { flags }
    }
}
