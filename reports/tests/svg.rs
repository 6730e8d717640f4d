//! Every chart: valid XML with title and description, no text on top of other text, nothing outside the picture, and
//! the same bytes as blessed (`BLESS=1` rewrites).

mod golden;
mod recordings;

use std::{path::PathBuf, sync::LazyLock};

use reports::{
    histogram::{Histogram, KERNEL},
    recording::Recording,
    stats::RunFigures,
    svg::{self, Chart},
};
use roxmltree::{Document, Node};

const RUN: &str = "20261130-143951-echo-epoll-lt-short";

fn figures(recordings: &[(String, Recording)]) -> Vec<RunFigures> {
    recordings.iter().map(|(name, recording)| RunFigures::of(PathBuf::from(name), name.clone(), recording)).collect()
}

fn named(name: &str) -> Vec<(String, Recording)> {
    recordings::all().into_iter().map(|(run, recording)| (format!("{name}{run}"), recording)).collect()
}

/// Runs of a sweep over connections, three repeats each, in two modes.
fn swept() -> Vec<RunFigures> {
    let run = |number: u32| {
        let mut recording = if number.is_multiple_of(2) { recordings::typical() } else { recordings::long() };
        let bench = &mut recording.bench[0];
        bench.settings.connections = [10, 100, 1_000, 5_000][(number / 6) as usize];
        bench.ok = u64::from(9_000 - number * 311 + (number % 5) * 90);
        (format!("run-{number}"), recording)
    };
    figures(&(0..24).map(run).collect::<Vec<_>>())
}

/// Name and text of every chart in `charts`; names are told apart by `run`.
fn drawn(charts: Vec<Chart>, run: &str) -> Vec<(String, String)> {
    let drawn = charts.into_iter().filter_map(|chart| chart.figure);
    drawn.map(|figure| (format!("{}-{run}", figure.name()), figure.svg())).collect()
}

/// Name and text of every chart that can be made of the fixed recordings.
fn charts() -> &'static [(String, String)] {
    static CHARTS: LazyLock<Vec<(String, String)>> = LazyLock::new(all_charts);
    &CHARTS
}

fn all_charts() -> Vec<(String, String)> {
    let mut charts = Vec::new();
    for (name, recording) in recordings::all() {
        charts.extend(drawn(svg::of_run(&recording, RUN), name));
    }
    let all = figures(&named("20261130-143951-"));
    let wild = ["huge", "crowded", "extreme", "hollow"];
    let ordinary: Vec<_> =
        all.iter().filter(|run| !wild.iter().any(|wild| run.name.ends_with(wild))).cloned().collect();
    let long = named(&format!("{}-", "long-name".repeat(34)));
    let many: Vec<_> = std::iter::repeat_n(figures(&long), 10).flatten().collect();
    for (name, runs) in [("runs", &ordinary), ("huge", &all), ("90", &many), ("swept", &swept())] {
        charts.extend(drawn(svg::of_runs(runs), name));
    }
    charts
}

#[test]
fn charts_look_as_blessed() {
    let blessed = [
        "latency-server-typical",
        "latency-server-one-call",
        "latency-server-hostile",
        "share-server-typical",
        "share-server-crowded",
        "time-split-server-full",
        "heat-server-full",
        "rate-server-full",
        "per-request-full",
        "sides-full",
        "connect-full",
        "listeners-full",
        "tcp-states-full",
        "time-wait-full",
        "ports-full",
        "cpu-full",
        "comparison-runs",
        "per-request-runs",
        "sweep-swept",
    ];
    let charts = charts();
    for name in blessed {
        let (_, chart) = charts.iter().find(|(chart, _)| chart == name).expect(name);
        golden::check(&format!("{name}.svg"), chart);
    }
}

#[test]
fn charts_are_xml_that_begins_with_title_and_description() {
    for (name, chart) in charts() {
        let document = Document::parse(chart).unwrap_or_else(|error| panic!("{name}: {error}"));
        let first: Vec<_> = document.root_element().children().filter(Node::is_element).take(2).collect();
        assert_eq!(first.iter().map(|node| node.tag_name().name()).collect::<Vec<_>>(), ["title", "desc"], "{name}");
        assert!(first.iter().all(|node| node.text().is_some_and(|text| text.len() > 10)), "{name}");
        assert!(!document.descendants().any(|node| node.has_tag_name("script")), "{name}");
    }
}

