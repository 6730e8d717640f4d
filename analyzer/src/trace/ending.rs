//! What ends a run, and how what it started is ended with it.

use std::time::Duration;

use rustix::process::Signal;

use super::outcome::{End, describe};
use crate::{
    events::{Event, Events},
    process::{
        family::command_of,
        launch::Launched,
        orphans::{self, orphans},
    },
    say::say,
};

/// Within this a Ctrl-C reaches us after it has ended the workload.
const BOTH_REACHED: Duration = Duration::from_millis(100);
/// How long a workload may take to end after a Ctrl-C that it got too.
const OWN_WAY: Duration = Duration::from_millis(300);

/// What is still running.
pub(super) struct Watch {
    /// Processes of the target that are followed one by one and have not ended.
    pub(super) followed: usize,
    pub(super) has_workload: bool,
    pub(super) target_ended: Option<String>,
}

impl Watch {
    /// The signal that ended the workload, if it reaches us too.
    pub(super) fn interrupted(&mut self, events: &Events) -> Option<End> {
        loop {
            let end = self.end_by(events.receiver.recv_timeout(BOTH_REACHED).ok()?);
            if matches!(end, Some(End::Signal(_))) {
                return end;
            }
        }
    }

    /// What an event means: the end of the run, or nothing yet.
    pub(super) fn end_by(&mut self, event: Event) -> Option<End> {
        match event {
            Event::WorkloadEnded(Ok(status)) => return Some(End::Workload(status)),
            Event::WorkloadEnded(Err(error)) => return Some(End::NotExecuted(error)),
            Event::Interrupted(signal) => return Some(End::Signal(signal)),
            Event::TargetEnded(status) => {
                let how = status.map_or_else(|error| error, describe);
                self.target_ended = Some(how);
            }
            Event::AttachedEnded(pid) => {
                self.followed = self.followed.saturating_sub(1);
                if self.followed > 0 {
                    return None;
                }
                self.target_ended = Some(format!("process {pid} ended"));
            }
        }
        if self.has_workload {
            let how = self.target_ended.as_deref().unwrap_or_default();
            say(format_args!("the target ended during the run ({how}); waiting for the workload, Ctrl-C to stop"));
            return None;
        }
        Some(End::NothingLeft)
    }
}

/// Ends a workload that is still running: its own way first, since a Ctrl-C at the terminal reached it too.
pub(crate) fn end_workload(workload: &mut Launched, end: &End) {
    let own_way = if matches!(end, End::Signal(_)) { OWN_WAY } else { Duration::ZERO };
    if workload.ends_within(own_way) {
        return;
    }
    workload.signal(Signal::INT);
    if !workload.ends_within(Duration::from_secs(2)) {
        workload.stop(Duration::from_secs(1));
    }
}

/// Deals with what a workload started and left running: that is its own business, unless the run was cut short.
pub(crate) fn end_leftovers(known: &[u32], end: &End) {
    let left = orphans(known);
    if left.is_empty() {
        return;
    }
    if !matches!(end, End::Workload(_)) {
        orphans::end(&left, Duration::from_secs(1));
        return;
    }
    let show = |&pid: &u32| format!("{} (pid {pid})", command_of(pid).unwrap_or_default());
    let names = left.iter().map(show).collect::<Vec<_>>().join(", ");
    say(format_args!("the workload has left running: {names}"));
}
