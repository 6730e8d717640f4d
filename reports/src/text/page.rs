//! A page of text under construction: headings, lines that wrap, and facts in three columns.
//!
//! Knows nothing of what is on the page; tables come from `grid`.

use super::style::{Style, Tone};
use crate::printable::columns;

/// Columns of a fact's label, and of its value.
const LABEL: usize = 27;
const VALUE: usize = 11;
/// What a page is wrapped to when the caller names no width.
const READABLE: usize = 100;
/// Below this there is nothing to wrap sensibly.
const NARROWEST: usize = 40;

/// Collects lines; none of them ends in a space.
pub(super) struct Page<'a> {
    style: &'a Style,
    text: String,
}

impl<'a> Page<'a> {
    pub(super) fn new(style: &'a Style) -> Self {
        Self { style, text: String::new() }
    }

    pub(super) fn finish(self) -> String {
        self.text
    }

    fn width(&self) -> usize {
        self.style.width.unwrap_or(READABLE).max(NARROWEST)
    }

    /// A line as it is.
    pub(super) fn line(&mut self, tone: Tone, line: &str) {
        self.text.push_str(&self.style.paint(tone, line.trim_end()));
        self.text.push('\n');
    }

    pub(super) fn blank(&mut self) {
        self.text.push('\n');
    }

    pub(super) fn heading(&mut self, heading: &str) {
        self.line(Tone::Strong, heading);
    }

    /// Prose, wrapped; further lines are indented by `indent` columns.
    pub(super) fn prose(&mut self, tone: Tone, indent: usize, prose: &str) {
        let lead = prose.len() - prose.trim_start().len();
        for (number, line) in wrapped(prose, self.width().saturating_sub(indent.max(lead))).iter().enumerate() {
            let margin = if number == 0 { lead } else { indent };
            self.line(tone, &format!("{:margin$}{line}", ""));
        }
    }

    /// One figure: label, number to the right, and a remark that wraps below itself.
    pub(super) fn fact(&mut self, tone: Tone, label: &str, value: &str, remark: &str) {
        let start = 2 + LABEL + VALUE + 2;
        let padding = VALUE.saturating_sub(columns(value));
        let mut line = self.style.paint(tone, &format!("  {label:LABEL$}{:padding$}{value}", "")).into_owned();
        let mut rest = wrapped(remark, self.width().saturating_sub(start).max(20)).into_iter();
        if let Some(first) = rest.next() {
            line.push_str("  ");
            line.push_str(&self.style.paint(Tone::Quiet, &first));
        }
        self.line(Tone::Plain, &line);
        for more in rest {
            self.line(Tone::Quiet, &format!("{:start$}{more}", ""));
        }
    }

    /// Text that is already laid out.
    pub(super) fn block(&mut self, block: &str) {
        self.text.push_str(block);
    }
}

/// Words in lines of at most `width` columns; a word that is wider stands alone.
fn wrapped(prose: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in prose.split_whitespace() {
        match lines.last_mut() {
            Some(line) if columns(line) + 1 + columns(word) <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_wraps_at_words_and_loses_none() {
        assert_eq!(wrapped("one two three", 7), ["one two", "three"]);
        assert_eq!(wrapped("unbreakable-word x", 5), ["unbreakable-word", "x"]);
        assert!(wrapped("", 5).is_empty());
    }

    #[test]
    fn a_long_remark_stays_in_its_column() {
        let style = Style { color: false, width: Some(60) };
        let mut page = Page::new(&style);
        page.fact(Tone::Plain, "label", "12", "a remark that does not fit at all");
        let text = page.finish();
        assert!(text.lines().count() > 1);
        assert!(text.lines().skip(1).all(|line| line.starts_with(&" ".repeat(42)) && line.len() <= 66), "{text}");
    }
}