/// Left, top, right and bottom of a text, with letters as wide as in the widest of the usual fonts.
fn bounds(node: Node) -> Option<(f64, f64, f64, f64)> {
    let number = |name| node.attribute(name).and_then(|value| value.parse::<f64>().ok());
    let text = node.text()?.trim();
    let (x, y, size) = (number("x")?, number("y")?, number("font-size")?);
    let width = text.chars().count() as f64 * size * 0.58;
    let left = match node.attribute("text-anchor")? {
        "start" => x,
        "middle" => x - width / 2.0,
        _ => x - width,
    };
    (!text.is_empty()).then_some((left, y - size * 0.5, left + width, y + size * 0.5))
}

#[test]
fn no_text_lies_on_another_or_outside_the_picture() {
    for (name, chart) in charts() {
        let document = Document::parse(chart).expect("checked above");
        let view = document.root_element().attribute("viewBox").expect("there");
        let view: Vec<f64> = view.split(' ').map(|number| number.parse().expect("number")).collect();
        let texts: Vec<_> = document.descendants().filter(|node| node.has_tag_name("text")).collect();
        for (position, one) in texts.iter().enumerate() {
            let Some(a) = bounds(*one) else { continue };
            assert!(a.0 >= 0.0 && a.1 >= 0.0 && a.2 <= view[2] && a.3 <= view[3], "{name}: {:?} {a:?}", one.text());
            for other in &texts[..position] {
                let Some(b) = bounds(*other) else { continue };
                let apart = a.2 <= b.0 || b.2 <= a.0 || a.3 <= b.1 || b.3 <= a.1;
                assert!(apart, "{name}: {:?} on {:?}", one.text(), other.text());
            }
        }
    }
}

#[test]
fn a_chart_without_data_is_not_made() {
    for recording in [recordings::empty(), recordings::hollow()] {
        let made = svg::of_run(&recording, RUN).into_iter().filter(|chart| chart.figure.is_some()).count();
        assert_eq!(made, 0);
    }
    assert!(svg::comparison(&figures(&named("")[1..3])).is_none());
    assert!(svg::of_runs(&[]).iter().all(|chart| chart.figure.is_none()));
}

#[test]
fn a_recording_with_everything_gets_every_chart() {
    let full = recordings::full();
    let missing: Vec<_> = svg::of_run(&full, RUN).into_iter().filter(|chart| chart.figure.is_none()).collect();
    assert!(missing.is_empty(), "{:?}", missing.iter().map(|chart| &chart.name).collect::<Vec<_>>());
}

#[test]
fn every_chart_has_the_data_behind_it_and_says_what_was_measured() {
    for (name, recording) in recordings::all() {
        for figure in svg::of_run(&recording, RUN).into_iter().filter_map(|chart| chart.figure) {
            let data = figure.data();
            assert!(!data.rows.is_empty(), "{name}: {}", figure.name());
            assert!(data.rows.iter().all(|row| row.len() == data.columns.len()), "{name}: {}", figure.name());
            assert!(figure.caption()[0].starts_with("Run 2026"), "{name}: {}", figure.name());
            assert!(!figure.title().is_empty() && !figure.subtitle().is_empty());
        }
    }
}

/// A drawing may be larger than the recording that it shows, but not by much.
#[test]
fn no_recording_can_ask_for_a_huge_drawing() {
    for (name, chart) in charts() {
        assert!(chart.len() < 400_000, "{name}: {} bytes", chart.len());
    }
}

#[test]
fn a_curve_whose_values_are_in_no_bucket_is_not_made() {
    let mut recording = recordings::one_call();
    recording.groups[0].syscalls[0].set_latency(Histogram::from_parts(KERNEL, 5, 500, 100, 100, vec![]));
    assert!(svg::latency(&recording, RUN, &recording.groups[0]).is_none());
}

/// `LOOK=DIR cargo test -p reports --test svg look` writes all charts there.
#[test]
fn look() {
    if let Some(folder) = std::env::var_os("LOOK").map(PathBuf::from) {
        for (name, chart) in charts() {
            std::fs::write(folder.join(format!("{name}.svg")), chart).expect("writable");
        }
    }
}
