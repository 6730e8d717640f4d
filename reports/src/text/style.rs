//! How a page may look: colour and width are the caller's decision, because only it knows the terminal.

use std::borrow::Cow;

/// Wish of the caller; the default is plain text of any width.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Style {
    /// ANSI colours: the caller has seen a terminal and no `NO_COLOR`.
    pub color: bool,
    /// Columns to fit into; `None` for as many as it takes.
    pub width: Option<usize>,
}

/// What a piece of text is, which decides its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tone {
    /// As it comes.
    Plain,
    /// Headings and totals.
    Strong,
    /// What should stand back: waiting calls, remarks.
    Quiet,
    /// Loss and failure.
    Alarm,
}

impl Style {
    pub(super) fn paint<'a>(&self, tone: Tone, text: &'a str) -> Cow<'a, str> {
        let code = match tone {
            _ if !self.color || text.is_empty() => return text.into(),
            Tone::Plain => return text.into(),
            Tone::Strong => "1",
            Tone::Quiet => "2",
            Tone::Alarm => "31",
        };
        format!("\x1b[{code}m{text}\x1b[0m").into()
    }
}
