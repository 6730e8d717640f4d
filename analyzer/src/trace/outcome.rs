//! How a run ended, and what that means for the recording and for our exit status.

use std::{io, os::unix::process::ExitStatusExt as _, process::ExitStatus};

/// A signal ended a run before anything was measured.
#[derive(Debug, thiserror::Error)]
#[error("stopped by signal {0} before anything was measured")]
pub(crate) struct Interrupted(pub(crate) i32);

/// What ended the measured part.
#[derive(Debug)]
pub(crate) enum End {
    /// The workload came to its end.
    Workload(ExitStatus),
    /// The workload could not be executed.
    NotExecuted(io::Error),
    /// The time given by `-d` passed.
    Time,
    /// We were asked to stop.
    Signal(i32),
    /// Every process that was traced has ended.
    NothingLeft,
}

impl End {
    /// Whether a signal ended the workload that we may have been sent as well, as by a Ctrl-C at the terminal.
    pub(crate) fn may_be_interrupt(&self) -> bool {
        let Self::Workload(status) = self else { return false };
        // A shell in between turns the signal into an exit status.
        let by_signal = |signal: i32| status.signal() == Some(signal) || status.code() == Some(128 + signal);
        [libc::SIGINT, libc::SIGTERM, libc::SIGHUP].into_iter().any(by_signal)
    }

    /// Our exit status. Without a workload, stopping is how a run is meant to end.
    pub(crate) fn status(&self, has_workload: bool) -> u8 {
        match self {
            Self::Workload(status) => match (status.code(), status.signal()) {
                (Some(code), _) => u8::try_from(code).unwrap_or(1),
                (None, signal) => after_signal(signal.unwrap_or(0)),
            },
            Self::NotExecuted(error) if error.kind() == io::ErrorKind::NotFound => 127,
            Self::NotExecuted(_) => 126,
            Self::Signal(signal) if has_workload => after_signal(*signal),
            Self::Signal(_) | Self::Time | Self::NothingLeft => 0,
        }
    }

    /// Why the run is not what was asked for, if it is not.
    pub(crate) fn shortfall(&self, has_workload: bool) -> Option<String> {
        match self {
            Self::Signal(signal) if has_workload => {
                Some(format!("stopped by signal {signal} before the workload ended"))
            }
            Self::NotExecuted(error) => Some(format!("the workload was not executed: {error}")),
            _ => None,
        }
    }
}

/// The shell's way of giving a signal as an exit status.
pub(crate) fn after_signal(signal: i32) -> u8 {
    u8::try_from(128 + signal).unwrap_or(255)
}

/// In words: `exit 1`, `signal 9`.
pub(crate) fn describe(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => "unknown end".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_workloads_own_status_becomes_ours() {
        assert_eq!(End::Workload(ExitStatus::from_raw(7 << 8)).status(true), 7);
        assert_eq!(End::Workload(ExitStatus::from_raw(9)).status(true), 137);
        assert_eq!(End::NotExecuted(io::ErrorKind::NotFound.into()).status(true), 127);
        assert_eq!(End::NotExecuted(io::ErrorKind::PermissionDenied.into()).status(true), 126);
    }

    #[test]
    fn only_a_workload_that_a_stopping_signal_ended_may_be_an_interrupt() {
        let ended = |raw| End::Workload(ExitStatus::from_raw(raw)).may_be_interrupt();
        assert!(ended(libc::SIGINT) && ended(130 << 8) && ended(libc::SIGTERM));
        assert!(!ended(0) && !ended(1 << 8) && !ended(libc::SIGKILL));
        assert!(!End::Time.may_be_interrupt());
    }

    #[test]
    fn stopping_is_the_planned_end_only_without_a_workload() {
        assert_eq!((End::Signal(2).status(true), End::Signal(2).status(false)), (130, 0));
        assert!(End::Signal(2).shortfall(true).is_some());
        assert_eq!(End::Signal(2).shortfall(false), None);
    }
}
