//! What stdout is: colours and width are for terminals only.

use std::{
    env,
    io::{IsTerminal as _, stdout},
};

use reports::text::Style;

/// Look of printed tables.
pub(crate) fn style() -> Style {
    let is_terminal = stdout().is_terminal();
    // https://no-color.org: any value but the empty one.
    let no_color = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    Style { color: is_terminal && !no_color, width: size().map(|(_, columns)| columns) }
}

/// Rows and columns of the terminal; `None` when stdout is none or does not say.
pub(crate) fn size() -> Option<(usize, usize)> {
    let size = rustix::termios::tcgetwinsize(stdout()).ok()?;
    (size.ws_row > 0 && size.ws_col > 0).then(|| (size.ws_row.into(), size.ws_col.into()))
}
