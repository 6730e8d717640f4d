//! One latency in several groups of runs: their distributions as curves in one picture.

use super::{
    axis::LogAxis,
    canvas::{Canvas, Look},
    frame::{self, MARGIN, Words},
    latency::{BOTTOM, LEFT, LEGEND, LEGEND_PITCH, MARKS, RIGHT, TOP, WIDTH, curve, grid},
    palette,
};
use crate::{histogram::Histogram, printable::clipped, units};

/// A group's curve.
pub struct Curve<'a> {
    /// Letter and name of the group.
    pub name: String,
    /// Its runs.
    pub runs: usize,
    /// All their values.
    pub histogram: &'a Histogram,
}

/// The chart of the latency named `owner`; `None` with fewer than two curves. Further groups than colours are left out
/// and said to be.
#[must_use]
pub fn overlay(owner: &str, caption: &str, curves: &[Curve]) -> Option<String> {
    let drawable: Vec<&Curve> = curves.iter().filter(|curve| curve.histogram.buckets().next().is_some()).collect();
    let shown = &drawable[..drawable.len().min(palette::CURVES.len())];
    if shown.len() < 2 {
        return None;
    }
    let low = shown.iter().filter_map(|curve| curve.histogram.min()).min()?;
    let high = shown.iter().filter_map(|curve| curve.histogram.max()).max()?;
    let axis = LogAxis::new(low, high, (LEFT, RIGHT));
    let error = shown.iter().map(|curve| curve.histogram.relative_error()).fold(0.0, f64::max);
    let which = if drawable.len() > shown.len() {
        format!("the first {} of {} groups", shown.len(), drawable.len())
    } else {
        units::counted(shown.len() as u64, "group")
    };
    let words = Words {
        title: format!("{}: how long it took in each group of runs", clipped(owner, 60)),
        subtitle: format!("Share that took at most a given wall time; {which}, all runs of a group together"),
        caption: vec![caption.to_owned(), format!("Times are within {}", units::percent(error))],
    };
    Some(frame::framed(WIDTH, BOTTOM + 42.0, &words, |canvas| {
        grid(canvas, &axis);
        for (number, one) in shown.iter().enumerate().rev() {
            curve(canvas, &axis, one.histogram, number);
        }
        for (number, one) in shown.iter().enumerate() {
            legend(canvas, one, number);
        }
    }))
}

fn legend(canvas: &Canvas, curve: &Curve, number: usize) {
    let y = TOP + 6.0 + LEGEND_PITCH * number as f64;
    let color = palette::CURVES[number];
    canvas.line(&[(LEGEND, y), (LEGEND + 24.0, y)], color, 2.0);
    canvas.mark(MARKS[number % MARKS.len()], (LEGEND + 12.0, y), color);
    let x = LEGEND + 32.0;
    let name = Look::new(frame::NAME, palette::TEXT).bold();
    // Bold letters are wider than the estimate.
    canvas.text((x, y), &clipped(&curve.name, name.columns_in((WIDTH - MARGIN - x) * 0.9)), name);
    let quantile = |q| curve.histogram.quantile(q).map_or("-".to_owned(), units::duration);
    let figures = Look::new(frame::TICK, palette::QUIET);
    let runs = units::counted(curve.runs as u64, "run");
    let text = format!("p50 {}, p99 {}, {runs}", quantile(0.5), quantile(0.99));
    canvas.text((x, y + 16.0), &clipped(&text, figures.columns_in(WIDTH - 6.0 - x)), figures);
}
