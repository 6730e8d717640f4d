//! What every chart has around its data: a title that says what it shows, a line of context, and a caption of how it was
//! measured.

use super::{
    canvas::{self, Canvas, Look, MARKS},
    palette,
};
use crate::{printable::clipped, provenance, recording::Recording};

pub(crate) const MARGIN: f64 = 20.0;
/// Where data may begin.
pub(crate) const TOP: f64 = 84.0;
/// Where a drawing without words begins.
pub(crate) const DRAWING_TOP: f64 = 60.0;
const CAPTION_LINE: f64 = 16.0;

pub(crate) const NAME: f64 = 12.0;
pub(crate) const VALUE: f64 = 11.0;
pub(crate) const TICK: f64 = 10.5;
pub(crate) const TICK_LOOK: Look = Look::new(TICK, palette::TEXT).centered();

/// The words around a chart.
#[derive(Default)]
pub(crate) struct Words {
    pub(crate) title: String,
    pub(crate) subtitle: String,
    pub(crate) caption: Vec<String>,
}

/// Draws `data`, which needs the height from [`TOP`] to `bottom`, in its frame.
pub(crate) fn framed(width: f64, bottom: f64, words: &Words, data: impl FnOnce(&Canvas)) -> String {
    let height = (bottom + 14.0 + CAPTION_LINE * words.caption.len() as f64 + 10.0).ceil();
    let description = format!("{}. {}.", words.subtitle, words.caption.join(". "));
    canvas::draw([0.0, 0.0, width, height], &words.title, &description, |canvas| {
        let line = |y: f64, text: &str, look: Look| {
            canvas.text((MARGIN, y), &clipped(text, look.columns_in(width - 2.0 * MARGIN)), look);
        };
        line(26.0, &words.title, Look::new(17.0, palette::TEXT).bold());
        line(50.0, &words.subtitle, Look::new(12.0, palette::QUIET));
        data(canvas);
        let mut y = bottom + 14.0 + CAPTION_LINE / 2.0;
        for text in &words.caption {
            line(y, text, Look::new(10.5, palette::QUIET));
            y += CAPTION_LINE;
        }
    })
}

/// Which run, on what machine, and whether it can be trusted.
pub(crate) fn how_measured(recording: &Recording, run: &str) -> String {
    let imported = || recording.origin.as_ref().map(|origin| format!("imported from {}", clipped(&origin.tool, 30)));
    let whence = provenance::machine(recording).or_else(imported).unwrap_or_default();
    let flaw = if recording.complete { "" } else { ", INCOMPLETE" };
    format!("Run {}, {}{flaw}", clipped(run, 60), whence)
}

/// The clock of the latencies.
pub(crate) fn clock(recording: &Recording) -> String {
    let clock = &recording.host.clock;
    if clock.is_empty() { "unknown clock".to_owned() } else { clipped(clock, 30) }
}

/// A group's name and its program's.
pub(crate) fn whose(name: &str, label: &str) -> String {
    format!("{} ({})", clipped(name, 30), clipped(label, 40))
}

/// A round number under an axis, in the middle of its position.
pub(crate) fn tick_label(canvas: &Canvas, position: (f64, f64), text: &str) {
    canvas.text(position, &round(text), TICK_LOOK);
}

/// A round number to the left of an upright axis: with an exponent where it would not fit otherwise.
pub(crate) fn value_tick(canvas: &Canvas, position: (f64, f64), value: f64, show: impl Fn(f64) -> String) {
    const COLUMNS: usize = 11;
    let text = round(&show(value));
    let text = if text.len() > COLUMNS { format!("{value:.0e}") } else { text };
    canvas.text(position, &text, Look::new(TICK, palette::TEXT).right());
}

/// The text of a number that is round: `1 us`, not `1.00 us`.
fn round(text: &str) -> String {
    let (number, unit) = text.split_at(text.find(' ').unwrap_or(text.len()));
    if !number.contains('.') {
        return text.to_owned();
    }
    format!("{}{unit}", number.trim_end_matches('0').trim_end_matches('.'))
}

/// A figure beside its bar, on a ground that keeps the grid out of its letters; `end` is how far it may reach.
pub(crate) fn value_label(canvas: &Canvas, (x, middle): (f64, f64), end: f64, text: &str) {
    let look = Look::new(VALUE, palette::TEXT);
    let text = clipped(text, look.columns_in(end - x));
    canvas.bar((x - 3.0, middle - 8.0), (look.pixels(&text) * 0.95 + 3.0, 16.0), palette::PAPER);
    canvas.text((x, middle), &text, look);
}

/// Which curve is which: colour, mark, name in bold, and a remark below that may be empty.
pub(crate) struct Key<'a> {
    pub(crate) number: usize,
    pub(crate) name: &'a str,
    pub(crate) remark: &'a str,
}

/// One entry of a legend; it takes no room beyond `end`.
pub(crate) fn key(canvas: &Canvas, (x, y): (f64, f64), end: f64, entry: &Key) {
    let color = palette::CURVES[entry.number % palette::CURVES.len()];
    canvas.line(&[(x, y), (x + 24.0, y)], color, 2.0);
    canvas.mark(MARKS[entry.number % MARKS.len()], (x + 12.0, y), color);
    let x = x + 32.0;
    let name = Look::new(NAME, palette::TEXT).bold();
    // Bold letters are wider than the estimate.
    canvas.text((x, y), &clipped(entry.name, name.columns_in((end - x) * 0.9)), name);
    let remark = Look::new(TICK, palette::QUIET);
    canvas.text((x, y + 16.0), &clipped(entry.remark, remark.columns_in(end - x)), remark);
}
