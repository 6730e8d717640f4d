//! A report as JSON: the findings, and every table by its name, with keys that tell the units.

use std::io;

use serde_json::{Map, Value, json, ser::Formatter};

use crate::{document::Document, printable::is_harmful, table::Table};

/// The whole of it as one value.
#[must_use]
pub fn document(document: &Document) -> Value {
    let by_name = |tables: &[Table]| -> Map<String, Value> {
        tables.iter().map(|table| (table.name.clone(), rows(table))).collect()
    };
    let figures = document.charts.iter().filter_map(|chart| chart.figure.as_ref());
    let figures: Vec<Value> = figures
        .map(|figure| {
            json!({
                "name": figure.name(),
                "title": figure.title(),
                "subtitle": figure.subtitle(),
                "caption": figure.caption(),
                "data": rows(&figure.data()),
            })
        })
        .collect();
    let left_out: Vec<Value> =
        document.left_out().map(|(name, needs)| json!({ "name": name, "needs": needs })).collect();
    json!({
        "title": document.title,
        "lead": document.lead,
        "findings": document.findings,
        "tables": by_name(&document.tables),
        "figures": figures,
        "left_out": left_out,
        "measured": by_name(&document.measured),
    })
}

fn rows(table: &Table) -> Value {
    let row = |cells: &Vec<crate::table::Cell>| -> Value {
        let keys = table.columns.iter().map(|column| column.key.clone());
        keys.zip(cells.iter().map(crate::table::Cell::json)).collect::<Map<String, Value>>().into()
    };
    table.rows.iter().map(row).collect::<Vec<Value>>().into()
}

/// Writes `value` so that no text in it can steer a terminal: what is not printable is escaped, and reads back as it was.
///
/// # Errors
/// When `out` cannot be written to.
pub fn write(out: &mut impl io::Write, value: &Value) -> io::Result<()> {
    let mut serializer = serde_json::Serializer::with_formatter(out, Harmless);
    serde::Serialize::serialize(value, &mut serializer).map_err(io::Error::from)
}

struct Harmless;

impl Formatter for Harmless {
    fn write_string_fragment<W: ?Sized + io::Write>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        let mut rest = fragment;
        while let Some((position, character)) = rest.char_indices().find(|&(_, character)| is_harmful(character)) {
            writer.write_all(&rest.as_bytes()[..position])?;
            for unit in character.encode_utf16(&mut [0; 2]) {
                write!(writer, "\\u{unit:04x}")?;
            }
            rest = &rest[position + character.len_utf8()..];
        }
        writer.write_all(rest.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_steer_a_terminal_is_escaped_and_reads_back() {
        let value = json!({ "a\u{9b}": "x\u{202e}y\u{1b}\u{e0001}z 名" });
        let mut text = Vec::new();
        write(&mut text, &value).expect("a vector can be written to");
        let text = String::from_utf8(text).expect("text");
        assert!(text.chars().all(|character| !is_harmful(character)), "{text}");
        assert_eq!(serde_json::from_str::<Value>(&text).expect("valid"), value);
    }
}
