//! Comparisons of recordings on disk: what is refused, what is claimed, and how it looks (`BLESS=1` rewrites).

mod golden;
mod recordings;

use std::{fs, path::Path};

use reports::{
    bench::Mode,
    compare::{self, CompareError, Comparison, Options, Outcome, Row, RulingKind, Verdict},
    histogram::KERNEL,
    recording::Recording,
    store,
    text::{self, Style},
};
use tempfile::TempDir;

/// A run whose times are `percent` of the usual ones, give or take what differs from run to run.
fn run(mode: Mode, percent: u32, number: u32) -> Recording {
    let mut recording = recordings::typical();
    let scaled = |median_ns: u32| median_ns / 100 * (percent + number % 3);
    let ok = 1_000 + number;
    let mut load = recordings::load(mode, ok, u64::from(scaled(45_600_000)));
    if mode == Mode::Long {
        load.connected = 100;
    }
    let per_connection = if mode == Mode::Long { 100 } else { ok };
    load.request = recordings::lognormal(7, ok, scaled(843_000), 0.6);
    load.connect = recordings::lognormal(7, per_connection, scaled(61_000), 0.5);
    recording.bench = vec![load];
    let calls = |name: &str, n: u32, median_ns: u32| {
        recordings::syscall(name, recordings::lognormal(KERNEL, n, scaled(median_ns), 0.6))
    };
    recording.groups[0].syscalls = vec![
        calls("close", per_connection, 5_300),
        calls("read", ok + per_connection, 880),
        calls("write", ok, 9_700),
        calls("epoll_wait", 500 + 7 * number, 23_000),
    ];
    recording.groups[1].syscalls = vec![calls("connect", per_connection, 31_000), calls("sendto", ok, 11_000)];
    recording
}

/// Folders `a`, `b`, ... with repeats.
fn folders(groups: &[Vec<Recording>]) -> (TempDir, Options) {
    let place = tempfile::tempdir().expect("temporary folder");
    let mut options = Options::default();
    for (letter, group) in ('a'..).zip(groups) {
        let folder = place.path().join(letter.to_string());
        for (number, recording) in group.iter().enumerate() {
            let run = folder.join(format!("run-{number}"));
            fs::create_dir_all(&run).expect("new");
            store::write(&run, recording).expect("writable");
        }
        options.paths.push(folder);
    }
    (place, options)
}

fn repeats(n: u32, mode: Mode, percent: u32) -> Vec<Recording> {
    (0..n).map(|number| run(mode, percent, number)).collect()
}

fn compared(groups: &[Vec<Recording>]) -> Comparison {
    let (_place, options) = folders(groups);
    compare::run(&options).expect("comparable").comparison
}

fn row<'a>(comparison: &'a Comparison, name: &str) -> &'a Row {
    comparison.pairs[0].rows.iter().find(|row| row.metric.to_string() == name).unwrap_or_else(|| panic!("no {name}"))
}

/// The text without the temporary folder's name.
fn shown(groups: &[Vec<Recording>], width: usize, change: impl Fn(&mut Options)) -> String {
    let (place, mut options) = folders(groups);
    change(&mut options);
    let comparison = compare::run(&options).expect("comparable").comparison;
    text_of(&comparison, place.path(), width)
}

fn text_of(comparison: &Comparison, place: &Path, width: usize) -> String {
    let mut comparison = comparison.clone();
    for group in &mut comparison.groups {
        group.path = group.path.replace(&place.to_string_lossy().into_owned(), "results");
    }
    text::comparison(&comparison, &Style { color: false, width: Some(width) })
}

#[test]
fn comparisons_look_as_blessed() {
    let short_long = [repeats(5, Mode::Short, 100), repeats(5, Mode::Long, 100)];
    golden::check("compare-short-long.txt", &shown(&short_long, 140, |_| {}));
    golden::check("compare-short-long-80.txt", &shown(&short_long, 80, |_| {}));
    golden::check(
        "compare-single.txt",
        &shown(&[repeats(1, Mode::Short, 100), repeats(1, Mode::Long, 90)], 100, |_| {}),
    );
    let slower = [repeats(6, Mode::Short, 100), repeats(6, Mode::Short, 130)];
    golden::check(
        "compare-rules.txt",
        &shown(&slower, 100, |options| {
            options.metrics = vec!["server.close.p*".into()];
            options.rules = ["server.close.p50 > +20%", "server.close.p50 > +40%", "server.close.p99.9 > +1%"]
                .map(|rule| rule.parse().expect("a rule"))
                .to_vec();
        }),
    );
}

