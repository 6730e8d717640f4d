//! The measured part of a run: from the attach to the last reading.

use std::{
    collections::BTreeSet,
    io,
    os::fd::{AsFd as _, BorrowedFd},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result};
use probes::syscalls::{CLIENT, InFlight, SERVER};
use reports::{
    counters::KernelCounters,
    recording::{Probe, Tcp},
};
use rustix::process::Signal;

use super::{
    outcome::{End, describe},
    target::Target,
};
use crate::{
    bpf::syscalls::SyscallProbes,
    events::{Event, Events},
    kernel::netns::Netns,
    process::{
        family::command_of,
        launch::{Launched, pidfd_of},
        orphans::{self, orphans},
    },
    say::say,
    tcp::TcpTrace,
};

/// How often the probes' messages are printed.
const LOG_EVERY: Duration = Duration::from_millis(100);
/// A server is quiet when it made no call for this long.
const QUIET: Duration = Duration::from_millis(10);
/// How long a server may take to become quiet after the workload's end.
const QUIET_WITHIN: Duration = Duration::from_millis(500);
/// Within this a Ctrl-C reaches us after it has ended the workload.
const BOTH_REACHED: Duration = Duration::from_millis(100);
/// How long a workload may take to end after a Ctrl-C that it got too.
const OWN_WAY: Duration = Duration::from_millis(300);

/// Probes in the kernel.
pub(crate) struct Instruments {
    pub(crate) syscalls: SyscallProbes,
    pub(crate) tcp: Option<TcpTrace>,
    pub(crate) netns: Netns,
}

/// What was noted at the attach.
pub(crate) struct Start {
    pub(crate) probes: Vec<Probe>,
    pub(crate) counters: KernelCounters,
    at: Instant,
    /// The same moment by the clock of the probes.
    at_ns: u64,
}

/// What ends a run, as far as it is known at its start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) duration: Option<Duration>,
    /// Processes whose end is reported one by one.
    pub(crate) followed: usize,
    pub(crate) has_workload: bool,
}

/// What was noted at the end.
pub(crate) struct Finish {
    pub(crate) end: End,
    pub(crate) duration: Duration,
    pub(crate) in_flight: Vec<InFlight>,
    /// `CLOCK_MONOTONIC` when the measured part began, in ns.
    pub(crate) started_ns: u64,
    /// `CLOCK_MONOTONIC` when counting stopped, in ns.
    pub(crate) stopped_ns: u64,
    /// How the target ended, if it did before we stopped it.
    pub(crate) target_ended: Option<String>,
}

impl Instruments {
    /// Attaches to the target's threads and the held workload, then releases it.
    ///
    /// # Errors
    /// When the kernel refuses, or a process has ended meanwhile.
    pub(crate) fn begin(&mut self, target: Option<&Target>, workload: Option<&mut Launched>) -> Result<Start> {
        if let Some(accepted) = self.tcp.as_mut().and_then(TcpTrace::accepted) {
            self.syscalls.hand_accepted_to(accepted)?;
        }
        let mut probes = self.syscalls.attach()?;
        if let Some(tcp) = &mut self.tcp {
            probes.extend(tcp.attach(&self.netns)?);
        }
        if let Some(target) = target {
            self.adopt(target)?;
        }
        let counters = self.netns.counters()?;
        let (at, at_ns) = (Instant::now(), monotonic_ns());
        if let Some(workload) = workload {
            self.syscalls.mark_held(workload.pidfd(), CLIENT).context("failed to mark the workload's thread")?;
            self.mark_for_tcp(workload.pidfd(), CLIENT).context("failed to mark the workload's thread")?;
            workload.release().context("the workload ended before it was released")?;
        }
        Ok(Start { probes, counters, at, at_ns })
    }

