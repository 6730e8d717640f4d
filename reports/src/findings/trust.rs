//! Whether everything was counted.

use super::{Finding, Severity};
use crate::{
    recording::{Fact, Recording},
    units,
};

pub(super) fn incomplete(recording: &Recording, found: &mut Vec<Finding>) {
    if recording.complete {
        return;
    }
    let why = recording.incomplete_because.as_deref().unwrap_or("no reason was recorded");
    found.push(Finding {
        name: "incomplete",
        severity: Severity::Problem,
        text: match recording.known(Fact::Duration, |known| units::duration(known.duration_ns)) {
            Some(after) => format!("the run is incomplete after {after}: {why}"),
            None => format!("what was read is incomplete: {why}"),
        },
        value: recording.duration_ns as f64,
        unit: "ns",
    });
}

pub(super) fn lost(recording: &Recording, found: &mut Vec<Finding>) {
    for group in &recording.groups {
        let lost = group.loss.total();
        if lost == 0 {
            continue;
        }
        let kinds = group.loss.kinds().into_iter().filter(|&(_, count)| count > 0);
        let kinds: Vec<_> = kinds.map(|(kind, count)| format!("{kind} {}", units::count(count))).collect();
        found.push(Finding {
            name: "lost",
            severity: Severity::Problem,
            text: format!("{}: lost {}: {}", group.name, units::count(lost), kinds.join(", ")),
            value: lost as f64,
            unit: "events",
        });
    }
}

pub(super) fn probes_off(recording: &Recording, found: &mut Vec<Finding>) {
    let off: Vec<&str> =
        recording.probes.iter().filter(|probe| probe.off_because.is_some()).map(|probe| probe.hook.as_str()).collect();
    if off.is_empty() {
        return;
    }
    found.push(Finding {
        name: "probes-off",
        severity: Severity::Warning,
        text: format!(
            "{} of {} off, what they count is missing: {}",
            off.len(),
            units::counted(recording.probes.len() as u64, "probe"),
            off.join(", "),
        ),
        value: off.len() as f64,
        unit: "probes",
    });
}

pub(super) fn imported(recording: &Recording, found: &mut Vec<Finding>) {
    let Some(origin) = &recording.origin else { return };
    let mut words = vec![format!("does not tell {}", origin.unknown_words().join(", "))];
    if !origin.not_kept.is_empty() {
        words.push(format!("printed what is not kept: {}", origin.not_kept.join(", ")));
    }
    let skipped = origin.skipped.len() as u64;
    if skipped > 0 {
        words.push(format!("has {} not understood", units::counted(skipped, "line")));
    }
    found.push(Finding {
        name: "imported",
        severity: if skipped > 0 { Severity::Warning } else { Severity::Note },
        text: format!("read from the output of {}, which {}", origin.tool, words.join("; ")),
        value: skipped as f64,
        unit: "lines",
    });
}
