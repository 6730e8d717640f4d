//! A report as Markdown with tables (GitHub's dialect); drawings are referred to where they were written as files.

use std::fmt::Write as _;

use crate::{
    document::Document,
    findings,
    printable::printable,
    svg::Figure,
    table::{Cell, Table},
};

/// Rows of data that are shown below a chart; more belong into CSV.
const ROWS: usize = 60;

/// The text of a file. `drawing` tells where a chart was written, if it was, as seen from that file.
#[must_use]
pub fn document(document: &Document, drawing: impl Fn(&str) -> Option<String>) -> String {
    let mut text = format!("# {}\n\n", escaped(&document.title));
    for line in &document.lead {
        put(&mut text, format_args!("{}  \n", escaped(line)));
    }
    if let Some(found) = &document.findings {
        text.push_str("\n## Findings\n\n");
        if found.is_empty() {
            put(&mut text, format_args!("{}\n", findings::NONE));
        }
        for finding in found {
            put(&mut text, format_args!("- **{}**: {}\n", finding.severity.name(), escaped(&finding.text)));
        }
    }
    text.push_str("\n## Tables\n");
    document.tables.iter().for_each(|table| titled(&mut text, table));
    text.push_str("\n## Charts\n");
    for figure in document.charts.iter().filter_map(|chart| chart.figure.as_ref()) {
        chart(&mut text, figure, drawing(figure.name()));
    }
    for (name, needs) in document.left_out() {
        put(&mut text, format_args!("\nLeft out: {name}, which needs {needs}.\n"));
    }
    if !document.measured.is_empty() {
        text.push_str("\n## How it was measured\n");
        document.measured.iter().for_each(|table| titled(&mut text, table));
    }
    text
}

fn put(text: &mut String, piece: std::fmt::Arguments) {
    text.write_fmt(piece).expect("bug: writing into a string cannot fail");
}

fn chart(text: &mut String, figure: &Figure, drawing: Option<String>) {
    let title = escaped(figure.title());
    put(text, format_args!("\n### {title}\n\n"));
    if let Some(path) = drawing {
        put(text, format_args!("![{title}](<{}>)\n\n", printable(&path).replace(['<', '>', '\\'], "_")));
    }
    put(text, format_args!("{}\n\n", escaped(figure.subtitle())));
    for line in figure.caption() {
        put(text, format_args!("{}  \n", escaped(line)));
    }
    let data = figure.data();
    let rows = data.rows.len();
    if rows > ROWS {
        put(text, format_args!("\nThe {rows} rows behind it: `--csv`.\n"));
    } else {
        put(text, format_args!("\n<details><summary>Data ({rows} rows)</summary>\n\n"));
        grid(text, &data);
        text.push_str("\n</details>\n");
    }
}

fn titled(text: &mut String, table: &Table) {
    put(text, format_args!("\n### {}\n\n", escaped(&table.title)));
    grid(text, table);
}

fn grid(text: &mut String, table: &Table) {
    let mut line = |cells: Vec<String>| put(text, format_args!("| {} |\n", cells.join(" | ")));
    line(table.columns.iter().map(|column| escaped(&column.heading)).collect());
    let left = |column| table.rows.first().and_then(|row: &Vec<Cell>| row.get(column)).is_none_or(Cell::is_text);
    line((0..table.columns.len()).map(|column| if left(column) { "---" } else { "--:" }.to_owned()).collect());
    for row in &table.rows {
        line(row.iter().map(|cell| escaped(&cell.shown())).collect());
    }
}

/// Harmless, and without a meaning in Markdown or HTML.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in printable(text).chars() {
        match character {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '\\' | '`' | '*' | '[' | ']' | '|' | '~' | '#' => {
                escaped.push('\\');
                escaped.push(character);
            }
            _ => escaped.push(character),
        }
    }
    escaped
}
