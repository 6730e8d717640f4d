//! Which charts there are for a run and for several, in the order in which they are shown.

use std::collections::BTreeSet;

use super::{
    Figure, comparison, connect, cpu, heat, latency, listeners, per_request, per_request_of_runs, ports, rate, share,
    sides, states, sweep, time_split, time_wait,
};
use crate::{
    recording::{Group, Recording},
    stats::RunFigures,
};

/// Longest part of a name that comes from a group's name.
const STEM: usize = 40;

/// A chart that was made, or why it was not.
pub struct Chart<'a> {
    /// Part of a file's name that no recording can choose freely.
    pub name: String,
    /// `None` when there is nothing to show.
    pub figure: Option<Figure<'a>>,
    /// What the recording would have to hold.
    pub needs: &'static str,
}

type OfGroup = for<'a> fn(&'a Recording, &str, &'a Group) -> Option<Figure<'a>>;
type OfRun = for<'a> fn(&'a Recording, &str) -> Option<Figure<'a>>;

const OF_GROUP: [(&str, OfGroup, &str); 5] = [
    ("share", share, "system calls with a time"),
    ("latency", latency, "system calls with a distribution of their latency"),
    ("time-split", time_split, "time on a CPU"),
    ("heat", |recording, run, group| heat(recording, run, group), "a series of system calls"),
    ("rate", |recording, run, group| rate(recording, run, group), "a series of system calls"),
];

const OF_RUN: [(&str, OfRun, &str); 8] = [
    ("per-request", |recording, run| per_request(recording, run), "a traced server and a load's result"),
    ("sides", sides, "a traced server and a traced client"),
    ("connect", |recording, run| connect(recording, run), "attempts to connect that were timed"),
    ("listeners", |recording, run| listeners(recording, run), "samples of listen queues"),
    ("tcp-states", states, "changes of TCP states"),
    ("time-wait", |recording, run| time_wait(recording, run), "samples with sockets in TIME_WAIT"),
    ("ports", ports, "local ports in use"),
    ("cpu", |recording, run| cpu(recording, run), "samples of CPU time"),
];

/// All charts of the run named `run`; those of its groups first.
#[must_use]
pub fn of_run<'a>(recording: &'a Recording, run: &str) -> Vec<Chart<'a>> {
    let mut charts = Vec::new();
    for (group, stem) in recording.groups.iter().zip(stems(recording)) {
        charts.extend(OF_GROUP.map(|(kind, chart, needs)| {
            let name = format!("{kind}-{stem}");
            Chart { figure: chart(recording, run, group).map(|figure| figure.named(&name)), name, needs }
        }));
    }
    charts.extend(OF_RUN.map(|(kind, chart, needs)| Chart {
        name: kind.to_owned(),
        figure: chart(recording, run),
        needs,
    }));
    charts
}

/// A part of a name for each group of a run, no two alike.
pub(crate) fn stems(recording: &Recording) -> Vec<String> {
    let mut taken = BTreeSet::new();
    let mut stems = Vec::new();
    for group in &recording.groups {
        let mut stem = stem(&group.name);
        while !taken.insert(stem.clone()) {
            stem.push('_');
        }
        stems.push(stem);
    }
    stems
}

/// All charts of several runs.
#[must_use]
pub fn of_runs(runs: &[RunFigures]) -> Vec<Chart<'_>> {
    let chart = |name: &str, figure, needs| Chart { name: name.to_owned(), figure, needs };
    vec![
        chart("comparison", comparison(runs), "two runs with a load's result"),
        chart("sweep", sweep(runs), "runs whose load differs in a number"),
        chart("per-request", per_request_of_runs(runs), "two runs with a traced server and a load's result"),
    ]
}

/// A group's name as a part of a file's: nothing in it can lead out of the folder.
fn stem(name: &str) -> String {
    let safe = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    let stem: String = name.chars().take(STEM).map(safe).collect();
    if stem.is_empty() { "group".to_owned() } else { stem }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_of_a_group_leads_out_of_the_folder() {
        for name in ["../../etc/passwd", "/", "..", "a\0b", "\u{202e}x", ""] {
            let stem = stem(name);
            assert!(!stem.is_empty() && !stem.contains(['/', '.', '\0']), "{name:?}: {stem}");
        }
        assert_eq!(stem("server"), "server");
    }
}
