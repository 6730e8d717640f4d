//! What can end a run, from any thread, in one queue.

use std::{io, process::ExitStatus, sync::mpsc, thread};

use anyhow::{Context as _, Result};
use procfs::process::Process;
use rustix::event::{PollFd, PollFlags, poll};
use signal_hook::{
    consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM},
    iterator::Signals,
    low_level::emulate_default_handler,
};

use crate::process::launch::pidfd_of;

/// Something that happened.
#[derive(Debug)]
pub(crate) enum Event {
    /// The target that we started ended, or could not be executed for the reason given.
    TargetEnded(Result<ExitStatus, String>),
    /// The workload ended, or could not be executed.
    WorkloadEnded(io::Result<ExitStatus>),
    /// A process given by `-p` ended.
    AttachedEnded(u32),
    /// We were told to stop by this signal.
    Interrupted(i32),
}

/// The queue; while it exists, signals that ask us to stop are events instead.
pub(crate) struct Events {
    pub(crate) sender: mpsc::Sender<Event>,
    pub(crate) receiver: mpsc::Receiver<Event>,
}

impl Events {
    /// Starts to listen for signals.
    ///
    /// # Errors
    /// When the handlers cannot be installed.
    pub(crate) fn listen() -> Result<Self> {
        let (sender, receiver) = mpsc::channel();
        // Under nohup and in scripts' background jobs some of these are ignored, and stay so.
        let ignored = Process::myself().and_then(|process| process.status()).map_or(0, |status| status.sigign);
        let wanted = [SIGINT, SIGTERM, SIGHUP, SIGQUIT].into_iter().filter(|signal| ignored >> (signal - 1) & 1 == 0);
        let mut signals = Signals::new(wanted).context("failed to install signal handlers")?;
        let to_queue = sender.clone();
        thread::spawn(move || {
            for signal in signals.forever() {
                if to_queue.send(Event::Interrupted(signal)).is_err() {
                    // Nobody listens any more: what the signal does to any program.
                    let _ = emulate_default_handler(signal);
                }
            }
        });
        Ok(Self { sender, receiver })
    }

    /// Reports the end of a process that is not our child.
    ///
    /// # Errors
    /// `ESRCH` when there is no such process.
    pub(crate) fn follow(&self, pid: u32) -> io::Result<()> {
        let pidfd = pidfd_of(pid)?;
        let to_queue = self.sender.clone();
        thread::spawn(move || {
            // Readable once the process has ended; an interrupted wait is simply repeated.
            while poll(&mut [PollFd::new(&pidfd, PollFlags::IN)], None).is_err() {}
            let _ = to_queue.send(Event::AttachedEnded(pid));
        });
        Ok(())
    }
}
