//! Tables of what was counted.

use crate::{
    bench::BenchResult,
    histogram::Histogram,
    printable::command_line,
    provenance,
    recording::{Fact, Group, ListenerQueue, Origin, Recording, Stated, Syscall, Tcp},
    stats::{ByTime, RunFigures},
    svg,
    table::{Cell, Table},
};

pub(super) fn of_run(recording: &Recording) -> Vec<Table> {
    let mut tables = Vec::new();
    for (number, result) in recording.bench.iter().enumerate() {
        let name = if number == 0 { "load".to_owned() } else { format!("load-{}", number + 1) };
        tables.push(load(&name, result, recording));
        if recording.origin.is_none() || result.latency().count() > 0 {
            tables.push(load_latency(&format!("{name}-latency"), result));
        }
    }
    for (group, stem) in recording.groups.iter().zip(svg::stems(recording)) {
        tables.push(syscalls(&format!("syscalls-{stem}"), group, recording));
    }
    if let Some(origin) = recording.origin.as_ref().filter(|origin| !origin.stated.is_empty()) {
        tables.push(stated(origin));
    }
    if let Some(tcp) = &recording.tcp {
        tables.push(counters(tcp));
        if !tcp.listeners.is_empty() {
            tables.push(listeners(&tcp.listeners));
        }
    }
    tables
}

fn stated(origin: &Origin) -> Table {
    let title = format!("As {} printed it, rounded there; no distribution behind it", origin.tool);
    let columns = [("of", ""), ("measure", ""), ("value", "ns"), ("last digit", "ns")];
    let mut table = Table::new("stated", &title, &columns);
    for Stated { owner, measure, value_ns, resolution_ns } in &origin.stated {
        let [value, digit] = [*value_ns, *resolution_ns].map(|ns| Cell::ns(Some(ns)));
        table.row(vec![Cell::text(owner), Cell::text(measure), value, digit]);
    }
    table
}

fn load(name: &str, result: &BenchResult, recording: &Recording) -> Table {
    let known = |fact, cell: Cell| if recording.tells(fact) { cell } else { Cell::Missing };
    let tool = recording.origin.as_ref().map_or("bench", |origin| &origin.tool);
    let settings = &result.settings;
    let mut table =
        Table::new(name, &format!("Load: {tool}, {} mode", settings.mode.name()), &[("figure", ""), ("value", "")]);
    let mut row = |figure: &str, value| table.row(vec![Cell::text(figure), value]);
    row("requests per second", result.requests_per_s().map_or(Cell::Missing, Cell::Number));
    row("successful requests", Cell::Count(result.ok));
    row("failed requests", Cell::Count(result.failures()));
    for (kind, &count) in result.failed.iter().filter(|&(_, &count)| count > 0) {
        row(&format!("failed: {kind}"), Cell::Count(count));
    }
    row("connections established", known(Fact::Connected, Cell::Count(result.connected)));
    row("elapsed", Cell::ns(Some(result.elapsed_ns)));
    row("client CPU time", known(Fact::ClientCpu, Cell::ns(Some(result.client_cpu_ns))));
    row("connections at once", Cell::Count(settings.connections.into()));
    row("bytes of a request", known(Fact::Sizes, Cell::Count(settings.payload_bytes.into())));
    row("client threads", Cell::Count(settings.threads.into()));
    row("timeout", known(Fact::Timeout, Cell::ns(Some(settings.timeout_ns))));
    row("address", Cell::text(&settings.address));
    table
}

const QUANTILES: [(&str, f64); 4] = [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999)];

fn load_latency(name: &str, result: &BenchResult) -> Table {
    let mut table = Table::new(name, "Latency as the load saw it", &[("of", ""), ("n", ""), ("min", "ns")]);
    for (heading, _) in QUANTILES {
        table.column(heading, "ns");
    }
    table.column("max", "ns");
    for (of, histogram) in [("connect", &result.connect), ("request", &result.request)] {
        let mut cells = vec![Cell::text(of), Cell::Count(histogram.count()), Cell::ns(histogram.min())];
        cells.extend(QUANTILES.map(|(_, q)| Cell::ns(histogram.quantile(q))));
        cells.push(Cell::ns(histogram.max()));
        table.row(cells);
    }
    table
}

fn syscalls(name: &str, group: &Group, recording: &Recording) -> Table {
    let program = if group.argv.is_empty() { group.label.clone() } else { command_line(&group.argv) };
    let times = provenance::times(recording);
    let title = format!("System calls of the {} ({program}), {times}; * waits by design", group.name);
    let first = [("syscall", ""), ("calls", ""), ("errors", ""), ("total", "ns"), ("share", ""), ("mean", "ns")];
    let mut table = Table::new(name, &title, &first);
    for (heading, _) in QUANTILES {
        table.column(heading, "ns");
    }
    for (heading, unit) in [("max", "ns"), ("on CPU", "ns"), ("on CPU share", ""), ("error names", "")] {
        table.column(heading, unit);
    }
    let calls = ByTime::of(group);
    let errors = recording.tells(Fact::Errors);
    let working_ns = (calls.working_ns() as f64).max(1.0);
    for row in &calls.working {
        table.row(syscall(row, "", Cell::Share(row.time_ns() as f64 / working_ns), errors));
    }
    for row in &calls.waiting {
        table.row(syscall(row, " *", Cell::Missing, errors));
    }
    table
}

