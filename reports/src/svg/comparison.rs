//! Runs beside each other: what the load got, and what it cost the server in system calls.

use super::{
    axis::LinearAxis,
    canvas::{Canvas, Look},
    figure::{self, Figure},
    frame::{self, MARGIN, Words},
    palette,
};
use crate::{
    bench::Mode,
    printable::{clipped, clipped_middle},
    stats::RunFigures,
    table::{Cell, Table},
    units,
};

const WIDTH: f64 = 1100.0;
const HEAD: f64 = 34.0;
const ROW: f64 = 26.0;
const BAR: f64 = 16.0;
/// Rows that fit a picture one would look at.
const SHOWN: usize = 50;
const NAMES_END: f64 = 290.0;
const RATE: Panel = Panel { left: 304.0, right: 530.0, label_end: 626.0 };
const COST: Panel = Panel { left: 640.0, right: 840.0, label_end: 930.0 };
const FLAWS: f64 = 934.0;

struct Panel {
    left: f64,
    right: f64,
    label_end: f64,
}

/// Requests per second and system-call time per request of each run; `None` when fewer than two runs have either.
#[must_use]
pub fn comparison(runs: &[RunFigures]) -> Option<Figure<'_>> {
    let with_data = runs.iter().filter(|run| run.requests_per_s.is_some() || run.server_ns_per_request.is_some());
    if with_data.count() < 2 {
        return None;
    }
    let shown = &runs[..runs.len().min(SHOWN)];
    let bottom = frame::TOP + HEAD + ROW * shown.len() as f64 + 26.0;
    let paint = move |canvas: &Canvas| {
        mode_legend(canvas);
        for (number, run) in shown.iter().enumerate() {
            row_ends(canvas, run, row(number) + ROW / 2.0);
        }
        let rate = |run: &RunFigures| run.requests_per_s;
        panel(canvas, &RATE, shown, ("requests per second", rate, units::rate));
        let cost = |run: &RunFigures| run.server_ns_per_request;
        panel(canvas, &COST, shown, ("server system-call time per request", cost, units::duration_f64));
    };
    Some(Figure::new("comparison", words(runs, shown), (WIDTH, bottom), paint, || data(runs)))
}

fn data(runs: &[RunFigures]) -> Table {
    let mut table =
        figure::data(&[("run", ""), ("mode", ""), ("requests", "per_s"), ("server time per request", "ns")]);
    for run in runs {
        table.row(vec![
            Cell::text(&run.name),
            run.mode.map_or(Cell::Missing, |mode| Cell::text(mode.name())),
            run.requests_per_s.map_or(Cell::Missing, Cell::Number),
            run.server_ns_per_request.map_or(Cell::Missing, Cell::Ns),
        ]);
    }
    table
}

fn words(runs: &[RunFigures], shown: &[RunFigures]) -> Words {
    let ok = shown.iter().filter_map(|run| run.ok).fold(0u64, u64::saturating_add);
    let mut kernels: Vec<&str> = shown.iter().map(|run| run.kernel.as_str()).collect();
    kernels.sort_unstable();
    kernels.dedup();
    let which = if runs.len() > shown.len() {
        format!("the first {} of {} runs, by path", shown.len(), runs.len())
    } else {
        units::counted(runs.len() as u64, "run")
    };
    let requests = units::counted(ok, "successful request");
    Words {
        title: "What each run achieved, and what a request cost the server".into(),
        subtitle:
            "Left: more is better. Right: wall time in the server's working system calls per successful request, \
                   less is better"
                .into(),
        caption: vec![
            format!("{which}, {requests} in all, Linux {}", clipped(&kernels.join(", "), 60)),
            "One bar is one run: without repeats a difference may be noise. Calls that wait by design are left out"
                .into(),
        ],
    }
}

fn row(number: usize) -> f64 {
    frame::TOP + HEAD + ROW * number as f64
}

fn mode_legend(canvas: &Canvas) {
    let look = Look::new(frame::VALUE, palette::TEXT);
    for (x, mode) in [(MARGIN, Mode::Short), (MARGIN + 110.0, Mode::Long)] {
        canvas.bar((x, frame::TOP - 6.0), (12.0, 12.0), palette::mode(Some(mode)));
        canvas.text((x + 18.0, frame::TOP), &format!("{} mode", mode.name()), look);
    }
}

/// Name and what is wrong with the run.
fn row_ends(canvas: &Canvas, run: &RunFigures, middle: f64) {
    let name = Look::new(frame::NAME, palette::TEXT).right();
    let room = name.columns_in(NAMES_END - MARGIN);
    canvas.text((NAMES_END, middle), &clipped_middle(&run.name, room), name);
    let failed = run.failed.is_some_and(|failed| failed > 0);
    let flaws = [(!run.complete, "incomplete"), (run.lost.is_some_and(|lost| lost > 0), "loss"), (failed, "failures")];
    let flaws: Vec<_> = flaws.iter().filter(|(is, _)| *is).map(|&(_, word)| word).collect();
    canvas.text((FLAWS, middle), &flaws.join(", "), Look::new(frame::TICK, palette::ALARM));
}

type Measure = (&'static str, fn(&RunFigures) -> Option<f64>, fn(f64) -> String);

fn panel(canvas: &Canvas, panel: &Panel, runs: &[RunFigures], (heading, figure, show): Measure) {
    let highest = runs.iter().filter_map(figure).fold(0.0, f64::max);
    let axis = LinearAxis::new(highest, (panel.left, panel.right));
    let (top, bottom) = (row(0), row(runs.len()));
    canvas.text((panel.left, frame::TOP + 18.0), heading, Look::new(frame::NAME, palette::TEXT).bold());
    for tick in axis.ticks(frame::TICK_LOOK.pixels(&show(highest))) {
        canvas.line(&[(axis.at(tick), top - 2.0), (axis.at(tick), bottom + 4.0)], palette::GRID, 1.0);
        frame::tick_label(canvas, (axis.at(tick), bottom + 14.0), &show(tick));
    }
    for (number, run) in runs.iter().enumerate() {
        let middle = row(number) + ROW / 2.0;
        let Some(value) = figure(run) else {
            canvas.text((panel.left + 8.0, middle), "no data", Look::new(frame::VALUE, palette::QUIET));
            continue;
        };
        let length = axis.length(value).max(1.0);
        canvas.bar((panel.left, middle - BAR / 2.0), (length, BAR), palette::mode(run.mode));
        frame::value_label(canvas, (panel.left + length + 6.0, middle), panel.label_end, &show(value));
    }
    canvas.line(&[(panel.left, top - 2.0), (panel.left, bottom)], palette::AXIS, 1.0);
}
