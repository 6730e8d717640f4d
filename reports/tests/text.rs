//! Every text renderer against golden files; `BLESS=1` rewrites them.

mod golden;
mod recordings;

use std::path::PathBuf;

use reports::{
    stats::RunFigures,
    text::{self, Style},
};

fn wide() -> Style {
    Style { color: false, width: Some(140) }
}

fn narrow() -> Style {
    Style { color: false, width: Some(80) }
}

fn figures() -> Vec<RunFigures> {
    let name = |name: &str| format!("20261130-143951-{name}");
    let path = |name: &str| PathBuf::from("results").join(name).join("recording.json");
    let ordinary = |run: &&(&str, _)| run.0 != "huge";
    recordings::all()
        .iter()
        .filter(ordinary)
        .map(|(run, recording)| RunFigures::of(path(run), name(run), recording))
        .collect()
}

#[test]
fn runs_look_as_blessed() {
    for (name, recording) in recordings::all() {
        golden::check(&format!("run-{name}.txt"), &text::run(&recording, &wide()));
    }
    golden::check("run-typical-80.txt", &text::run(&recordings::typical(), &narrow()));
    golden::check("run-lossy-80.txt", &text::run(&recordings::lossy(), &narrow()));
    let color = Style { color: true, ..wide() };
    golden::check("run-lossy-color.txt", &text::run(&recordings::lossy(), &color));
}

#[test]
fn the_bench_result_looks_as_blessed() {
    let lossy = recordings::lossy();
    golden::check("bench-lossy.txt", &text::bench(&lossy.bench[0], &Style::default()));
}

#[test]
fn the_overview_looks_as_blessed() {
    golden::check("overview.txt", &text::overview(&figures(), &wide()));
    golden::check("overview-80.txt", &text::overview(&figures(), &narrow()));
}

#[test]
fn an_ordinary_run_fits_into_80_columns() {
    for recording in [recordings::typical(), recordings::lossy(), recordings::incomplete()] {
        let text = text::run(&recording, &narrow());
        let widest = text.lines().max_by_key(|line| line.len()).expect("lines");
        assert!(widest.len() <= 80, "{}: {widest}", widest.len());
    }
}

#[test]
fn hostile_names_cannot_steer_the_terminal() {
    let recording = recordings::hostile();
    let text = text::run(&recording, &wide());
    let harmful = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}' || c == '\u{ffff}';
    assert!(!text.contains(harmful));
    assert!(!text.lines().any(|line| line.starts_with("second line")));
}
