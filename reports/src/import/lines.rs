//! A text as numbered lines, and a bounded list of those that were not understood.

use std::borrow::Cow;

use crate::printable::clipped;

/// The lines of a text: any bytes, any line ends.
pub(super) struct Lines<'a> {
    text: Cow<'a, str>,
}

impl<'a> Lines<'a> {
    pub(super) fn of(bytes: &'a [u8]) -> Self {
        Self { text: String::from_utf8_lossy(bytes) }
    }

    /// Numbers from 1, and lines without their ends.
    pub(super) fn numbered(&self) -> impl Iterator<Item = (usize, &str)> {
        (1..).zip(self.text.lines())
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn any(&self, is: impl Fn(&str) -> bool) -> bool {
        self.text.lines().any(is)
    }
}

/// Entries that are kept, and columns of each.
const KEPT: usize = 50;
const COLUMNS: usize = 160;

/// Lines that were not understood. Neighbours that belong to nothing are one entry.
#[derive(Default)]
pub(super) struct Skipped {
    listed: Vec<String>,
    more: usize,
    /// First and last line of a stretch outside of every table, with the first one's text.
    outside: Option<(usize, usize, String)>,
}

impl Skipped {
    /// A line that should have been understood.
    pub(super) fn line(&mut self, number: usize, text: &str) {
        self.close();
        self.list(number, text);
    }

    /// A line with a word on what is wrong.
    pub(super) fn because(&mut self, number: usize, why: &str, text: &str) {
        self.line(number, &format!("{why}: {}", text.trim()));
    }

    /// A line outside of what is read, such as the traced program's own output.
    pub(super) fn outside(&mut self, number: usize, text: &str) {
        if text.trim().is_empty() {
            return;
        }
        match &mut self.outside {
            Some((_, last, _)) => *last = number,
            None => self.outside = Some((number, number, clipped(text.trim(), COLUMNS))),
        }
    }

    /// What was understood comes next: a stretch of strange lines ends.
    pub(super) fn close(&mut self) {
        match self.outside.take() {
            Some((first, last, text)) if first == last => self.list(first, &text),
            Some((first, last, text)) => self.push(format!("{first}-{last}: {text} ...")),
            None => {}
        }
    }

    fn list(&mut self, number: usize, text: &str) {
        self.push(format!("{number}: {}", clipped(text.trim(), COLUMNS)));
    }

    fn push(&mut self, entry: String) {
        if self.listed.len() < KEPT { self.listed.push(entry) } else { self.more += 1 }
    }

    /// `LINE: TEXT` for each, and how many more there were.
    pub(super) fn into_listed(mut self) -> Vec<String> {
        self.close();
        if self.more > 0 {
            self.listed.push(format!("and {} more", self.more));
        }
        self.listed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skipped_lines_are_listed_by_number_and_bounded() {
        let mut skipped = Skipped::default();
        skipped.outside(1, "hello");
        skipped.outside(2, "");
        skipped.outside(3, "more");
        skipped.line(4, "odd\x1b[31m");
        (5..1_000).for_each(|number| skipped.line(number, &"x".repeat(1_000)));
        let listed = skipped.into_listed();
        assert_eq!(listed[0], "1-3: hello ...");
        assert_eq!(listed[1], "4: odd\\u{1b}[31m");
        assert_eq!((listed.len(), listed[50].as_str()), (51, "and 947 more"));
        assert!(listed.iter().all(|entry| entry.len() <= 170));
    }

    #[test]
    fn every_kind_of_line_end_and_any_byte_is_taken() {
        let lines = Lines::of(b"a\r\nb\n\xff\n");
        assert_eq!(lines.numbered().collect::<Vec<_>>(), [(1, "a"), (2, "b"), (3, "\u{fffd}")]);
    }
}
