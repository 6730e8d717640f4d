//! What the figures do not contain: said in every output, also when it is nothing.

use super::{page::Page, style::Tone};
use crate::{
    histogram::{self, Histogram},
    printable::{clipped, printable},
    recording::{Group, Probe, Recording},
    units,
};

pub(super) fn write(page: &mut Page, recording: &Recording) {
    let lost = recording.groups.iter().fold(0u64, |lost, group| lost.saturating_add(group.loss.total()));
    let tracked = recording.tcp.as_ref().and_then(|tcp| tcp.tracked).unwrap_or_default();
    let lost = lost.saturating_add(tracked.let_go).saturating_add(tracked.lost);
    match (recording.complete, lost) {
        (true, 0) => page.heading("complete: no event was lost"),
        (true, _) => page.line(Tone::Alarm, &format!("complete, but lost {}", units::count(lost))),
        (false, _) => {
            let why = recording.incomplete_because.as_deref().unwrap_or("no reason was recorded");
            page.prose(Tone::Alarm, 2, &format!("incomplete: {}", printable(why)));
        }
    }
    for group in &recording.groups {
        loss(page, group);
    }
    if tracked.let_go > 0 || tracked.lost > 0 {
        let (let_go, late) = (units::count(tracked.let_go), units::count(tracked.lost));
        page.prose(
            Tone::Alarm,
            4,
            &format!("  TCP: connections not followed {let_go}, records fetched too late {late}"),
        );
    }
    probes(page, &recording.probes);
    page.prose(Tone::Quiet, 2, &format!("  {}", error_bound(recording)));
}

fn loss(page: &mut Page, group: &Group) {
    let name = clipped(&group.name, super::NAME_COLUMNS);
    let lost = group.loss.total();
    let kinds = group.loss.kinds().into_iter().filter(|&(_, count)| count > 0);
    let kinds: Vec<_> = kinds.map(|(kind, count)| format!("{kind} {}", units::count(count))).collect();
    let tone = if lost > 0 { Tone::Alarm } else { Tone::Plain };
    let detail = if kinds.is_empty() { String::new() } else { format!(": {}", kinds.join(", ")) };
    page.prose(tone, 4, &format!("  {name}: lost {}{detail}", units::count(lost)));
}

fn probes(page: &mut Page, probes: &[Probe]) {
    let off = probes.iter().filter(|probe| probe.off_because.is_some()).count();
    let tone = if off > 0 { Tone::Alarm } else { Tone::Plain };
    page.line(tone, &format!("  probes: {} attached, {off} off", probes.len() - off));
    for probe in probes {
        if let Some(why) = &probe.off_because {
            let text =
                format!("    {} ({}) is off: {}", printable(&probe.hook), printable(&probe.kind), printable(why));
            page.prose(Tone::Plain, 6, &text);
        }
    }
}

/// Of the percentiles above; counts, totals, means, minima and maxima are exact.
fn error_bound(recording: &Recording) -> String {
    let worst = |histograms: &mut dyn Iterator<Item = &Histogram>, usual: u8| {
        let errors = histograms.map(Histogram::relative_error).fold(0.0, f64::max);
        units::percent(if errors > 0.0 { errors } else { Histogram::new(usual).relative_error() })
    };
    let calls = recording.groups.iter().flat_map(|group| &group.syscalls);
    let syscalls = worst(&mut calls.filter_map(|call| call.latency.as_ref()), histogram::KERNEL);
    let load =
        worst(&mut recording.bench.iter().flat_map(|result| [&result.connect, &result.request]), histogram::FINE);
    let bench = if recording.bench.is_empty() { String::new() } else { format!(" (bench: {load})") };
    format!(
        "percentiles are within {syscalls}{bench}; counts, totals, mean, min and max are exact; times are wall time"
    )
}
