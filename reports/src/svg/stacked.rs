//! Bars of several parts, one row each, with a legend above them.

use super::{
    axis::LinearAxis,
    canvas::{Canvas, Look},
    figure::Figure,
    frame::{self, MARGIN, Words},
    palette,
};
use crate::{printable::clipped_middle, table::Table, units};

const WIDTH: f64 = 900.0;
const BARS: f64 = 252.0;
const BARS_END: f64 = 660.0;
const ROW: f64 = 24.0;
const BAR: f64 = 15.0;
const LEGEND_ROW: f64 = 20.0;
/// Rows that fit a picture one would look at.
pub(super) const ROWS: usize = 40;
/// Longest name in the legend, in columns.
const KIND_COLUMNS: usize = 36;

/// One bar.
pub(super) struct Row {
    pub(super) name: String,
    /// In the order of the kinds.
    pub(super) parts: Vec<f64>,
    pub(super) label: String,
}

/// What is drawn.
pub(super) struct Stacked {
    pub(super) name: &'static str,
    pub(super) words: Words,
    /// Names of the parts; no legend when there is only one.
    pub(super) kinds: Vec<String>,
    /// The last kind is what is left over.
    pub(super) rest: bool,
    /// [`ROWS`] of them are drawn.
    pub(super) rows: Vec<Row>,
    pub(super) show: fn(f64) -> String,
    /// End of the axis; the longest bar's when that is longer.
    pub(super) least_end: f64,
    /// A value to mark, with a word for it.
    pub(super) guide: Option<(f64, &'static str)>,
}

impl Stacked {
    /// The figure with `data` behind it; `None` without a bar.
    pub(super) fn figure<'a>(mut self, data: impl Fn() -> Table + 'a) -> Option<Figure<'a>> {
        self.rows.retain(|row| row.parts.iter().sum::<f64>() > 0.0);
        if self.rows.is_empty() {
            return None;
        }
        if self.rows.len() > ROWS {
            self.words.caption.push(format!("{} further bars are in the data only", self.rows.len() - ROWS));
            self.rows.truncate(ROWS);
        }
        let words = std::mem::take(&mut self.words);
        let bottom = self.bars_top() + ROW * self.rows.len() as f64 + 28.0;
        Some(Figure::new(self.name, words, (WIDTH, bottom), move |canvas| self.paint(canvas), data))
    }

    /// Places of the legend's entries.
    fn legend(&self) -> Vec<(f64, f64)> {
        let mut places = Vec::new();
        let (mut x, mut y) = (MARGIN, frame::TOP - 8.0);
        for kind in &self.kinds {
            let width =
                22.0 + Look::new(frame::VALUE, palette::TEXT).pixels(&clipped_middle(kind, KIND_COLUMNS)) + 14.0;
            if x > MARGIN && x + width > WIDTH - MARGIN {
                (x, y) = (MARGIN, y + LEGEND_ROW);
            }
            places.push((x, y));
            x += width;
        }
        places
    }

    fn bars_top(&self) -> f64 {
        if self.kinds.len() < 2 {
            return frame::TOP + if self.guide.is_some() { 8.0 } else { 0.0 };
        }
        self.legend().last().map_or(frame::TOP, |(_, y)| y + 26.0)
    }

    fn paint(&self, canvas: &Canvas) {
        if self.kinds.len() > 1 {
            for (number, ((x, y), kind)) in self.legend().into_iter().zip(&self.kinds).enumerate() {
                canvas.bar((x, y - 6.0), (14.0, 12.0), self.color(number));
                canvas.text((x + 20.0, y), &clipped_middle(kind, KIND_COLUMNS), Look::new(frame::VALUE, palette::TEXT));
            }
        }
        let (top, bottom) = (self.bars_top(), self.bars_top() + ROW * self.rows.len() as f64);
        let longest = self.rows.iter().map(|row| row.parts.iter().sum::<f64>()).fold(0.0, f64::max);
        let axis = LinearAxis::new(longest.max(self.least_end), (BARS, BARS_END));
        for tick in axis.ticks(frame::TICK_LOOK.pixels(&(self.show)(longest))) {
            canvas.line(&[(axis.at(tick), top - 4.0), (axis.at(tick), bottom + 4.0)], palette::GRID, 1.0);
            frame::tick_label(canvas, (axis.at(tick), bottom + 14.0), &(self.show)(tick));
        }
        if let Some((value, word)) = self.guide {
            canvas.dashed_line(&[(axis.at(value), top - 4.0), (axis.at(value), bottom)], palette::ALARM, 1.2);
            canvas.text((axis.at(value), top - 12.0), word, Look::new(frame::TICK, palette::ALARM).centered());
        }
        for (number, row) in self.rows.iter().enumerate() {
            self.row(canvas, &axis, row, top + ROW * number as f64);
        }
        canvas.line(&[(BARS, top - 4.0), (BARS, bottom)], palette::AXIS, 1.0);
    }

    fn row(&self, canvas: &Canvas, axis: &LinearAxis, row: &Row, top: f64) {
        let middle = top + ROW / 2.0;
        let name = Look::new(frame::NAME, palette::TEXT).right();
        canvas.text((BARS - 10.0, middle), &clipped_middle(&row.name, name.columns_in(BARS - 10.0 - MARGIN)), name);
        let mut from = 0.0;
        for (number, part) in row.parts.iter().enumerate().filter(|(_, part)| **part > 0.0) {
            let (left, right) = (axis.at(from), axis.at(from + part));
            // A line of paper between parts tells them apart without colour.
            let gap = if right - left > 3.0 { 1.0 } else { 0.0 };
            canvas.bar((left, middle - BAR / 2.0), ((right - left - gap).max(0.6), BAR), self.color(number));
            from += part;
        }
        // On the bars' side it would cover the guide.
        let end = if self.guide.is_some() { BARS_END } else { axis.at(from) };
        frame::value_label(canvas, (end + 8.0, middle), WIDTH - 6.0, &row.label);
    }

    /// Of a part; what is left over stands back.
    fn color(&self, number: usize) -> palette::Color {
        let rest = self.rest && number + 1 == self.kinds.len();
        if rest { palette::WAITING } else { palette::CURVES[number % palette::CURVES.len()] }
    }
}

/// A share under an axis.
pub(super) fn share(value: f64) -> String {
    units::percent(value)
}
