//! SIGINT, SIGTERM and SIGHUP as something that an epoll can wait for. Does not decide what stopping means.

use std::{
    io::{self, PipeReader, pipe},
    os::fd::{AsFd, BorrowedFd},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use signal_hook::{
    consts::{SIGHUP, SIGINT, SIGTERM},
    flag,
    low_level::pipe,
};

use crate::Error;

/// Readable from the first stopping signal on, and for good: nobody takes the byte out, so any number of loops can watch
/// it level-triggered.
#[derive(Debug)]
pub struct Stop {
    readable: PipeReader,
    signal: Arc<AtomicUsize>,
}

impl Stop {
    /// Takes over these signals of this process.
    ///
    /// # Errors
    /// When the pipe or a handler cannot be had.
    pub fn on_signals() -> Result<Self, Error> {
        Self::install().map_err(|source| Error::System { action: "handle SIGINT, SIGTERM and SIGHUP", source })
    }

    fn install() -> io::Result<Self> {
        let (readable, writable) = pipe()?;
        let signal = Arc::new(AtomicUsize::new(0));
        for number in [SIGINT, SIGTERM, SIGHUP] {
            // First the number, then the wake-up: whoever is woken finds the number.
            flag::register_usize(number, Arc::clone(&signal), number.unsigned_abs() as usize)?;
            pipe::register(number, writable.try_clone()?)?;
        }
        Ok(Self { readable, signal })
    }

    /// Number of the signal that came, the latest if several did.
    #[must_use]
    pub fn signal(&self) -> Option<u8> {
        u8::try_from(self.signal.load(Ordering::Relaxed)).ok().filter(|&number| number > 0)
    }
}

impl AsFd for Stop {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.readable.as_fd()
    }
}
