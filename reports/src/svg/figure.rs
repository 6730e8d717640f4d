//! A chart before it has a form: its words, how it is drawn, and the data behind it.
//!
//! Files, pages and tables are all made of this one value, and each asks only for what it shows.

use super::{
    canvas::{self, Canvas},
    frame::{self, Words},
};
use crate::table::Table;

/// One chart of a run or of several runs.
pub struct Figure<'a> {
    name: String,
    words: Words,
    /// Width, and where the data ends, in pixels.
    size: (f64, f64),
    paint: Box<dyn Fn(&Canvas) + 'a>,
    data: Box<dyn Fn() -> Table + 'a>,
}

impl<'a> Figure<'a> {
    /// `paint` draws between [`frame::TOP`] and the height of `size`; both functions are called when needed, if at all.
    pub(crate) fn new(
        name: &str,
        words: Words,
        size: (f64, f64),
        paint: impl Fn(&Canvas) + 'a,
        data: impl Fn() -> Table + 'a,
    ) -> Self {
        Self { name: name.to_owned(), words, size, paint: Box::new(paint), data: Box::new(data) }
    }

    /// The same under another name.
    #[must_use]
    pub(crate) fn named(self, name: &str) -> Self {
        Self { name: name.to_owned(), ..self }
    }

    /// What its files are called: a kind, and whose it is.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it shows.
    #[must_use]
    pub fn title(&self) -> &str {
        &self.words.title
    }

    /// How to read it, with the units.
    #[must_use]
    pub fn subtitle(&self) -> &str {
        &self.words.subtitle
    }

    /// What was measured, and how.
    #[must_use]
    pub fn caption(&self) -> &[String] {
        &self.words.caption
    }

    /// The whole of it as an SVG file.
    #[must_use]
    pub fn svg(&self) -> String {
        frame::framed(self.size.0, self.size.1, &self.words, &self.paint)
    }

    /// The drawing alone, for a page that shows the words itself.
    #[must_use]
    pub fn inline_svg(&self) -> String {
        let view = [0.0, frame::DRAWING_TOP, self.size.0, self.size.1 + 6.0 - frame::DRAWING_TOP];
        canvas::draw(view, &self.words.title, &self.words.subtitle, &self.paint)
    }

    /// Width of the drawing in pixels, at which its letters have the size that was meant.
    #[must_use]
    pub fn width(&self) -> f64 {
        self.size.0
    }

    /// The numbers that it shows.
    #[must_use]
    pub fn data(&self) -> Table {
        let mut table = (self.data)();
        table.name.clone_from(&self.name);
        table.title.clone_from(&self.words.title);
        table
    }
}

/// A table of data, which gets its name and title from its figure.
pub(crate) fn data(columns: &[(&str, &str)]) -> Table {
    Table::new("", "", columns)
}
