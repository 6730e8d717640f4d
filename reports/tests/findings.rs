//! What a run says about itself: each rule finds what it is for, and nothing in a run that is in order.

mod recordings;

use reports::{
    findings::{self, Finding, Severity},
    recording::{CallCost, Origin, OwnCost, Recording},
};

fn names(recording: &Recording) -> Vec<&'static str> {
    findings::of(recording).iter().map(|finding| finding.name).collect()
}

fn find(recording: &Recording, name: &str) -> Finding {
    findings::of(recording).into_iter().find(|finding| finding.name == name).expect(name)
}

/// Long enough, nothing lost, nothing moved.
fn in_order() -> Recording {
    let mut recording = recordings::typical();
    recording.bench[0].elapsed_ns = 2_000_000_000;
    recording
}

#[test]
fn a_run_in_order_has_nothing_against_it() {
    assert_eq!(names(&in_order()), [""; 0]);
}

#[test]
fn a_run_says_when_it_was_too_short() {
    let short = find(&recordings::typical(), "too-short");
    assert_eq!((short.value, short.unit), (45_600_000.0, "ns"));
    let mut few = in_order();
    few.bench[0].ok = 999;
    assert_eq!(find(&few, "too-short").unit, "requests");
}

#[test]
fn loss_failures_and_counters_are_named_with_their_numbers_and_the_worst_comes_first() {
    let lossy = recordings::lossy();
    let found = findings::of(&lossy);
    assert!(found.is_sorted_by_key(|finding| finding.severity), "{found:?}");
    assert_eq!((found[0].name, found[0].value), ("lost", 1_203.0));
    let failures = find(&lossy, "failures");
    assert_eq!((failures.value, failures.unit), (1_281.0, "requests"));
    assert!(find(&lossy, "client-bound").text.contains("97.0 %"));
    assert!(find(&lossy, "probes-off").text.contains("kfree_skb"));
    let counters: Vec<_> = found.iter().filter(|finding| finding.name == "counter-moved").collect();
    assert_eq!(counters.len(), 4, "{counters:?}");
}

#[test]
fn a_run_that_was_stopped_says_so_first() {
    let found = findings::of(&recordings::incomplete());
    assert_eq!((found[0].name, found[0].severity), ("incomplete", Severity::Problem));
    assert!(names(&recordings::incomplete()).contains(&"partial-load"));
}

#[test]
fn tracing_that_took_much_of_the_machine_is_a_warning() {
    let mut recording = in_order();
    let per_call = Some(CallCost { traced_ns: 5_000.0, bystander_ns: 71.0, calls: 9, repeats: 9 });
    let cost = OwnCost { per_call, programs: vec![], sampled_share: 0.0, tracer_cpu_ns: 57_300_000, map_bytes: 0 };
    recording.own_cost = Some(cost);
    assert_eq!(find(&recording, "probe-cost").severity, Severity::Warning);
    assert!((find(&recording, "tracer-cost").value - 0.5).abs() < 1e-9);
}

#[test]
fn an_imported_run_says_what_its_tool_does_not_tell() {
    let mut recording = in_order();
    let origin = Origin {
        tool: "strace -c".into(),
        file: "x".into(),
        unknown: vec!["clock".into()],
        skipped: vec![],
        ..Origin::default()
    };
    recording.origin = Some(origin);
    assert!(find(&recording, "imported").text.contains("does not tell clock"));
}