    /// Marks the target's threads, until a look finds none that the one before missed.
    fn adopt(&mut self, target: &Target) -> Result<()> {
        let mut marked = BTreeSet::new();
        let mut threads = 0;
        loop {
            let family = target.family();
            let new: Vec<u32> = family.into_iter().filter(|pid| !marked.contains(pid)).collect();
            for &pid in &new {
                // One that has ended meanwhile has nothing left to trace.
                let marked_now = pidfd_of(pid).and_then(|pidfd| {
                    self.mark_for_tcp(pidfd.as_fd(), SERVER)?;
                    self.syscalls.mark_running(pidfd.as_fd(), SERVER)
                });
                match marked_now {
                    Err(error) if error.raw_os_error() != Some(libc::ESRCH) => {
                        return Err(error).with_context(|| format!("failed to mark process {pid}"));
                    }
                    _ => marked.insert(pid),
                };
            }
            let now = self.syscalls.adopt_threads()?;
            if new.is_empty() && now == threads {
                return Ok(());
            }
            threads = now;
        }
    }

    /// What TCP did since the start; `None` without its probes.
    ///
    /// # Errors
    /// When the counters or the probes' maps cannot be read.
    pub(crate) fn tcp_since(&mut self, start: &Start) -> Result<Option<Tcp>> {
        let finish = |tcp: &mut TcpTrace| tcp.finish(&self.netns, &start.counters, monotonic_ns());
        self.tcp.as_mut().map(finish).transpose()
    }

    fn mark_for_tcp(&self, pidfd: BorrowedFd<'_>, group: u32) -> io::Result<()> {
        self.tcp.as_ref().map_or(Ok(()), |tcp| tcp.mark(pidfd, group))
    }

    /// Waits for the end of the run, lets the server come to rest, stops counting.
    ///
    /// # Errors
    /// When the probes cannot be stopped or read.
    pub(crate) fn until_end(&mut self, start: &Start, events: &Events, limits: Limits) -> Result<Finish> {
        let deadline = limits.duration.map(|duration| start.at + duration);
        let mut watch = Watch { followed: limits.followed, has_workload: limits.has_workload, target_ended: None };
        let end = loop {
            self.syscalls.flush_log();
            let wait = deadline.map_or(LOG_EVERY, |at| at.saturating_duration_since(Instant::now()).min(LOG_EVERY));
            match events.receiver.recv_timeout(wait) {
                Ok(event) => {
                    if let Some(end) = watch.end_by(event) {
                        break end;
                    }
                }
                Err(_) if deadline.is_some_and(|at| Instant::now() >= at) => break End::Time,
                Err(_) => {}
            }
        };
        let end = if end.may_be_interrupt() { watch.interrupted(events).unwrap_or(end) } else { end };
        if matches!(end, End::Workload(_)) {
            self.await_quiet()?;
        }
        let duration = start.at.elapsed();
        let stopped_ns = monotonic_ns();
        let in_flight = self.syscalls.stop()?;
        self.syscalls.flush_log();
        Ok(Finish { end, duration, in_flight, started_ns: start.at_ns, stopped_ns, target_ended: watch.target_ended })
    }

    /// The last replies are out, but the server may still have connections to close.
    fn await_quiet(&self) -> Result<()> {
        let deadline = Instant::now() + QUIET_WITHIN;
        let mut before = self.syscalls.calls_so_far(SERVER)?;
        while Instant::now() < deadline {
            thread::sleep(QUIET);
            let now = self.syscalls.calls_so_far(SERVER)?;
            if now == before {
                break;
            }
            before = now;
        }
        Ok(())
    }
}

/// What is still running.
struct Watch {
    /// Processes of the target that are followed one by one and have not ended.
    followed: usize,
    has_workload: bool,
    target_ended: Option<String>,
}

impl Watch {
    /// The signal that ended the workload, if it reaches us too.
    fn interrupted(&mut self, events: &Events) -> Option<End> {
        loop {
            let end = self.end_by(events.receiver.recv_timeout(BOTH_REACHED).ok()?);
            if matches!(end, Some(End::Signal(_))) {
                return end;
            }
        }
    }

    /// What an event means: the end of the run, or nothing yet.
    fn end_by(&mut self, event: Event) -> Option<End> {
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

/// The clock of `bpf_ktime_get_ns`.
fn monotonic_ns() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    u64::try_from(now.tv_sec).unwrap_or(0) * 1_000_000_000 + u64::try_from(now.tv_nsec).unwrap_or(0)
}
