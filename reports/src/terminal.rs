//! What stdout is: colours and width are for terminals only. The one place that asks; renderers are told.

use std::{
    env,
    io::{IsTerminal as _, stdout},
};

use terminal_size::{Height, Width, terminal_size_of};

use crate::text::Style;

/// Look of text that goes to stdout.
#[must_use]
pub fn style() -> Style {
    // https://no-color.org: any value but the empty one.
    let no_color = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    Style { color: stdout().is_terminal() && !no_color, width: size().map(|(_, columns)| columns) }
}

/// Rows and columns of the terminal; `None` when stdout is none or does not say.
#[must_use]
pub fn size() -> Option<(usize, usize)> {
    let (Width(columns), Height(rows)) = terminal_size_of(stdout())?;
    Some((rows.into(), columns.into()))
}
