//! An epoll and its calls, each counted: what is watched, and who is ready. Does not act on readiness.

use std::{
    os::fd::{AsFd, OwnedFd},
    time::Duration,
};

use rustix::{
    buffer::spare_capacity,
    event::{
        Timespec,
        epoll::{self, CreateFlags, Event, EventData, EventFlags},
    },
    io::Errno,
};

use super::totals::Totals;
use crate::{Error, Stop};

/// Token of the signals.
pub(super) const STOP: u64 = u64::MAX;
/// Token of the listener.
pub(super) const LISTENER: u64 = u64::MAX - 1;

/// An epoll that watches for signals from the start.
#[derive(Debug)]
pub(super) struct Watch {
    epoll: OwnedFd,
}

impl Watch {
    pub(super) fn new(stop: &Stop) -> Result<Self, Error> {
        let epoll = epoll::create(CreateFlags::CLOEXEC).map_err(Error::system("create an epoll"))?;
        // Level-triggered, and never taken out: each of the threads that wait here sees it.
        epoll::add(&epoll, stop, EventData::new_u64(STOP), EventFlags::IN)
            .map_err(Error::system("watch for signals"))?;
        Ok(Self { epoll })
    }

    /// Begins to watch.
    pub(super) fn add(
        &self,
        source: impl AsFd,
        token: u64,
        flags: EventFlags,
        totals: &mut Totals,
    ) -> Result<(), Errno> {
        totals.system_calls.epoll_ctl += 1;
        epoll::add(&self.epoll, source, EventData::new_u64(token), flags)
    }

    /// Watches for something else, or for the same again.
    pub(super) fn change(
        &self,
        source: impl AsFd,
        token: u64,
        flags: EventFlags,
        totals: &mut Totals,
    ) -> Result<(), Error> {
        totals.system_calls.epoll_ctl += 1;
        epoll::modify(&self.epoll, source, EventData::new_u64(token), flags)
            .map_err(Error::system("change what epoll watches"))
    }

    /// Watches no longer.
    pub(super) fn remove(&self, source: impl AsFd, totals: &mut Totals) -> Result<(), Error> {
        totals.system_calls.epoll_ctl += 1;
        epoll::delete(&self.epoll, source).map_err(Error::system("take something out of an epoll"))
    }

    /// Waits until something is ready, but not longer than `longest`, and fills `events` up to their capacity.
    pub(super) fn wait(
        &self,
        events: &mut Vec<Event>,
        longest: Option<Duration>,
        totals: &mut Totals,
    ) -> Result<(), Error> {
        // Half a day at most: within the range of the type, and one needless wake-up is none.
        let timeout = longest.map(|longest| Timespec {
            tv_sec: longest.as_secs().min(43_200).cast_signed(),
            tv_nsec: longest.subsec_nanos().into(),
        });
        loop {
            totals.system_calls.epoll_wait += 1;
            match epoll::wait(&self.epoll, spare_capacity(events), timeout.as_ref()) {
                Ok(_) => break,
                Err(Errno::INTR) => {}
                Err(errno) => return Err(Error::system("wait for events")(errno)),
            }
        }
        totals.wake_ups += 1;
        Ok(())
    }
}