fn syscall(row: &Syscall, mark: &str, share: Cell, errors: bool) -> Vec<Cell> {
    let mut cells = vec![
        Cell::Text(format!("{}{mark}", row.name)),
        Cell::Count(row.calls),
        if errors { Cell::Count(row.errors) } else { Cell::Missing },
        Cell::ns(row.total_ns),
        share,
        row.mean_ns().map_or(Cell::Missing, Cell::Ns),
    ];
    cells.extend(QUANTILES.map(|(_, q)| Cell::ns(row.quantile(q))));
    cells.push(Cell::ns(row.latency.as_ref().and_then(Histogram::max)));
    cells.push(Cell::ns(row.on_cpu.as_ref().map(Histogram::sum)));
    cells.push(row.on_cpu_share().map_or(Cell::Missing, Cell::Share));
    let errnos: Vec<_> = row.errnos.iter().map(|(name, count)| format!("{name} {count}")).collect();
    cells.push(if errnos.is_empty() { Cell::Missing } else { Cell::Text(errnos.join(", ")) });
    cells
}

fn counters(tcp: &Tcp) -> Table {
    let title = "TCP of the whole network namespace: kernel counters that moved";
    let mut table = Table::new("tcp-counters", title, &[("counter", ""), ("change", ""), ("meaning", "")]);
    for (name, &change) in &tcp.counters {
        let meaning = crate::text::meaning(name).map_or(Cell::Missing, Cell::text);
        table.row(vec![Cell::text(name), Cell::Signed(change), meaning]);
    }
    for (name, count) in [("TIME_WAIT before", tcp.time_wait.0), ("TIME_WAIT after", tcp.time_wait.1)] {
        table.row(vec![Cell::text(name), Cell::Count(count), Cell::text("sockets")]);
    }
    table
}

fn listeners(listeners: &[ListenerQueue]) -> Table {
    let columns = [
        ("address", ""),
        ("owner", ""),
        ("backlog", ""),
        ("most waiting", ""),
        ("established", ""),
        ("drops", ""),
        ("accept wait p50", "ns"),
        ("accept wait p99", "ns"),
    ];
    let mut table = Table::new("tcp-listeners", "Listening sockets of the network namespace", &columns);
    for listener in listeners {
        table.row(vec![
            Cell::text(&listener.address),
            listener.owner.as_ref().map_or(Cell::Missing, Cell::text),
            listener.limit.map_or(Cell::Missing, |limit| Cell::Count(limit.into())),
            Cell::Count(listener.queue_high.into()),
            Cell::Count(listener.established),
            listener.drops.map_or(Cell::Missing, Cell::Count),
            Cell::ns(listener.accept_wait.quantile(0.5)),
            Cell::ns(listener.accept_wait.quantile(0.99)),
        ]);
    }
    table
}

pub(super) fn of_runs(runs: &[RunFigures]) -> Table {
    let columns = [
        ("run", ""),
        ("mode", ""),
        ("requests", "per_s"),
        ("ok", ""),
        ("failed", ""),
        ("connect p50", "ns"),
        ("connect p99", "ns"),
        ("request p50", "ns"),
        ("request p99", "ns"),
        ("calls", ""),
        ("time in working calls", "ns"),
        ("server time per request", "ns"),
        ("server calls per request", ""),
        ("lost", ""),
        ("complete", ""),
    ];
    let mut table = Table::new("runs", "All runs, one row each", &columns);
    let count = |number: Option<u64>| number.map_or(Cell::Missing, Cell::Count);
    for run in runs {
        table.row(vec![
            Cell::text(&run.name),
            run.mode.map_or(Cell::Missing, |mode| Cell::text(mode.name())),
            run.requests_per_s.map_or(Cell::Missing, Cell::Number),
            count(run.ok),
            count(run.failed),
            Cell::ns(run.connect_ns[0]),
            Cell::ns(run.connect_ns[1]),
            Cell::ns(run.request_ns[0]),
            Cell::ns(run.request_ns[1]),
            count(run.calls),
            Cell::ns(run.working_ns),
            run.server_ns_per_request.map_or(Cell::Missing, Cell::Ns),
            run.server_calls_per_request.map_or(Cell::Missing, Cell::Number),
            count(run.lost),
            Cell::text(run.state().to_lowercase()),
        ]);
    }
    table
}
