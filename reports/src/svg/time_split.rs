//! What a group's threads did while they were inside their system calls: ran, slept, or waited for a CPU.

use super::{
    figure::{self, Figure},
    frame::{self, Words},
    stacked::{self, Row, Stacked},
};
use crate::{
    recording::{Group, Recording, Syscall},
    stats::ByTime,
    table::{Cell, Table},
    units,
};

/// Wall time of one call's row in four parts, in ns.
struct Parts {
    on_cpu: u64,
    blocked: u64,
    runqueue: u64,
    /// Wall time beyond these.
    unknown: u64,
}

impl Parts {
    /// `None` where it was not measured.
    fn of(row: &Syscall) -> Option<Self> {
        let on_cpu = row.on_cpu.as_ref()?.sum();
        let known = on_cpu.saturating_add(row.blocked_ns).saturating_add(row.runqueue_ns);
        let unknown = row.time_ns().saturating_sub(known);
        let parts = Self { on_cpu, blocked: row.blocked_ns, runqueue: row.runqueue_ns, unknown };
        (known > 0).then_some(parts)
    }

    fn all(&self) -> [u64; 4] {
        [self.on_cpu, self.blocked, self.runqueue, self.unknown]
    }

    fn shares(&self) -> Vec<f64> {
        let total = self.all().iter().map(|&part| part as f64).sum::<f64>().max(1.0);
        self.all().iter().map(|&part| part as f64 / total).collect()
    }
}

/// The chart for one group of the run named `run`; `None` when time on a CPU was not measured.
#[must_use]
pub fn time_split<'a>(recording: &'a Recording, run: &str, group: &'a Group) -> Option<Figure<'a>> {
    let calls = ByTime::of(group);
    let rows: Vec<_> =
        calls.working.into_iter().chain(calls.waiting).filter_map(|row| Some((row, Parts::of(row)?))).collect();
    let bar = |(row, parts): &(&Syscall, Parts)| Row {
        name: format!("{}{}", row.name, if row.waits_by_design() { " *" } else { "" }),
        parts: parts.shares(),
        label: format!("{}, {}", units::duration(row.time_ns()), units::counted(row.calls, "call")),
    };
    let waits = if rows.iter().any(|(row, _)| row.waits_by_design()) { "; * waits by design" } else { "" };
    let words = Words {
        title: format!("What the {} did inside its system calls", frame::whose(&group.name, &group.label)),
        subtitle: "Share of each call's wall time on a CPU, asleep, and ready but waiting for a CPU".into(),
        caption: vec![
            frame::how_measured(recording, run),
            format!("wall time and calls beside each bar, {}{waits}", frame::clock(recording)),
        ],
    };
    let kinds = ["on a CPU", "asleep", "waiting for a CPU", "not told apart"].map(String::from).to_vec();
    let bars = rows.iter().map(bar).collect();
    let chart = Stacked {
        name: "time-split",
        words,
        kinds,
        rest: true,
        rows: bars,
        show: stacked::share,
        least_end: 1.0,
        guide: None,
    };
    chart.figure(move || data(&rows))
}

fn data(rows: &[(&Syscall, Parts)]) -> Table {
    let columns = ["wall", "on a CPU", "asleep", "waiting for a CPU", "not told apart"].map(|name| (name, "ns"));
    let mut table = figure::data(&[&[("syscall", ""), ("calls", "")], columns.as_slice()].concat());
    for (row, parts) in rows {
        let mut cells = vec![Cell::text(&row.name), Cell::Count(row.calls), Cell::ns(row.total_ns)];
        cells.extend(parts.all().map(|part| Cell::ns(Some(part))));
        table.row(cells);
    }
    table
}
