//! What all threads of a run share, and what one thread hands to its slots. Does not act.

use std::{
    net::{Ipv4Addr, SocketAddr},
    os::fd::OwnedFd,
    sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering},
};

use reports::bench::{BenchSettings, Close, Mode};

use super::{clock::now_ns, pattern::Pattern, plan::Plan, sources, tally::Tally, timing};

/// What all threads share.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) server: SocketAddr,
    pub(super) sources: Vec<Ipv4Addr>,
    pub(super) pattern: Pattern,
    pub(super) largest_payload_bytes: usize,
    pub(super) mode: Mode,
    pub(super) close: Close,
    pub(super) linger0: bool,
    pub(super) requests_per_connection: u64,
    pub(super) timeout_ns: u64,
    pub(super) think_ns: u64,
    /// A long connection that fails is replaced: in a run by time. One by count makes as many connections as it was asked
    /// for, and no more.
    pub(super) replaces_connections: bool,
    /// When the load begins.
    pub(super) start_ns: u64,
    /// When the warm-up is over and counting begins.
    pub(super) measure_ns: u64,
    settings: BenchSettings,
    /// Connects that were refused before any succeeded.
    refused: AtomicU32,
    somebody_listens: AtomicBool,
    /// Requests that ended since counting began, well or not, a little late.
    pub(super) ended: AtomicU64,
    /// Connections established since the start, a little late.
    pub(super) connected: AtomicU64,
}

impl Job {
    /// Makes the payloads, and takes the time from which the run counts.
    pub(super) fn begin(plan: &Plan) -> Self {
        let settings = &plan.settings;
        let (smallest, largest) = (settings.payload_bytes as usize, settings.largest_payload_bytes() as usize);
        let pattern = Pattern::new(smallest..=largest);
        let start_ns = now_ns();
        Self {
            server: plan.server,
            sources: sources::addresses(settings.sources),
            pattern,
            largest_payload_bytes: largest,
            mode: settings.mode,
            close: settings.close,
            linger0: settings.linger0,
            requests_per_connection: settings.requests_per_connection.unwrap_or(1),
            timeout_ns: settings.timeout_ns,
            think_ns: settings.think_ns,
            replaces_connections: settings.mode != Mode::Long || settings.rounds.is_none(),
            start_ns,
            measure_ns: start_ns.saturating_add(settings.warmup_ns),
            settings: settings.clone(),
            refused: AtomicU32::new(0),
            somebody_listens: AtomicBool::new(false),
            ended: AtomicU64::new(0),
            connected: AtomicU64::new(0),
        }
    }

    /// When nothing is begun any more, in a run by time.
    pub(super) fn end_ns(&self) -> Option<u64> {
        self.settings.duration_ns.map(|duration_ns| self.measure_ns.saturating_add(duration_ns))
    }

    /// Whether a slot of a closed loop has done what it was asked for.
    pub(super) fn is_over(&self, done: u64, now_ns: u64) -> bool {
        self.settings.rounds.is_some_and(|rounds| done >= rounds)
            || self.end_ns().is_some_and(|end_ns| now_ns >= end_ns)
    }

    /// Requests that a slot of a closed loop has not made.
    pub(super) fn rounds_left(&self, done: u64) -> u64 {
        self.settings.rounds.map_or(0, |rounds| rounds.saturating_sub(done))
    }

    /// What one thread has to do of an open loop.
    pub(super) fn arrivals(&self, thread: u32, slots: usize) -> Option<timing::Arrivals> {
        let total = self.settings.rounds.map(|rounds| rounds.saturating_mul(slots as u64));
        let arrivals = timing::Arrivals::new(self.settings.rate_per_s?, thread, self.settings.threads, self.start_ns);
        Some(arrivals.until(total, self.end_ns()))
    }

    /// What one thread may begin in each interval.
    pub(super) fn budget(&self, thread: u32) -> Option<timing::Budget> {
        let pace = self.settings.pace?;
        let (threads, thread) = (u64::from(self.settings.threads), u64::from(thread));
        let share = pace.requests / threads + u64::from(thread < pace.requests % threads);
        Some(timing::Budget::new(share, pace.interval_ns, self.start_ns))
    }

    pub(super) fn somebody_listens(&self) {
        self.somebody_listens.store(true, Ordering::Relaxed);
    }

    pub(super) fn refused(&self) {
        if !self.somebody_listens.load(Ordering::Relaxed) {
            self.refused.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// As many connects were refused as there are connections, and none ever succeeded.
    pub(super) fn nobody_listens(&self) -> bool {
        self.refused.load(Ordering::Relaxed) >= self.settings.connections
            && !self.somebody_listens.load(Ordering::Relaxed)
    }
}

/// What a slot needs to do its work.
#[derive(Debug)]
pub(super) struct Gear<'a> {
    pub(super) job: &'a Job,
    pub(super) epoll: OwnedFd,
    pub(super) buffer: Vec<u8>,
    pub(super) tally: Tally,
}
