//! Page, Markdown, CSV and JSON of fixed recordings: as blessed (`BLESS=1` rewrites), and harmless whatever the
//! names in them.

mod golden;
mod recordings;

use std::path::PathBuf;

use reports::{csv, document::Document, html, json, md, recording::Recording, stats::RunFigures};

const RUN: &str = "20261130-143951-echo-epoll-lt-short";

fn page(name: &str, recording: &Recording) -> String {
    let document = Document::of_run(recording, name);
    html::page(name, &[html::section(&document, 1)])
}

fn page_of_several() -> String {
    let runs = [("a-short", recordings::typical()), ("b-long", recordings::long()), ("c-lossy", recordings::lossy())];
    let figures: Vec<_> =
        runs.iter().map(|(name, run)| RunFigures::of(PathBuf::from(name), (*name).to_owned(), run)).collect();
    let mut sections = vec![html::section(&Document::of_runs(&figures), 0)];
    let numbered = (1..).zip(&runs);
    sections.extend(numbered.map(|(number, (name, run))| html::section(&Document::of_run(run, name), number)));
    html::page("3 runs", &sections)
}

fn json_of(recording: &Recording) -> String {
    let mut text = Vec::new();
    json::write(&mut text, &json::document(&Document::of_run(recording, RUN))).expect("a vector can be written to");
    String::from_utf8(text).expect("text")
}

fn csv_of(recording: &Recording) -> String {
    let document = Document::of_run(recording, RUN);
    document.all_tables().map(|table| format!("== {}\n{}", table.name, csv::table(&table))).collect()
}

fn md_of(recording: &Recording) -> String {
    md::document(&Document::of_run(recording, RUN), |name| Some(format!("{name}.svg")))
}

#[test]
fn pages_and_texts_look_as_blessed() {
    for (name, recording) in [
        ("one-call", recordings::one_call()),
        ("lossy", recordings::lossy()),
        ("incomplete", recordings::incomplete()),
        ("empty", recordings::empty()),
    ] {
        golden::check(&format!("report-{name}.html"), &page(RUN, &recording));
    }
    for (name, recording) in [("typical", recordings::typical()), ("hostile", recordings::hostile())] {
        golden::check(&format!("report-{name}.md"), &md_of(&recording));
        golden::check(&format!("report-{name}.csv"), &csv_of(&recording).replace('\r', ""));
        golden::check(&format!("report-{name}.json"), &json_of(&recording));
    }
}

/// Opening and closing tags of a page that may be there; everything else came from a name.
#[test]
fn hostile_names_add_nothing_to_a_page() {
    for (name, recording) in [("hostile", recordings::hostile()), ("extreme", recordings::extreme())] {
        let page = page(RUN, &recording);
        assert!(!page.contains("<script") && !page.contains("<b>"), "{name}");
        assert!(!page.contains(|c: char| (c.is_control() && c != '\n') || c == '\u{202e}'), "{name}");
        assert!(!page.contains("href=\"http") && !page.contains("src="), "{name}");
    }
}

#[test]
fn hostile_names_stay_text_in_csv_json_and_markdown() {
    for recording in [recordings::hostile(), recordings::extreme()] {
        let harmful = |c: char| (c.is_control() && c != '\n' && c != '\r') || c == '\u{202e}';
        let csv = csv_of(&recording);
        assert!(!csv.contains(harmful));
        assert!(!csv.lines().any(|line| line.split(',').any(|cell| cell.trim_matches('"').starts_with("=cmd"))));
        let json = json_of(&recording);
        assert!(!json.contains(harmful));
        serde_json::from_str::<serde_json::Value>(&json).expect("valid");
        let md = md_of(&recording);
        assert!(!md.contains(harmful) && !md.contains("<script"));
    }
}

#[test]
fn what_is_no_number_is_shown_as_missing() {
    let recording = recordings::full::not_numbers();
    for text in [page(RUN, &recording), md_of(&recording), csv_of(&recording), json_of(&recording)] {
        assert!(!text.contains("NaN") && !text.contains(">inf"), "{text}");
    }
}

#[test]
fn every_recording_has_its_page_with_findings_tables_and_how_it_was_measured() {
    for (name, recording) in recordings::all() {
        let page = page(RUN, &recording);
        let places: Vec<_> = ["<h2>Findings", "<h2>Tables", "<h2>Charts", "<h2>How it was measured"]
            .map(|part| page.find(part))
            .to_vec();
        assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{name}: {places:?}");
    }
}

/// `LOOK=DIR cargo test -p reports look` writes all pages there.
#[test]
fn look() {
    if let Some(folder) = std::env::var_os("LOOK").map(PathBuf::from) {
        for (name, recording) in recordings::all() {
            std::fs::write(folder.join(format!("page-{name}.html")), page(RUN, &recording)).expect("writable");
        }
        std::fs::write(folder.join("page-several.html"), page_of_several()).expect("writable");
    }
}

#[test]
fn a_recording_of_schema_1_is_read_and_gets_its_report() {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/recordings/schema-1.json");
    let recording = reports::store::read(&file).expect("readable");
    assert_eq!(recording.groups[0].syscalls[0].calls, 104);
    golden::check("report-schema-1.md", &md_of(&recording));
    assert!(page(RUN, &recording).contains("How long the system calls of the server"));
}
