//! Where a recording comes from, in the lines that head every report. What is not known is named once, never shown as 0.

use crate::{
    printable::clipped,
    recording::{Fact, Host, Origin, Recording},
    units,
};

/// Longest name of a program that is shown, in columns.
const NAME_COLUMNS: usize = 32;

/// The traced programs, or what stands in their place.
pub(crate) fn title(recording: &Recording) -> String {
    let labels: Vec<_> = recording.groups.iter().map(|group| clipped(&group.label, NAME_COLUMNS)).collect();
    match &recording.origin {
        _ if !labels.is_empty() => labels.join(" + "),
        Some(origin) => clipped(&origin.tool, NAME_COLUMNS),
        None => "nothing traced".to_owned(),
    }
}

/// When, for how long, and on what machine; or what was imported.
pub(crate) fn line(recording: &Recording) -> String {
    let mut parts = Vec::new();
    match &recording.origin {
        Some(origin) => {
            let Origin { tool, file, .. } = origin;
            parts.push(format!("imported: {tool}, from {file}, which was written {}", recording.started));
        }
        None => parts.push(recording.started.clone()),
    }
    parts.extend(recording.known(Fact::Duration, |known| format!("for {}", units::duration(known.duration_ns))));
    parts.extend(machine(recording));
    let unknown = [Fact::Duration, Fact::Machine].into_iter().filter(|&fact| !recording.tells(fact));
    let unknown: Vec<_> = unknown.map(Fact::words).collect();
    if !unknown.is_empty() {
        parts.push(format!("not known: {}", unknown.join(", ")));
    }
    parts.join(", ")
}

/// What the times of system calls are.
pub(crate) fn times(recording: &Recording) -> String {
    recording.origin.as_ref().map_or("wall time".to_owned(), |origin| format!("time as {} tells it", origin.tool))
}

/// Kernel, architecture and CPUs; `None` where they are not known.
pub(crate) fn machine(recording: &Recording) -> Option<String> {
    let Host { kernel, arch, cpus, .. } = recording.known(Fact::Machine, |known| &known.host)?;
    let (kernel, arch) = (clipped(kernel, 30), clipped(arch, 12));
    Some(format!("Linux {kernel} {arch}, {}", units::counted(u64::from(*cpus), "CPU")))
}
