//! The measured part of a run: from the attach to the last reading.

use std::{
    collections::BTreeSet,
    io,
    os::fd::{AsFd as _, BorrowedFd},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result};
use aya::Ebpf;
use probes::syscalls::{CLIENT, InFlight, RowKey, SERVER};
use reports::{
    counters::KernelCounters,
    recording::{CallCost, OwnCost, PerfCount, Probe, Resources, Series, Tcp},
};

use super::{
    calibration::Calibration,
    ending::Watch,
    outcome::End,
    sampling::{SampledGroup, Sampler, Subjects},
    target::Target,
};
use crate::{
    bpf::{
        cost::{self, ProgramClock},
        syscalls::SyscallProbes,
    },
    events::Events,
    kernel::netns::Netns,
    process::{
        launch::{Launched, pidfd_of},
        perf::PerfCounters,
    },
    tcp::TcpTrace,
};

/// How often the probes' messages are printed.
const LOG_EVERY: Duration = Duration::from_millis(100);
/// A server is quiet when it made no call for this long, twice in a row: on a busy machine it may just not have run.
const QUIET: Duration = Duration::from_millis(10);
const QUIET_LOOKS: u32 = 2;
/// How long a server may take to become quiet after the workload's end.
const QUIET_WITHIN: Duration = Duration::from_millis(500);

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
    call_cost: Option<CallCost>,
    /// CPU time that we had spent until then.
    own_cpu: Duration,
    /// `None` when the host's counters could not be read.
    sampler: Option<Sampler>,
    clock: ProgramClock,
    perf: Perf,
}

/// Perf counters of both groups, where there is one.
struct Perf {
    server: Option<PerfCounters>,
    client: Option<PerfCounters>,
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
    /// What the rows in `in_flight` are for.
    pub(crate) row_keys: Vec<RowKey>,
    /// `CLOCK_MONOTONIC` when the measured part began, in ns.
    pub(crate) started_ns: u64,
    /// `CLOCK_MONOTONIC` when counting stopped, in ns.
    pub(crate) stopped_ns: u64,
    /// How the target ended, if it did before we stopped it.
    pub(crate) target_ended: Option<String>,
    pub(crate) own_cost: OwnCost,
    pub(crate) sampled: Option<(Series, Resources)>,
    /// Perf counts of server and client.
    pub(crate) perf: [Vec<PerfCount>; 2],
}

impl Instruments {
    /// Attaches to the target's threads and the held workload, then releases it.
    ///
    /// # Errors
    /// When the kernel refuses, or a process has ended meanwhile.
    pub(crate) fn begin(
        &mut self,
        target: Option<&Target>,
        workload: Option<&mut Launched>,
        interval: Option<Duration>,
    ) -> Result<Start> {
        let calibration = Calibration::begin();
        if let Some(accepted) = self.tcp.as_mut().and_then(TcpTrace::accepted) {
            self.syscalls.hand_accepted_to(accepted)?;
        }
        let mut probes = self.syscalls.attach()?;
        // Beside the probes' own beginning: what came between the two would be seen by one of them only.
        let counters = self.netns.counters()?;
        if let Some(tcp) = &mut self.tcp {
            probes.extend(tcp.attach(&self.netns)?);
        }
        let call_cost = calibration.finish(&mut self.syscalls);
        let call_cost = call_cost.inspect_err(|error| log::warn!("the cost of a call is not known: {error}")).ok();
        if let Some(target) = target {
            self.adopt(target)?;
        }
        let sampler = self.sampler(target, workload.as_deref(), interval);
        let mut clock = ProgramClock::default();
        clock.begin(&self.objects(), Duration::ZERO);
        let perf = Perf {
            server: target.map(|target| PerfCounters::of(&target.family())),
            client: workload.as_deref().map(|workload| PerfCounters::of(&[workload.pid])),
        };
        let (at, at_ns, own_cpu) = (Instant::now(), monotonic_ns(), own_cpu());
        if let Some(workload) = workload {
            self.syscalls.mark_held(workload.pidfd(), CLIENT).context("failed to mark the workload's thread")?;
            self.mark_for_tcp(workload.pidfd(), CLIENT).context("failed to mark the workload's thread")?;
            workload.release().context("the workload ended before it was released")?;
        }
        Ok(Start { probes, counters, at, at_ns, call_cost, own_cpu, sampler, clock, perf })
    }

