//! Many runs, one row each.

use super::{
    grid::Grid,
    page::Page,
    style::{Style, Tone},
};
use crate::{
    printable::{clipped_middle, columns},
    stats::RunFigures,
    units,
};

/// Longest name of a run in the table, and in one that must fit a narrow terminal.
const RUN_COLUMNS: usize = 48;
const RUN_COLUMNS_NARROW: usize = 26;

/// The comparison table of several runs; three tables where one is too wide.
#[must_use]
pub fn overview(runs: &[RunFigures], style: &Style) -> String {
    let mut page = Page::new(style);
    page.heading(&units::counted(runs.len() as u64, "run"));
    // Measured without colour codes, which take no columns.
    let plain = Style { color: false, ..*style };
    let whole = table(runs, RUN_COLUMNS, &[LOAD, LATENCY, COST, TRUST]);
    let too_wide = |width| whole.render(&plain).lines().any(|line| columns(line) > width);
    if style.width.is_some_and(too_wide) {
        page.block(&table(runs, RUN_COLUMNS_NARROW, &[LOAD, TRUST]).render(style));
        page.blank();
        page.block(&table(runs, RUN_COLUMNS_NARROW, &[LATENCY]).render(style));
        page.blank();
        page.block(&table(runs, RUN_COLUMNS_NARROW, &[COST]).render(style));
    } else {
        page.block(&whole.render(style));
    }
    page.prose(
        Tone::Quiet,
        4,
        "  calls, sys time: all system calls of the server (or, without one, of the client), and wall time in those \
         that do not wait by design; /req: of the server, for each successful request",
    );
    let states = [
        ("NO", "the run did not come to its end, or not everything could be read"),
        ("load cut", "the load generator ended early"),
        ("no reply", "not one request was answered"),
    ];
    let seen = states.iter().filter(|(state, _)| runs.iter().any(|run| run.state() == *state));
    let told: Vec<_> = seen.map(|(state, why)| format!("{state}: {why}")).collect();
    if !told.is_empty() {
        page.prose(Tone::Alarm, 4, &format!("  not to be used as they are: {}", told.join("; ")));
    }
    page.finish()
}

type Column = (&'static str, fn(&RunFigures) -> String);

const LOAD: &[Column] = &[
    ("mode", |run| run.mode.map_or("-", crate::bench::Mode::name).to_owned()),
    ("req/s", |run| run.requests_per_s.map_or("-".to_owned(), units::rate)),
    ("ok", |run| optional(run.ok, units::count)),
    ("failed", |run| optional(run.failed, units::count)),
];

const LATENCY: &[Column] = &[
    ("conn p50", |run| optional(run.connect_ns[0], units::duration)),
    ("conn p99", |run| optional(run.connect_ns[1], units::duration)),
    ("req p50", |run| optional(run.request_ns[0], units::duration)),
    ("req p99", |run| optional(run.request_ns[1], units::duration)),
];

const COST: &[Column] = &[
    ("calls", |run| optional(run.calls, units::count)),
    ("sys time", |run| optional(run.working_ns, units::duration)),
    ("sys/req", |run| run.server_ns_per_request.map_or("-".to_owned(), units::duration_f64)),
    ("calls/req", |run| run.server_calls_per_request.map_or("-".to_owned(), units::ratio)),
];

const TRUST: &[Column] =
    &[("lost", |run| optional(run.lost, units::count)), ("complete", |run| run.state().to_owned())];

fn optional(number: Option<u64>, show: fn(u64) -> String) -> String {
    number.map_or("-".to_owned(), show)
}

fn table(runs: &[RunFigures], run_columns: usize, parts: &[&[Column]]) -> Grid {
    let columns = parts.concat();
    let header: Vec<&str> = std::iter::once("run").chain(columns.iter().map(|&(name, _)| name)).collect();
    let mut grid = Grid::new(&[0], &header);
    for run in runs {
        let name = clipped_middle(&run.name, run_columns);
        let cells = std::iter::once(name).chain(columns.iter().map(|(_, show)| show(run))).collect();
        let flawed = run.state() != "yes"
            || run.lost.is_some_and(|lost| lost > 0)
            || run.failed.is_some_and(|failed| failed > 0);
        grid.row(if flawed { Tone::Alarm } else { Tone::Plain }, cells);
    }
    grid
}
