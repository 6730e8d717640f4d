//! What tracing itself took from the run.

use super::{Finding, Severity};
use crate::{recording::Recording, units};

/// From this share of the machine's time on, the cost changes what is measured.
const LARGE: f64 = 0.05;

fn severity(share: f64) -> Severity {
    if share >= LARGE { Severity::Warning } else { Severity::Note }
}

/// CPU time of the whole machine during the run, in ns.
fn machine_ns(recording: &Recording) -> f64 {
    (recording.duration_ns as f64 * f64::from(recording.host.cpus.max(1))).max(1.0)
}

pub(super) fn per_call(recording: &Recording, found: &mut Vec<Finding>) {
    let Some(cost) = recording.own_cost.as_ref().and_then(|cost| cost.per_call) else { return };
    let rows = recording.groups.iter().flat_map(|group| &group.syscalls);
    let calls = rows.fold(0u64, |sum, row| sum.saturating_add(row.calls));
    let share = cost.traced_ns * calls as f64 / machine_ns(recording);
    if !share.is_finite() {
        return;
    }
    found.push(Finding {
        name: "probe-cost",
        severity: severity(share),
        text: format!(
            "tracing added about {} to each of {}: {} of the machine's time",
            units::duration_f64(cost.traced_ns),
            units::counted(calls, "call"),
            units::percent(share),
        ),
        value: share,
        unit: "share",
    });
}

pub(super) fn tracer(recording: &Recording, found: &mut Vec<Finding>) {
    let Some(cost) = &recording.own_cost else { return };
    let share = cost.tracer_cpu_ns as f64 / machine_ns(recording);
    if share < LARGE {
        return;
    }
    found.push(Finding {
        name: "tracer-cost",
        severity: Severity::Warning,
        text: format!(
            "the tracer's own process took {} of CPU time: {} of the machine's",
            units::duration(cost.tracer_cpu_ns),
            units::percent(share),
        ),
        value: share,
        unit: "share",
    });
}

pub(super) fn timed_share(recording: &Recording, found: &mut Vec<Finding>) {
    let Some(share) = recording.own_cost.as_ref().map(|cost| cost.sampled_share) else { return };
    if !share.is_finite() || share <= 0.0 {
        return;
    }
    found.push(Finding {
        name: "kernel-timed",
        severity: Severity::Note,
        text: format!(
            "the kernel timed the probes in {} of the run, where each call took a little longer",
            units::percent(share)
        ),
        value: share,
        unit: "share",
    });
}
