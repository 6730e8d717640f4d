//! Descendants that outlive the process which started them. With us as their reaper they stay in the family: a server
//! that goes to the background is still found, traced and stopped.

use std::{
    io,
    os::fd::OwnedFd,
    thread,
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    process::{Pid, Signal, WaitOptions, getpid, pidfd_send_signal, set_child_subreaper, waitpid},
};

use super::{
    family::{children_of, family_of},
    launch::pidfd_of,
};

/// Makes us the parent of descendants whose own parent ends.
///
/// # Errors
/// Not on a kernel that has the system call (3.4).
pub(crate) fn keep_orphans() -> io::Result<()> {
    Ok(set_child_subreaper(Some(getpid()))?)
}

/// Children of ours that are not among those we started ourselves. The dead are buried on the way.
pub(crate) fn orphans(started: &[u32]) -> Vec<u32> {
    let children = children_of(std::process::id()).into_iter().filter(|pid| !started.contains(pid));
    children.filter(|&pid| !is_buried(pid)).collect()
}

/// Takes the end of a child that has ended.
fn is_buried(pid: u32) -> bool {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    pid.is_none_or(|pid| !matches!(waitpid(Some(pid), WaitOptions::NOHANG), Ok(None)))
}

fn bury(pid: u32) {
    is_buried(pid);
}

/// Ends orphans and all that descends from them: by SIGTERM, after `patience` by SIGKILL.
pub(crate) fn end(orphans: &[u32], patience: Duration) {
    let family = orphans.iter().flat_map(|&pid| family_of(pid));
    let pidfds: Vec<OwnedFd> = family.filter_map(|pid| pidfd_of(pid).ok()).collect();
    let signal = |signal| {
        for pidfd in &pidfds {
            let _ = pidfd_send_signal(pidfd, signal);
        }
    };
    signal(Signal::TERM);
    let deadline = Instant::now() + patience;
    while !pidfds.iter().all(has_ended) && Instant::now() < deadline {
        thread::sleep(Duration::from_millis(2));
        // A process that was buried is no longer in its group, which others may be waiting for.
        orphans.iter().copied().for_each(bury);
    }
    signal(Signal::KILL);
    orphans.iter().copied().for_each(bury);
}

fn has_ended(pidfd: &OwnedFd) -> bool {
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    matches!(poll(&mut [PollFd::new(pidfd, PollFlags::IN)], Some(&now)), Ok(1))
}
