//! A table as CSV (RFC 4180): numbers whole and in the unit that the column's name tells.

use crate::{
    printable::printable,
    table::{Cell, Table},
};

/// The text of a file.
#[must_use]
pub fn table(table: &Table) -> String {
    let mut text = String::new();
    line(&mut text, table.columns.iter().map(|column| quoted(&harmless(&column.key))));
    for row in &table.rows {
        line(&mut text, row.iter().map(cell));
    }
    text
}

fn line(text: &mut String, cells: impl Iterator<Item = String>) {
    text.push_str(&cells.collect::<Vec<_>>().join(","));
    text.push_str("\r\n");
}

fn cell(cell: &Cell) -> String {
    match cell {
        Cell::Text(text) => quoted(&harmless(text)),
        number => number.exact(),
    }
}

/// One line without control characters, and nothing that a spreadsheet takes for a formula.
fn harmless(text: &str) -> String {
    let text = printable(text);
    let begins_a_formula =
        text.trim_start().starts_with(['=', '+', '-', '@', '\u{ff1d}', '\u{ff0b}', '\u{ff0d}', '\u{ff20}']);
    if begins_a_formula { format!("'{text}") } else { text }
}

fn quoted(text: &str) -> String {
    if text.contains([',', '"', ';', ' ']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_becomes_a_formula_and_numbers_stay_numbers() {
        for text in ["=1+1", "+1", "-1", "@SUM(A1)", " =1", "\u{ff1d}1"] {
            assert!(cell(&Cell::text(text)).trim_start_matches('"').starts_with('\''), "{text}");
        }
        assert_eq!(cell(&Cell::Signed(-5)), "-5");
        assert_eq!(cell(&Cell::Ns(1.5)), "1.5");
        assert_eq!(cell(&Cell::Ns(f64::NAN)), "");
        assert_eq!(cell(&Cell::text("a\"b\n,")), r#""a""b\n,""#);
    }
}