    /// Samples are an addition: without them the run goes on.
    fn sampler(
        &self,
        target: Option<&Target>,
        workload: Option<&Launched>,
        interval: Option<Duration>,
    ) -> Option<Sampler> {
        let server = target.map(|target| SampledGroup { name: "server", pids: target.pids.clone() });
        let client = workload.map(|workload| SampledGroup { name: "client", pids: vec![workload.pid] });
        let groups: Vec<SampledGroup> = server.into_iter().chain(client).collect();
        let listeners = target.map(|target| target.listeners.as_slice()).unwrap_or_default();
        let subjects = Subjects { groups: &groups, listeners, netns: &self.netns };
        let sampler = Sampler::begin(interval, &subjects);
        sampler.inspect_err(|error| log::warn!("nothing is sampled: {error:#}")).ok()
    }

    fn objects(&self) -> Vec<&Ebpf> {
        std::iter::once(self.syscalls.object()).chain(self.tcp.as_ref().map(TcpTrace::object)).collect()
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
    pub(crate) fn until_end(&mut self, start: &mut Start, events: &Events, limits: Limits) -> Result<Finish> {
        let deadline = limits.duration.map(|duration| start.at + duration);
        let mut watch = Watch { followed: limits.followed, has_workload: limits.has_workload, target_ended: None };
        let mut timed_until = Some(start.at);
        let end = loop {
            self.syscalls.flush_log();
            let now = Instant::now();
            if timed_until.is_some_and(|until| now >= until) {
                start.clock.end(&self.objects());
                timed_until = None;
            }
            if start.sampler.as_ref().is_some_and(|sampler| now >= sampler.due()) {
                self.sample(start);
                timed_until = start.clock.begin(&self.objects(), LOG_EVERY);
            }
            let due = start.sampler.as_ref().map(Sampler::due);
            let next = [deadline, timed_until, due, Some(now + LOG_EVERY)].into_iter().flatten().min();
            let wait = next.map_or(LOG_EVERY, |at| at.saturating_duration_since(now));
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
        self.finish(start, end, watch)
    }

    fn finish(&mut self, start: &mut Start, end: End, watch: Watch) -> Result<Finish> {
        start.clock.end(&self.objects());
        let duration = start.at.elapsed();
        let stopped_ns = monotonic_ns();
        let tracer_cpu = own_cpu().saturating_sub(start.own_cpu);
        let in_flight = self.syscalls.stop()?;
        self.syscalls.flush_log();
        // The last interval: what came since the last look.
        self.sample(start);
        Ok(Finish {
            end,
            duration,
            in_flight,
            row_keys: self.syscalls.row_keys()?,
            started_ns: start.at_ns,
            stopped_ns,
            target_ended: watch.target_ended,
            own_cost: OwnCost {
                per_call: start.call_cost,
                programs: start.clock.programs(&self.objects()),
                sampled_share: start.clock.share(duration),
                tracer_cpu_ns: u64::try_from(tracer_cpu.as_nanos()).unwrap_or(u64::MAX),
                map_bytes: cost::map_bytes(&self.objects()),
            },
            perf: [&mut start.perf.server, &mut start.perf.client]
                .map(|counters| counters.as_mut().map(PerfCounters::read).unwrap_or_default()),
            sampled: start.sampler.take().map(Sampler::finish),
        })
    }

    fn sample(&self, start: &mut Start) {
        let Some(sampler) = &mut start.sampler else { return };
        let outcome = self.syscalls.rows().and_then(|rows| sampler.sample(&rows, &self.netns));
        if let Err(error) = outcome {
            log::warn!("no more samples: {error:#}");
            start.sampler = None;
        }
    }

    /// The last replies are out, but the server may still have connections to close.
    fn await_quiet(&self) -> Result<()> {
        let deadline = Instant::now() + QUIET_WITHIN;
        let mut before = self.syscalls.calls_so_far(SERVER)?;
        let mut quiet_looks = 0;
        while quiet_looks < QUIET_LOOKS && Instant::now() < deadline {
            thread::sleep(QUIET);
            let now = self.syscalls.calls_so_far(SERVER)?;
            quiet_looks = if now == before { quiet_looks + 1 } else { 0 };
            before = now;
        }
        Ok(())
    }
}

/// The clock of `bpf_ktime_get_ns`.
fn monotonic_ns() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    u64::try_from(now.tv_sec).unwrap_or(0) * 1_000_000_000 + u64::try_from(now.tv_nsec).unwrap_or(0)
}

/// CPU time of this process, all threads.
fn own_cpu() -> Duration {
    let spent = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::try_from(spent).unwrap_or_default()
}
