//! Columns of figures without borders, as `perf` and `strace` print them. Layout by `tabled`.
//!
//! Cells must be harmless already: one line, no control characters.

use tabled::{
    builder::Builder,
    settings::{Alignment, Padding, Style as Borders, object::Columns},
};

use super::style::{Style, Tone};
use crate::printable::columns;

/// What is printed before each line of a table.
const INDENT: &str = "  ";

enum Row {
    Cells(Tone, Vec<String>),
    /// A line of dashes.
    Rule,
}

/// A table: numbers to the right, words to the left.
pub(super) struct Grid {
    header: Vec<String>,
    /// Columns of words.
    left: Vec<usize>,
    /// Columns that a table does without when it would not fit otherwise, first to go first.
    spare: Vec<usize>,
    rows: Vec<Row>,
}

impl Grid {
    pub(super) fn new(left: &[usize], header: &[&str]) -> Self {
        let header = header.iter().map(|&name| name.to_owned()).collect();
        Self { header, left: left.to_vec(), spare: Vec::new(), rows: Vec::new() }
    }

    /// Names columns that may be left out of a table that is too wide, first to go first.
    pub(super) fn sparing(mut self, columns: &[usize]) -> Self {
        self.spare = columns.to_vec();
        self
    }

    pub(super) fn row(&mut self, tone: Tone, cells: Vec<String>) {
        self.rows.push(Row::Cells(tone, cells));
    }

    pub(super) fn rule(&mut self) {
        self.rows.push(Row::Rule);
    }

    /// The table; closer together, and without the spare columns, where the width asks for it.
    pub(super) fn render(&self, style: &Style) -> String {
        let lines = self.fitted(style.width);
        let rule = "-".repeat(widest(&lines));
        let mut lines = lines.iter();
        let mut text = String::new();
        let mut put = |tone, line: &str| {
            text.push_str(INDENT);
            text.push_str(&style.paint(tone, line.trim_end()));
            text.push('\n');
        };
        put(Tone::Strong, lines.next().map_or("", String::as_str));
        for row in &self.rows {
            match row {
                Row::Rule => put(Tone::Quiet, &rule),
                Row::Cells(tone, _) => put(*tone, lines.next().map_or("", String::as_str)),
            }
        }
        text
    }

    fn fitted(&self, width: Option<usize>) -> Vec<String> {
        let fits = |lines: &Vec<String>| width.is_none_or(|width| widest(lines) + INDENT.len() <= width);
        let compact = (0..=self.spare.len()).map(|dropped| self.layout(1, true, &self.spare[..dropped]));
        let mut layouts = std::iter::once(self.layout(2, false, &[])).chain(compact);
        layouts.find(fits).unwrap_or_else(|| self.layout(1, true, &self.spare))
    }

    /// One line for the header and one for each row of cells.
    fn layout(&self, gap: usize, compact: bool, dropped: &[usize]) -> Vec<String> {
        let cells = self.rows.iter().filter_map(|row| match row {
            Row::Cells(_, cells) => Some(cells),
            Row::Rule => None,
        });
        let mut builder = Builder::default();
        let kept = |column: &usize| !dropped.contains(column);
        builder.push_record((0..self.header.len()).filter(kept).map(|column| self.header[column].clone()));
        for row in cells {
            builder.push_record((0..row.len()).filter(kept).map(|column| self.cell(column, &row[column], compact)));
        }
        let mut table = builder.build();
        table.with(Borders::empty()).with(Padding::new(0, gap, 0, 0)).with(Alignment::right());
        for &column in &self.left {
            let before = dropped.iter().filter(|&&spare| spare < column).count();
            table.modify(Columns::one(column - before), Alignment::left());
        }
        table.to_string().lines().map(|line| line.trim_end().to_owned()).collect()
    }

    /// Roomy times get units of equal width so that their digits stand in one column; compact ones lose the space.
    fn cell(&self, column: usize, cell: &str, compact: bool) -> String {
        if self.left.contains(&column) {
            cell.to_owned()
        } else if compact {
            cell.replace(' ', "")
        } else if cell.ends_with(" s") {
            format!("{cell} ")
        } else {
            cell.to_owned()
        }
    }
}

fn widest(lines: &[String]) -> usize {
    lines.iter().map(|line| columns(line)).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Grid {
        let mut grid = Grid::new(&[0], &["call", "total"]);
        grid.row(Tone::Plain, vec!["close".into(), "1.23 us".into()]);
        grid.rule();
        grid.row(Tone::Quiet, vec!["epoll_wait".into(), "2.31 s".into()]);
        grid
    }

    #[test]
    fn digits_stand_in_one_column_whatever_the_unit() {
        let style = Style::default();
        let expected = "  call          total\n  close       1.23 us\n  -------------------\n  epoll_wait  2.31 s\n";
        assert_eq!(sample().render(&style), expected);
    }

    #[test]
    fn a_table_moves_together_when_it_is_too_wide() {
        let style = Style { color: false, width: Some(20) };
        assert_eq!(sample().render(&style).lines().nth(1), Some("  close      1.23us"));
    }

    #[test]
    fn a_table_that_is_still_too_wide_does_without_its_spare_columns() {
        let mut grid = Grid::new(&[0], &["call", "p50", "p90", "max"]).sparing(&[2]);
        grid.row(Tone::Plain, vec!["close".into(), "1.23 us".into(), "2.34 us".into(), "3.45 us".into()]);
        let at = |width| grid.render(&Style { color: false, width: Some(width) });
        assert!(at(32).contains("2.34us"));
        assert_eq!(at(24), "  call     p50    max\n  close 1.23us 3.45us\n");
    }

    #[test]
    fn colour_comes_only_when_asked_for() {
        let style = Style { color: true, width: None };
        assert!(sample().render(&style).contains("\x1b[2mepoll_wait"));
        assert!(!sample().render(&Style::default()).contains('\x1b'));
    }
}
