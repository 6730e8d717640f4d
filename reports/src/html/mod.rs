//! One page that holds everything: no scripts, nothing from elsewhere, drawings inline.
//!
//! Built piece by piece, so that each run can be read, shown and forgotten.

mod style;

use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::{
    document::Document,
    findings::{self, Finding},
    printable::printable,
    svg::Figure,
    table::{Cell, Table},
};

/// A page about the reports in `sections`, each from [`section`].
#[must_use]
pub fn page(title: &str, sections: &[Section]) -> String {
    let title = printable(title);
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'";
                title { (title) }
                style { (PreEscaped(style::sheet())) }
            }
            body {
                a.skip href="#content" { "Skip to the report" }
                @if sections.len() > 1 {
                    nav aria-label="Runs" {
                        ol { @for section in sections { li { a href={ "#" (section.id) } { (section.title) } } } }
                    }
                }
                main #content { @for section in sections { (PreEscaped(&section.html)) } }
            }
        }
    };
    page.into_string()
}

/// A part of a page that is about one run, or about all of them.
pub struct Section {
    id: String,
    title: String,
    html: String,
}

/// Shows `document` as the section numbered `number` of a page.
#[must_use]
pub fn section(document: &Document, number: usize) -> Section {
    let id = format!("s{number}");
    let title = printable(&document.title);
    let figures = || document.charts.iter().filter_map(|chart| chart.figure.as_ref());
    let left_out: Vec<(&str, &str)> = document.left_out().collect();
    let html = html! {
        section.report id=(id) {
            header {
                h1 { (title) }
                @for line in &document.lead { p.lead { (printable(line)) } }
            }
            @if let Some(findings) = &document.findings { (list(findings)) }
            h2 { "Tables" }
            @for table in &document.tables { (rows(table)) }
            h2 { "Charts" }
            @for chart in figures() { (figure(chart, &id)) }
            @if !left_out.is_empty() {
                p.quiet { "Left out, because the recording does not have the data:" }
                ul.quiet { @for (name, needs) in &left_out { li { (name) ": needs " (needs) } } }
            }
            @if !document.measured.is_empty() {
                h2 { "How it was measured" }
                @for table in &document.measured { (rows(table)) }
            }
        }
    };
    Section { id, title, html: html.into_string() }
}

fn list(findings: &[Finding]) -> Markup {
    html! {
        h2 { "Findings" }
        @if findings.is_empty() {
            p { (findings::NONE) }
        } @else {
            ul.findings {
                @for finding in findings {
                    li class=(finding.severity.name()) {
                        strong { (finding.severity.name()) } " " (printable(&finding.text))
                    }
                }
            }
        }
    }
}

fn figure(figure: &Figure, section: &str) -> Markup {
    let id = format!("{section}-{}", figure.name());
    let title = printable(figure.title());
    let table = figure.data();
    html! {
        figure id=(id) {
            h3 { (title) }
            p.quiet { (printable(figure.subtitle())) }
            div.scroll tabindex="0" role="region" aria-label=(title) {
                div.drawing style={ "max-width:" (figure.width()) "px" } { (PreEscaped(figure.inline_svg())) }
            }
            figcaption { @for line in figure.caption() { p { (printable(line)) } } }
            details {
                summary { "Data behind this chart (" (table.rows.len()) " rows)" }
                (grid(&table))
            }
        }
    }
}

fn rows(table: &Table) -> Markup {
    html! {
        h3 { (printable(&table.title)) }
        (grid(table))
    }
}

fn grid(table: &Table) -> Markup {
    let label = printable(&table.title);
    let words = |column: usize| table.rows.iter().filter_map(|row| row.get(column)).any(Cell::is_text);
    let headings = || table.columns.iter().enumerate().map(|(number, column)| (words(number), &column.heading));
    html! {
        div.scroll tabindex="0" role="region" aria-label=(label) {
            table {
                thead { tr { @for (words, heading) in headings() { th.text[words] scope="col" { (printable(heading)) } } } }
                tbody {
                    @for row in &table.rows {
                        tr { @for cell in row { td.text[cell.is_text()] { (shown(cell)) } } }
                    }
                }
            }
        }
    }
}

fn shown(cell: &Cell) -> String {
    printable(&cell.shown())
}
