//! Every chart: valid XML with title and description, no text on top of other text, nothing outside the picture, and
//! the same bytes as blessed (`BLESS=1` rewrites).

mod golden;
mod recordings;

use std::path::PathBuf;

use reports::{
    histogram::{Histogram, KERNEL},
    recording::Recording,
    stats::RunFigures,
    svg,
};
use roxmltree::{Document, Node};

const RUN: &str = "20261130-143951-echo-epoll-lt-short";

fn figures(recordings: &[(String, Recording)]) -> Vec<RunFigures> {
    recordings.iter().map(|(name, recording)| RunFigures::of(PathBuf::from(name), name.clone(), recording)).collect()
}

fn named(name: &str) -> Vec<(String, Recording)> {
    recordings::all().into_iter().map(|(run, recording)| (format!("{name}{run}"), recording)).collect()
}

/// Name and text of every chart that can be made of the fixed recordings.
fn charts() -> Vec<(String, String)> {
    let mut charts = Vec::new();
    for (name, recording) in recordings::all() {
        for (number, group) in recording.groups.iter().enumerate() {
            let latency = svg::latency(&recording, RUN, group).map(|chart| ("latency", chart));
            let share = svg::share(&recording, RUN, group).map(|chart| ("share", chart));
            charts.extend(
                latency.into_iter().chain(share).map(|(kind, chart)| (format!("{kind}-{number}-{name}"), chart)),
            );
        }
    }
    let all = figures(&named("20261130-143951-"));
    let ordinary: Vec<_> =
        all.iter().filter(|run| !run.name.ends_with("huge") && !run.name.ends_with("crowded")).cloned().collect();
    charts.extend(svg::comparison(&ordinary).map(|chart| ("comparison".into(), chart)));
    charts.extend(svg::comparison(&all).map(|chart| ("comparison-huge".into(), chart)));
    let long = named(&format!("{}-", "long-name".repeat(6)));
    let many: Vec<_> = std::iter::repeat_n(figures(&long), 10).flatten().collect();
    charts.extend(svg::comparison(&many).map(|chart| ("comparison-90".into(), chart)));
    charts
}

#[test]
fn charts_look_as_blessed() {
    let blessed = [
        "latency-0-typical",
        "latency-0-one-call",
        "latency-0-hostile",
        "share-0-typical",
        "share-0-crowded",
        "comparison",
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
        let document = Document::parse(&chart).unwrap_or_else(|error| panic!("{name}: {error}"));
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
        let document = Document::parse(&chart).expect("checked above");
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
    let empty = recordings::empty();
    assert_eq!(svg::latency(&empty, RUN, &empty.groups[0]), None);
    assert_eq!(svg::share(&empty, RUN, &empty.groups[0]), None);
    assert_eq!(svg::comparison(&figures(&named("")[1..3])), None);
    assert_eq!(svg::comparison(&[]), None);
}

#[test]
fn a_curve_whose_values_are_in_no_bucket_is_not_made() {
    let mut recording = recordings::one_call();
    recording.groups[0].syscalls[0].set_latency(Histogram::from_parts(KERNEL, 5, 500, 100, 100, vec![]));
    assert_eq!(svg::latency(&recording, RUN, &recording.groups[0]), None);
}

/// `LOOK=DIR cargo test -p reports --test svg look` writes all charts there.
#[test]
fn look() {
    if let Some(folder) = std::env::var_os("LOOK").map(PathBuf::from) {
        for (name, chart) in charts() {
            std::fs::write(folder.join(name).with_extension("svg"), chart).expect("writable");
        }
    }
}
