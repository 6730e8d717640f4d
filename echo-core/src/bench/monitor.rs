//! What the main thread does while the workers work: readings at the end of the warm-up, progress, and a warning before
//! the ports of a source address run short. Does not take part in the load.

use std::{path::Path, sync::atomic::Ordering, thread, time::Duration};

use reports::counters::KernelCounters;

use super::{clock::now_ns, job::Job, plan::Plan, progress::Progress, readings::Readings, sources};
use crate::warn;

/// Between two looks.
const INTERVAL: Duration = Duration::from_millis(100);
/// From this share of the ports before the step on, it is said.
const NEARLY: f64 = 0.9;

/// Watches one run.
#[derive(Debug)]
pub(super) struct Monitor<'a> {
    plan: &'a Plan,
    job: &'a Job,
    progress: &'a mut Progress,
    /// Requests that a run by count makes.
    total: Option<u64>,
    ports_said: bool,
}

impl<'a> Monitor<'a> {
    pub(super) fn new(plan: &'a Plan, job: &'a Job, progress: &'a mut Progress) -> Self {
        let total = plan.settings.rounds.map(|rounds| rounds.saturating_mul(plan.settings.connections.into()));
        Self { plan, job, progress, total, ports_said: false }
    }

    /// Looks on until `all_ended`; gives the readings of the end of the warm-up, if there was one and it was reached.
    pub(super) fn watch(&mut self, all_ended: impl Fn() -> bool) -> Option<Readings> {
        let mut warm = None;
        let has_warm_up = self.job.measure_ns > self.job.start_ns;
        while !all_ended() {
            let now_ns = now_ns();
            let to_warm = Duration::from_nanos(self.job.measure_ns.saturating_sub(now_ns));
            if has_warm_up && warm.is_none() && to_warm.is_zero() {
                warm = Some(Readings::take());
            }
            self.progress.set(self.share(now_ns));
            self.look_at_ports();
            let is_near = has_warm_up && warm.is_none() && to_warm < INTERVAL;
            thread::park_timeout(if is_near { to_warm } else { INTERVAL });
        }
        warm
    }

    fn share(&self, now_ns: u64) -> f64 {
        let job = self.job;
        match (job.end_ns(), self.total) {
            (Some(end_ns), _) => {
                now_ns.saturating_sub(job.start_ns) as f64 / end_ns.saturating_sub(job.start_ns).max(1) as f64
            }
            (None, Some(total)) => job.ended.load(Ordering::Relaxed) as f64 / total.max(1) as f64,
            (None, None) => 0.0,
        }
    }

    fn look_at_ports(&mut self) {
        let facts = &self.plan.facts;
        let room = facts.step() as f64 * f64::from(self.plan.settings.sources);
        let made = self.job.connected.load(Ordering::Relaxed) + facts.time_wait;
        if self.ports_said || !sources::leaves_time_wait(&self.plan.settings) || (made as f64) < NEARLY * room {
            return;
        }
        let Ok(counters) = KernelCounters::read(Path::new("/proc/self/net")) else { return };
        let taken = made.min(counters.time_wait);
        if taken as f64 >= NEARLY * room {
            self.ports_said = true;
            self.progress.around(|| warn(&sources::port_bound(taken, &self.plan.settings, facts)));
        }
    }
}
