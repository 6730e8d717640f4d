//! What tracing itself cost.

use super::{page::Page, style::Tone};
use crate::{
    printable::clipped,
    recording::{OwnCost, ProgramCost, Recording},
    units,
};

pub(super) fn write(page: &mut Page, recording: &Recording, cost: &OwnCost) {
    let calls = recording
        .groups
        .iter()
        .flat_map(|group| &group.syscalls)
        .fold(0u64, |sum, row| sum + row.calls.min(u64::MAX - sum));
    let mut words = Vec::new();
    if let Some(per_call) = &cost.per_call {
        let spent_ns = per_call.traced_ns * calls as f64;
        let machine_ns = (recording.duration_ns as f64 * f64::from(recording.host.cpus.max(1))).max(1.0);
        words.push(format!(
            "{} a traced call ({} any other), {}: {}, {} of all CPUs' time",
            units::duration_f64(per_call.traced_ns),
            units::duration_f64(per_call.bystander_ns),
            units::counted(calls, "call"),
            units::duration_f64(spent_ns),
            units::percent((spent_ns / machine_ns).clamp(0.0, 1.0)),
        ));
    }
    words.push(format!("analyzer itself {}", units::duration(cost.tracer_cpu_ns)));
    words.push(format!("maps {}", units::bytes(cost.map_bytes)));
    page.prose(Tone::Plain, 4, &format!("  own cost: {}", words.join("; ")));
    let runs: Vec<String> = cost.programs.iter().filter_map(program).collect();
    if !runs.is_empty() {
        let share = units::percent(cost.sampled_share);
        page.prose(Tone::Quiet, 4, &format!("  programs, timed for {share} of the run: {}", runs.join(", ")));
    }
}

fn program(cost: &ProgramCost) -> Option<String> {
    let mean = units::duration_f64(cost.mean_ns()?);
    Some(format!("{} {} x {mean}", clipped(&cost.name, super::NAME_COLUMNS), units::count(cost.runs)))
}
