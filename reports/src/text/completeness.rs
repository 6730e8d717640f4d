//! What the figures do not contain: said in every output, also when it is nothing.

use super::{page::Page, style::Tone};
use crate::{
    histogram::{self, Histogram},
    printable::{clipped, printable},
    recording::{Fact, Group, Probe, Recording},
    units,
};

pub(super) fn write(page: &mut Page, recording: &Recording) {
    let tracked = recording.tcp.as_ref().and_then(|tcp| tcp.tracked).unwrap_or_default();
    let lost = recording.lost().map(|lost| lost.saturating_add(tracked.let_go).saturating_add(tracked.lost));
    match (recording.complete, lost) {
        (true, Some(0)) => page.heading("complete: no event was lost"),
        (true, Some(lost)) => page.line(Tone::Alarm, &format!("complete, but lost {}", units::count(lost))),
        (true, None) => page.heading("what was read is whole; whether events were lost is not known"),
        (false, _) => {
            let why = recording.incomplete_because.as_deref().unwrap_or("no reason was recorded");
            page.prose(Tone::Alarm, 2, &format!("incomplete: {}", printable(why)));
        }
    }
    if recording.tells(Fact::Loss) {
        recording.groups.iter().for_each(|group| loss(page, group));
    }
    if tracked.let_go > 0 || tracked.lost > 0 {
        let (let_go, late) = (units::count(tracked.let_go), units::count(tracked.lost));
        page.prose(
            Tone::Alarm,
            4,
            &format!("  TCP: connections not followed {let_go}, records fetched too late {late}"),
        );
    }
    if recording.origin.is_none() {
        probes(page, &recording.probes);
    }
    if let Some(bound) = error_bound(recording) {
        page.prose(Tone::Quiet, 2, &format!("  {bound}"));
    }
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

/// Of the percentiles above; counts, totals, means, minima and maxima are exact. `None` where another tool made the
/// figures and there is no distribution.
fn error_bound(recording: &Recording) -> Option<String> {
    let calls = || recording.groups.iter().flat_map(|group| &group.syscalls).filter_map(|call| call.latency.as_ref());
    let load = || recording.bench.iter().flat_map(|result| [&result.connect, &result.request]);
    if recording.origin.is_some() && !calls().chain(load()).any(Histogram::is_told) {
        return None;
    }
    let worst = |histograms: &mut dyn Iterator<Item = &Histogram>, usual: u8| {
        let errors = histograms.map(Histogram::relative_error).fold(0.0, f64::max);
        units::percent(if errors > 0.0 { errors } else { Histogram::new(usual).relative_error() })
    };
    let of_calls = worst(&mut calls(), histogram::KERNEL);
    let of_load = worst(&mut load(), histogram::FINE);
    let within = match (recording.bench.is_empty(), recording.groups.is_empty() && recording.origin.is_some()) {
        (true, _) => of_calls,
        (false, false) => format!("{of_calls} (bench: {of_load})"),
        (false, true) => of_load,
    };
    Some(format!("percentiles are within {within}; counts, totals, mean, min and max are exact; times are wall time"))
}