#[test]
fn nothing_is_wider_than_an_80_column_terminal() {
    let text = shown(&[repeats(5, Mode::Short, 100), repeats(5, Mode::Long, 100)], 80, |_| {});
    let widest = text.lines().max_by_key(|line| line.chars().count()).expect("lines");
    assert!(widest.chars().count() <= 80, "{}: {widest}", widest.len());
}

#[test]
fn a_slower_group_is_worse_and_a_repeat_of_the_same_shows_no_difference() {
    let comparison = compared(&[repeats(6, Mode::Short, 100), repeats(6, Mode::Short, 140)]);
    assert_eq!(row(&comparison, "server.close.p50").verdict, Verdict::Worse);
    assert_eq!(row(&comparison, "requests_per_s").verdict, Verdict::Worse);
    let same = compared(&[repeats(6, Mode::Short, 100), repeats(6, Mode::Short, 100)]);
    let differing: Vec<_> = same.pairs[0].rows.iter().filter(|row| row.verdict.differs()).collect();
    assert!(differing.is_empty(), "{differing:?}");
}

#[test]
fn a_missing_metric_is_no_data_and_a_call_that_was_not_made_is_zero_calls() {
    let mut without: Vec<Recording> = repeats(5, Mode::Short, 100);
    for recording in &mut without {
        recording.groups[0].syscalls.retain(|row| row.name != "close");
        recording.bench[0].elapsed_ns = 0;
    }
    let comparison = compared(&[repeats(5, Mode::Short, 100), without]);
    assert_eq!(row(&comparison, "requests_per_s").verdict, Verdict::NoData);
    assert_eq!(row(&comparison, "server.close.p50").verdict, Verdict::NoData);
    let calls = row(&comparison, "server.close.calls_per_request");
    assert_eq!((calls.b.map(|b| b.median), calls.verdict), (Some(0.0), Verdict::Better));
}

#[test]
fn a_call_outside_of_the_selection_is_no_data_not_zero_calls() {
    let selected = |names: &[&str]| {
        let mut runs = repeats(5, Mode::Short, 100);
        for recording in &mut runs {
            recording.selection = names.iter().map(|&name| name.to_owned()).collect();
            recording.groups[0].syscalls.retain(|row| names.contains(&row.name.as_str()));
        }
        runs
    };
    let (_place, mut options) = folders(&[selected(&["close", "read"]), selected(&["read"])]);
    options.force = true;
    let comparison = compare::run(&options).expect("forced").comparison;
    assert_eq!(row(&comparison, "server.close.calls_per_request").verdict, Verdict::NoData);
}

#[test]
fn single_runs_have_ratios_but_no_verdict() {
    let comparison = compared(&[repeats(1, Mode::Short, 100), repeats(1, Mode::Short, 200)]);
    let row = row(&comparison, "server.close.p50");
    assert_eq!((row.verdict, row.interval), (Verdict::NotEnoughData, None));
    assert!(row.ratio.expect("both have it") > 1.8);
}

#[test]
fn mode_and_target_may_differ_and_are_named() {
    let mut other = repeats(5, Mode::Long, 100);
    for recording in &mut other {
        recording.groups[0].argv = vec!["/usr/local/bin/echo-epoll-et".into()];
    }
    let comparison = compared(&[repeats(5, Mode::Short, 100), other]);
    let named: Vec<_> = comparison.pairs[0].differences.iter().map(|one| (one.name.as_str(), one.b.as_str())).collect();
    assert_eq!(named, [("mode", "long"), ("target", "echo-epoll-et")]);
}

fn refusal(change: fn(&mut Recording)) -> String {
    let mut other = repeats(2, Mode::Short, 100);
    other.iter_mut().for_each(change);
    let (_place, mut options) = folders(&[repeats(2, Mode::Short, 100), other]);
    let Err(error) = compare::run(&options) else { panic!("not refused") };
    assert!(matches!(error, CompareError::Unlike { .. }));
    options.force = true;
    assert!(compare::run(&options).is_ok(), "{error}");
    error.to_string()
}

