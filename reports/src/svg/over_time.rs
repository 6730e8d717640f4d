//! Curves over the time of a run, in strips below each other that share the axis of time.

use std::rc::Rc;

use super::{
    axis::LinearAxis,
    canvas::{Canvas, Look, MARKS},
    figure::{self, Figure},
    frame::{self, Key, Words},
    palette,
};
use crate::{
    table::{Cell, Table},
    units,
};

const WIDTH: f64 = 860.0;
const LEFT: f64 = 92.0;
const RIGHT: f64 = 600.0;
const LEGEND: f64 = 620.0;
const HEIGHT: f64 = 158.0;
const PITCH: f64 = HEIGHT + 58.0;
const TOP: f64 = frame::TOP + 12.0;
const LEGEND_PITCH: f64 = 32.0;
/// Curves of one strip: what its legend has room for.
pub(super) const CURVES: usize = 5;
/// Up to so many points each has a mark.
const MARKED: usize = 16;

/// One curve.
pub(super) struct Line {
    pub(super) name: String,
    /// One for each moment; what is not finite is a gap.
    pub(super) values: Vec<f64>,
}

/// Curves with one scale.
pub(super) struct Strip {
    pub(super) heading: &'static str,
    /// Unit of the values, for the data: `per_s`.
    pub(super) unit: &'static str,
    pub(super) show: fn(f64) -> String,
    /// At most [`CURVES`] are drawn.
    pub(super) lines: Vec<Line>,
}

/// What is drawn.
pub(super) struct OverTime {
    pub(super) name: &'static str,
    pub(super) words: Words,
    /// Moments since the start, in ns.
    pub(super) at_ns: Vec<f64>,
    pub(super) strips: Vec<Strip>,
}

impl OverTime {
    /// The figure; `None` when there is not one value.
    pub(super) fn figure(mut self) -> Option<Figure<'static>> {
        self.strips.retain(|strip| strip.lines.iter().any(|line| line.values.iter().any(|value| value.is_finite())));
        if self.strips.is_empty() || self.at_ns.is_empty() {
            return None;
        }
        let bottom = TOP + PITCH * self.strips.len() as f64;
        let words = std::mem::take(&mut self.words);
        // Drawn and told from the same values.
        let (drawn, told) = {
            let both = Rc::new(self);
            (Rc::clone(&both), both)
        };
        Some(Figure::new(drawn.name, words, (WIDTH, bottom), move |canvas| drawn.paint(canvas), move || told.data()))
    }

    fn paint(&self, canvas: &Canvas) {
        let end = self.at_ns.iter().copied().filter(|at| at.is_finite()).fold(0.0, f64::max);
        let time = LinearAxis::new(end, (LEFT, RIGHT));
        for (number, strip) in self.strips.iter().enumerate() {
            let top = TOP + PITCH * number as f64;
            self.strip(canvas, &time, strip, top);
        }
        let bottom = TOP + PITCH * self.strips.len() as f64;
        let look = Look::new(frame::VALUE, palette::QUIET).centered();
        canvas.text((f64::midpoint(LEFT, RIGHT), bottom - 16.0), "time since the start", look);
    }

    fn strip(&self, canvas: &Canvas, time: &LinearAxis, strip: &Strip, top: f64) {
        let bottom = top + HEIGHT;
        let shown = &strip.lines[..strip.lines.len().min(CURVES)];
        let highest = shown.iter().map(Line::peak).fold(0.0, f64::max);
        let scale = LinearAxis::new(highest, (0.0, HEIGHT - 6.0));
        canvas.text((LEFT, top - 14.0), strip.heading, Look::new(frame::NAME, palette::TEXT).bold());
        for tick in time.ticks(frame::TICK_LOOK.pixels(&units::duration_f64(time.end()))) {
            canvas.line(&[(time.at(tick), top), (time.at(tick), bottom + 4.0)], palette::GRID, 1.0);
            frame::tick_label(canvas, (time.at(tick), bottom + 14.0), &units::duration_f64(tick));
        }
        for tick in scale.ticks(24.0) {
            let y = bottom - scale.length(tick);
            canvas.line(&[(LEFT - 4.0, y), (RIGHT, y)], palette::GRID, 1.0);
            frame::value_tick(canvas, (LEFT - 8.0, y), tick, strip.show);
        }
        canvas.line(&[(LEFT, top), (LEFT, bottom), (RIGHT, bottom)], palette::AXIS, 1.0);
        for (number, line) in shown.iter().enumerate() {
            self.curve(canvas, line, number, |at, value| (time.at(at), bottom - scale.length(value)));
            let remark = format!("at most {}", (strip.show)(line.peak()));
            let at = (LEGEND, top + 6.0 + LEGEND_PITCH * number as f64);
            frame::key(canvas, at, WIDTH - 8.0, &Key { number, name: &line.name, remark: &remark });
        }
    }

    fn curve(&self, canvas: &Canvas, line: &Line, number: usize, place: impl Fn(f64, f64) -> (f64, f64)) {
        let color = palette::CURVES[number % palette::CURVES.len()];
        let points: Vec<(f64, f64)> = self.at_ns.iter().copied().zip(line.values.iter().copied()).collect();
        for part in points.split(|(at, value)| !at.is_finite() || !value.is_finite()) {
            let part: Vec<_> = part.iter().map(|&(at, value)| place(at, value)).collect();
            if part.len() > 1 {
                canvas.line(&part, color, 1.8);
            }
            if points.len() <= MARKED || part.len() == 1 {
                for &point in &part {
                    canvas.mark(MARKS[number % MARKS.len()], point, color);
                }
            }
        }
    }

    fn data(&self) -> Table {
        let mut table = figure::data(&[("time", "ns")]);
        let lines: Vec<(&Strip, &Line)> =
            self.strips.iter().flat_map(|strip| strip.lines.iter().map(move |line| (strip, line))).collect();
        for (strip, line) in &lines {
            let heading =
                if self.strips.len() > 1 { format!("{}: {}", strip.heading, line.name) } else { line.name.clone() };
            table.column(&heading, strip.unit);
        }
        for (moment, &at) in self.at_ns.iter().enumerate() {
            let values =
                lines.iter().map(|(_, line)| line.values.get(moment).map_or(Cell::Missing, |v| Cell::Number(*v)));
            table.row(std::iter::once(Cell::Ns(at)).chain(values).collect());
        }
        table
    }
}

impl Line {
    fn peak(&self) -> f64 {
        self.values.iter().copied().filter(|value| value.is_finite()).fold(0.0, f64::max)
    }
}
