//! How a run was measured: what a reader needs to judge its figures, or to make them again.

use crate::{
    printable::command_line,
    recording::{Fact, OwnCost, Recording},
    table::{Cell, Table},
    units,
};

pub(super) fn tables(recording: &Recording) -> Vec<Table> {
    let mut tables = vec![machine(recording), loss(recording)];
    if !recording.probes.is_empty() {
        tables.push(probes(recording));
    }
    if let Some(cost) = &recording.own_cost {
        tables.push(own_cost(cost));
    }
    tables
}

fn machine(recording: &Recording) -> Table {
    let mut table = Table::new("machine", "Machine and settings", &[("what", ""), ("value", "")]);
    let mut row = |what: &str, value| table.row(vec![Cell::text(what), value]);
    let known = |fact, cell: Cell| if recording.tells(fact) { cell } else { Cell::Missing };
    let host = &recording.host;
    row("started", known(Fact::Start, Cell::text(&recording.started)));
    row("duration", known(Fact::Duration, Cell::ns(Some(recording.duration_ns))));
    if recording.origin.is_none() {
        row("command", Cell::Text(command_line(&recording.argv)));
    }
    row("kernel", known(Fact::Machine, Cell::text(&host.kernel)));
    row("architecture", known(Fact::Machine, Cell::text(&host.arch)));
    row("CPUs", known(Fact::Machine, Cell::Count(host.cpus.into())));
    row("clock of latencies", known(Fact::Machine, Cell::text(&host.clock)));
    row("tool", Cell::Text(format!("analyzer {}, schema {}", recording.tool, recording.schema)));
    if !recording.selection.is_empty() {
        row("only these calls were counted", Cell::Text(recording.selection.join(", ")));
    }
    if recording.count_only {
        row("clock", Cell::text("not read: counts and errors only"));
    }
    if let Some(origin) = &recording.origin {
        row("imported from", Cell::Text(format!("{}, {}", origin.tool, origin.file)));
        row("file written", Cell::text(&recording.started));
        row("not known", Cell::Text(origin.unknown_words().join("; ")));
        if !origin.not_kept.is_empty() {
            row("printed, but not kept", Cell::Text(origin.not_kept.join("; ")));
        }
        if !origin.skipped.is_empty() {
            row("lines not understood", Cell::Text(origin.skipped.join("; ")));
        }
    }
    for (name, value) in &recording.sysctls {
        row(name, Cell::text(value));
    }
    table
}

/// Of every group, also when it is nothing.
fn loss(recording: &Recording) -> Table {
    let mut table = Table::new("loss", "What was not counted", &[("group", ""), ("what", ""), ("events", "")]);
    for group in &recording.groups {
        let kinds = group.loss.kinds();
        for (kind, count) in kinds.into_iter().filter(|&(_, count)| count > 0) {
            table.row(vec![Cell::text(&group.name), Cell::text(kind), Cell::Count(count)]);
        }
        let total = if recording.tells(Fact::Loss) { Cell::Count(group.loss.total()) } else { Cell::Missing };
        table.row(vec![Cell::text(&group.name), Cell::text("in all"), total]);
    }
    table
}

fn probes(recording: &Recording) -> Table {
    let mut table = Table::new("probes", "Probes", &[("hook", ""), ("kind", ""), ("state", "")]);
    for probe in &recording.probes {
        let state = probe.off_because.as_ref().map_or("attached".to_owned(), |why| format!("off: {why}"));
        table.row(vec![Cell::text(&probe.hook), Cell::text(&probe.kind), Cell::Text(state)]);
    }
    table
}

fn own_cost(cost: &OwnCost) -> Table {
    let mut table = Table::new("own-cost", "What tracing itself cost", &[("what", ""), ("value", ""), ("remark", "")]);
    let mut row = |what: &str, value, remark: String| table.row(vec![Cell::text(what), value, Cell::Text(remark)]);
    if let Some(call) = cost.per_call {
        let how = format!("least of {} repeats of {}", call.repeats, units::counted(call.calls, "call"));
        row("added to a traced call", Cell::Ns(call.traced_ns), how.clone());
        row("added to a call of another process", Cell::Ns(call.bystander_ns), how);
    }
    row("CPU time of the tracer", Cell::ns(Some(cost.tracer_cpu_ns)), String::new());
    row("memory of the maps, bytes", Cell::Count(cost.map_bytes), String::new());
    row("share of the run in which the kernel timed the probes", Cell::Share(cost.sampled_share), String::new());
    for program in &cost.programs {
        let remark = format!(
            "mean time of {}; {} instructions, {} bytes",
            units::counted(program.runs, "run"),
            units::count(program.verified_instructions.into()),
            units::count(program.jited_bytes.into()),
        );
        row(&program.name, program.mean_ns().map_or(Cell::Missing, Cell::Ns), remark);
    }
    table
}