#[test]
fn unlike_settings_are_refused_by_name() {
    type Change = fn(&mut Recording);
    let changes: [(&str, Change); 6] = [
        ("kernel 6.18.5 against 6.1", |recording| recording.host.kernel = "6.1".into()),
        ("CPUs 2 against 64", |recording| recording.host.cpus = 64),
        ("connections 100 against 500", |recording| recording.bench[0].settings.connections = 500),
        ("payload_bytes 64 against 1", |recording| recording.bench[0].settings.payload_bytes = 1),
        ("latencies taken against not taken", |recording| recording.count_only = true),
        ("system calls counted all against close", |recording| recording.selection = vec!["close".into()]),
    ];
    for (words, change) in changes {
        let error = refusal(change);
        assert!(error.contains(words), "{words}: {error}");
    }
}

#[test]
fn ports_pids_and_folders_of_programs_are_no_settings() {
    let mut other = repeats(2, Mode::Short, 100);
    for recording in &mut other {
        recording.bench[0].settings.address = "127.0.0.1:12345".into();
        recording.groups[0].pids = vec![9];
        recording.groups[0].argv = vec!["/opt/echo-epoll-lt".into()];
        recording.started = "2027-01-01T00:00:00Z".into();
    }
    assert!(compared(&[repeats(2, Mode::Short, 100), other]).pairs[0].differences.is_empty());
}

#[test]
fn a_folder_is_split_by_its_settings_and_two_folders_must_hold_repeats() {
    let mixed = [repeats(2, Mode::Short, 100), repeats(3, Mode::Long, 100)].concat();
    let comparison = compared(std::slice::from_ref(&mixed));
    let groups: Vec<_> = comparison.groups.iter().map(|group| (group.label.as_str(), group.runs.len())).collect();
    assert_eq!(groups, [("short", 2), ("long", 3)]);
    let (_place, options) = folders(&[mixed, repeats(1, Mode::Short, 100)]);
    let Err(error) = compare::run(&options) else { panic!("not refused") };
    assert!(error.to_string().contains("no repeats of each other: mode short against long"), "{error}");
    let (_place, options) = folders(&[repeats(3, Mode::Short, 100)]);
    assert!(matches!(compare::run(&options), Err(CompareError::OneGroup { runs: 3 })));
}

#[test]
fn many_single_runs_are_grouped_as_a_folder_of_them_is() {
    let (place, mut options) = folders(&[repeats(2, Mode::Short, 100), repeats(2, Mode::Long, 100)]);
    let run = |path: &str| place.path().join(path);
    options.paths = ["a/run-0", "a/run-1", "b/run-0", "b/run-1"].map(run).to_vec();
    let comparison = compare::run(&options).expect("comparable").comparison;
    assert_eq!(comparison.groups.iter().map(|group| group.runs.len()).collect::<Vec<_>>(), [2, 2]);
}

#[test]
fn incomplete_runs_are_left_out_and_named() {
    let mut group = repeats(3, Mode::Short, 100);
    group[1].complete = false;
    group[1].incomplete_because = Some("interrupted".into());
    let comparison = compared(&[group, repeats(2, Mode::Long, 100)]);
    assert_eq!(comparison.groups[0].runs.len(), 2);
    assert_eq!(comparison.left_out.len(), 1);
    assert!(comparison.left_out[0].run.contains("a/run-1") && comparison.left_out[0].why == "interrupted");
}

fn ruling(groups: &[Vec<Recording>], rule: &str) -> RulingKind {
    let (_place, mut options) = folders(groups);
    options.rules = vec![rule.parse().expect("a rule")];
    compare::run(&options).expect("comparable").comparison.rulings[0].kind
}

#[test]
fn a_rule_holds_only_beyond_noise() {
    let slower = [repeats(6, Mode::Short, 100), repeats(6, Mode::Short, 150)];
    assert_eq!(ruling(&slower, "server.close.p50 > +20%"), RulingKind::Holds);
    assert_eq!(ruling(&slower, "server.close.p50 > +49%"), RulingKind::NotShown);
    assert_eq!(ruling(&slower, "server.close.p50 < -20%"), RulingKind::NotShown);
    assert_eq!(ruling(&slower, "requests_per_s < -20%"), RulingKind::Holds);
    let few = [repeats(3, Mode::Short, 100), repeats(3, Mode::Short, 150)];
    assert_eq!(ruling(&few, "server.close.p50 > +20%"), RulingKind::NotEnoughData);
    let long = [repeats(6, Mode::Short, 100), repeats(6, Mode::Long, 100)];
    assert_eq!(ruling(&long, "server.close.p99.9 > +20%"), RulingKind::NoData);
}

