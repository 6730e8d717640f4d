//! Wakes an epoll at a moment: `epoll_wait` alone knows whole milliseconds only.

use std::os::fd::OwnedFd;

use rustix::{
    event::epoll::{self, EventData, EventFlags},
    time::{Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime},
};

use crate::Error;

/// A timer that an epoll watches.
#[derive(Debug)]
pub(super) struct Alarm {
    timer: OwnedFd,
    set_to_ns: u64,
}

impl Alarm {
    /// Edge-triggered: the timer need not be read.
    pub(super) fn new(epoll: &OwnedFd, token: u64) -> Result<Self, Error> {
        let flags = TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK;
        let timer = timerfd_create(TimerfdClockId::Monotonic, flags).map_err(Error::system("create a timer"))?;
        epoll::add(epoll, &timer, EventData::new_u64(token), EventFlags::IN | EventFlags::ET)
            .map_err(Error::system("watch a timer"))?;
        Ok(Self { timer, set_to_ns: 0 })
    }

    /// Sets it to a moment of `CLOCK_MONOTONIC`, in place of any other.
    pub(super) fn set(&mut self, at_ns: u64) -> Result<(), Error> {
        if self.set_to_ns == at_ns {
            return Ok(());
        }
        self.set_to_ns = at_ns;
        let seconds = i64::try_from(at_ns / 1_000_000_000).unwrap_or(i64::MAX);
        // The remainder is below a second.
        let rest_ns = i64::try_from(at_ns % 1_000_000_000).unwrap_or(0);
        let once = Itimerspec {
            it_interval: Timespec { tv_sec: 0, tv_nsec: 0 },
            it_value: Timespec { tv_sec: seconds, tv_nsec: rest_ns },
        };
        timerfd_settime(&self.timer, TimerfdTimerFlags::ABSTIME, &once).map(drop).map_err(Error::system("set a timer"))
    }
}
