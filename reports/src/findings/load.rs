//! Whether the load was enough, and whether it was the server that was measured.

use super::{Finding, Severity};
use crate::{bench::BenchResult, recording::Recording, units};

/// Below these a run is mostly its own beginning and end.
const SHORTEST_NS: u64 = 1_000_000_000;
const FEWEST: u64 = 1_000;
/// From this share of all client threads' time on, the client is likely what limits the rate.
const CLIENT_BUSY: f64 = 0.9;

/// Result after result; a number tells them apart when there are several.
fn each(recording: &Recording) -> impl Iterator<Item = (String, &BenchResult)> {
    let several = recording.bench.len() > 1;
    let tool = recording.origin.as_ref().map_or("bench", |origin| &origin.tool);
    let name = move |number: usize| if several { format!("{tool} {}: ", number + 1) } else { format!("{tool}: ") };
    recording.bench.iter().enumerate().map(move |(number, result)| (name(number), result))
}

pub(super) fn partial(recording: &Recording, found: &mut Vec<Finding>) {
    for (name, result) in each(recording).filter(|(_, result)| result.partial) {
        found.push(Finding {
            name: "partial-load",
            severity: Severity::Warning,
            text: format!("{name}ended early, its figures are of the {} it did", units::counted(result.ok, "request")),
            value: result.ok as f64,
            unit: "requests",
        });
    }
}

pub(super) fn failures(recording: &Recording, found: &mut Vec<Finding>) {
    for (name, result) in each(recording) {
        let failed = result.failures();
        if failed == 0 {
            continue;
        }
        let kinds = result.failed.iter().filter(|&(_, &count)| count > 0);
        let kinds: Vec<_> = kinds.map(|(kind, &count)| format!("{kind} {}", units::count(count))).collect();
        let share = failed as f64 / (failed as f64 + result.ok as f64);
        found.push(Finding {
            name: "failures",
            severity: Severity::Warning,
            text: format!(
                "{name}{} failed ({}): {}",
                units::counted(failed, "request"),
                units::percent(share),
                kinds.join(", ")
            ),
            value: failed as f64,
            unit: "requests",
        });
    }
}

pub(super) fn too_short(recording: &Recording, found: &mut Vec<Finding>) {
    for (name, result) in each(recording) {
        let short = result.elapsed_ns < SHORTEST_NS;
        if !short && result.ok >= FEWEST {
            continue;
        }
        let (value, unit) = if short { (result.elapsed_ns as f64, "ns") } else { (result.ok as f64, "requests") };
        found.push(Finding {
            name: "too-short",
            severity: Severity::Warning,
            text: format!(
                "{name}{} in {}: short of 1,000 requests and 1 s, a longer run varies less",
                units::counted(result.ok, "request"),
                units::duration(result.elapsed_ns),
            ),
            value,
            unit,
        });
    }
}

pub(super) fn client_bound(recording: &Recording, found: &mut Vec<Finding>) {
    for (name, result) in each(recording).filter(|(_, result)| result.elapsed_ns > 0) {
        let threads = f64::from(result.settings.threads.max(1));
        let busy = result.client_cpu_ns as f64 / result.elapsed_ns as f64 / threads;
        if busy < CLIENT_BUSY {
            continue;
        }
        found.push(Finding {
            name: "client-bound",
            severity: Severity::Warning,
            text: format!(
                "{name}the client used {} of the CPU time that {} can: it may be the limit, not the server",
                units::percent(busy),
                units::counted(result.settings.threads.into(), "thread"),
            ),
            value: busy,
            unit: "share",
        });
    }
}