#[test]
fn a_rule_or_pattern_for_a_metric_that_is_not_there_names_those_that_are() {
    let (_place, mut options) = folders(&[repeats(2, Mode::Short, 100), repeats(2, Mode::Long, 100)]);
    options.rules = vec!["server.clse.p99 > +1%".parse().expect("a rule")];
    let Err(error) = compare::run(&options) else { panic!("taken") };
    assert!(error.hint().expect("a hint").contains("server.close.p99"), "{:?}", error.hint());
    options.rules.clear();
    options.metrics = vec!["nothing.*".into()];
    assert!(matches!(compare::run(&options), Err(CompareError::NoSuchMetric { .. })));
}

#[test]
fn long_connections_take_away_what_construction_says() {
    let comparison = compared(&[repeats(5, Mode::Short, 100), repeats(5, Mode::Long, 100)]);
    let long = comparison.pairs[0].long_connections.as_ref().expect("the lengths differ");
    assert!((long.by_construction - 0.9).abs() < 0.01, "{}", long.by_construction);
    let call = |owner: &str| long.calls.iter().find(|call| call.owner == owner).unwrap_or_else(|| panic!("no {owner}"));
    assert!(call("server.close").as_constructed && call("client.connect").as_constructed);
    assert!(call("server.read").as_constructed, "one of two finds the end");
    assert!(!long.calls.iter().any(|call| call.owner == "server.epoll_wait"), "as often as before");
    // The other way round it tells the same.
    let turned = compared(&[repeats(5, Mode::Long, 100), repeats(5, Mode::Short, 100)]);
    let turned = turned.pairs[0].long_connections.as_ref().expect("the lengths differ");
    assert!(turned.reversed && (turned.by_construction - long.by_construction).abs() < 1e-12);
}

fn hostile() -> Outcome {
    let evil = |mode| {
        let mut runs = repeats(2, mode, 100);
        for recording in &mut runs {
            let hostile = recordings::hostile();
            recording.groups[0].label.clone_from(&hostile.groups[0].label);
            recording.groups[0].argv = vec![hostile.groups[0].label.clone()];
            recording.groups[0].syscalls[0].name.clone_from(&hostile.groups[0].label);
            recording.sysctls.insert("evil".into(), format!("{mode:?}{}", hostile.groups[0].label));
        }
        runs
    };
    let (_place, mut options) = folders(&[evil(Mode::Short), evil(Mode::Long)]);
    options.all = true;
    compare::run(&options).expect("comparable")
}

#[test]
fn hostile_names_are_harmless_in_every_output() {
    let outcome = hostile();
    let text = text::comparison(&outcome.comparison, &Style { color: false, width: Some(120) });
    let harmful = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}' || c == '\u{ffff}';
    assert!(!text.contains(harmful) && !text.lines().any(|line| line.starts_with("second line")));
    let json = serde_json::to_string(&outcome.comparison).expect("serializable");
    assert!(!json.contains(|c: char| c.is_control()));
    serde_json::from_str::<serde_json::Value>(&json).expect("valid");
    for (name, chart) in compare::charts(&outcome) {
        assert!(name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte)), "{name}");
        assert!(!chart.contains(harmful) && !chart.contains("<script"), "{name}");
        roxmltree::Document::parse(&chart).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

#[test]
fn distributions_are_drawn_over_each_other() {
    let (place, options) = folders(&[repeats(5, Mode::Short, 100), repeats(5, Mode::Long, 130)]);
    let outcome = compare::run(&options).expect("comparable");
    let charts = compare::charts(&outcome);
    let names: Vec<_> = charts.iter().map(|(name, _)| name.as_str()).collect();
    assert!(names.contains(&"compare-request.svg") && names.contains(&"compare-server-close.svg"), "{names:?}");
    let (_, chart) = charts.iter().find(|(name, _)| name == "compare-server-write.svg").expect("drawn");
    assert!(!chart.contains(&*place.path().to_string_lossy()));
    golden::check("compare-server-write.svg", chart);
}
