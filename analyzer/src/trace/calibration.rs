//! What tracing adds to a system call on this machine, measured on ourselves just before a run.

use std::{io, os::fd::AsFd as _, time::Instant};

use probes::syscalls::SELF;
use reports::recording::CallCost;

use crate::{bpf::syscalls::SyscallProbes, process::launch::pidfd_of};

/// Calls timed at once, short enough for most repeats to go undisturbed.
const CALLS: u32 = 400;
const REPEATS: u32 = 12;

/// The least of several repeats before the probes are attached.
pub(crate) struct Calibration {
    untraced_ns: f64,
}

impl Calibration {
    /// Times a call that nobody traces.
    pub(crate) fn begin() -> Self {
        Self { untraced_ns: least_ns() }
    }

    /// Times it with the probes attached: for another process, and for a traced one.
    ///
    /// # Errors
    /// When our own thread cannot be marked, or the machine is too busy for the difference to show.
    pub(crate) fn finish(self, probes: &mut SyscallProbes) -> io::Result<CallCost> {
        let bystander_ns = least_ns();
        let own = pidfd_of(std::process::id())?;
        probes.mark_running(own.as_fd(), SELF)?;
        let traced_ns = least_ns();
        probes.unmark(own.as_fd())?;
        let added_ns = traced_ns - self.untraced_ns;
        if added_ns <= 0.0 {
            return Err(io::Error::other(
                "the machine was too busy: no undisturbed stretch of calls among the repeats",
            ));
        }
        Ok(CallCost {
            traced_ns: added_ns,
            bystander_ns: (bystander_ns - self.untraced_ns).max(0.0),
            calls: u64::from(CALLS),
            repeats: REPEATS,
        })
    }
}

/// Time of one call that does next to nothing.
fn least_ns() -> f64 {
    let once = || {
        let start = Instant::now();
        for _ in 0..CALLS {
            // Never answered from memory, unlike some C libraries' getpid.
            let _ = std::hint::black_box(rustix::process::getppid());
        }
        start.elapsed().as_nanos() as f64 / f64::from(CALLS)
    };
    (0..REPEATS).map(|_| once()).fold(f64::INFINITY, f64::min)
}
