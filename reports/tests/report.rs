//! `report::run` on folders as users have them: several runs, some of them broken.

mod recordings;

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use reports::{
    recording::Recording,
    report::{self, Failure, Format, Options, Outcome, Print},
    store::{self, StoreError},
};

fn save(folder: &Path, name: &str, recording: &Recording) -> PathBuf {
    let run = folder.join(name);
    fs::create_dir_all(&run).expect("temporary folder");
    store::write(&run, recording).expect("writable")
}

fn run(paths: &[&Path], svg: bool, out: Option<&Path>) -> (String, Outcome) {
    let formats: &[Format] = if svg { &[Format::Svg] } else { &[] };
    run_as(paths, Print::Tables, formats, out)
}

fn run_as(paths: &[&Path], print: Print, formats: &[Format], out: Option<&Path>) -> (String, Outcome) {
    let paths = paths.iter().map(|path| (*path).to_owned()).collect();
    let formats = formats.iter().copied().collect();
    let options = Options { paths, print, formats, out: out.map(Path::to_owned), ..Options::default() };
    let mut text = Vec::new();
    let outcome = report::run(&options, &mut text).expect("a vector can be written to");
    (String::from_utf8(text).expect("text"), outcome)
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(folder)
        .expect("there")
        .map(|entry| entry.expect("readable").file_name().into_string().expect("plain"))
        .collect();
    names.sort();
    names
}

#[test]
fn charts_are_written_beside_each_recording_and_named() {
    let folder = tempfile::tempdir().expect("temporary folder");
    save(folder.path(), "a-short", &recordings::typical());
    save(folder.path(), "b-long", &recordings::long());
    let (text, outcome) = run(&[folder.path()], true, None);
    assert!(outcome.failed.is_empty(), "{:?}", outcome.failed);
    let of_groups = ["latency-client.svg", "latency-server.svg", "share-client.svg", "share-server.svg"];
    let of_run = ["connect.svg", "per-request.svg", "recording.json", "sides.svg", "tcp-states.svg"];
    let mut expected = [of_groups.as_slice(), of_run.as_slice()].concat();
    expected.sort_unstable();
    assert_eq!(names(&folder.path().join("a-short")), expected);
    assert_eq!(names(folder.path()), ["a-short", "b-long", "comparison.svg", "per-request.svg"]);
    assert_eq!(outcome.written.len(), 18);
    for path in &outcome.written {
        assert!(text.contains(&format!("wrote {}\n", path.display())));
        let mode = fs::metadata(path).expect("written").permissions().mode();
        assert_eq!(mode & 0o400, 0o400);
    }
    assert!(text.starts_with("2 runs\n"), "{text}");
    assert_eq!(text.matches("\necho-epoll-lt + bench\n").count(), 0, "several runs are a table");
}

#[test]
fn each_of_several_runs_is_printed_in_full_when_asked_for() {
    let folder = tempfile::tempdir().expect("temporary folder");
    save(folder.path(), "a-short", &recordings::typical());
    save(folder.path(), "b-long", &recordings::long());
    let (text, _) = run_as(&[folder.path()], Print::Full, &[], None);
    assert_eq!(text.matches("\necho-epoll-lt + bench\n").count(), 2);
}

#[test]
fn what_cannot_be_read_is_named_and_the_rest_reported() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let whole = fs::read_to_string(save(folder.path(), "good", &recordings::typical())).expect("written");
    for (name, file, text) in [
        ("damaged", store::FILE, &whole[..whole.len() / 2]),
        ("half", store::PARTIAL, &whole[..10]),
        ("newer", store::FILE, r#"{"schema": 999, "unknown": []}"#),
    ] {
        fs::create_dir(folder.path().join(name)).expect("new");
        fs::write(folder.path().join(name).join(file), text).expect("writable");
    }
    let (text, outcome) = run(&[folder.path(), Path::new("/nowhere/at/all")], false, None);
    let messages: Vec<String> = outcome.failed.iter().map(ToString::to_string).collect();
    for name in ["damaged", "half", "newer", "/nowhere/at/all"] {
        assert!(messages.iter().any(|message| message.contains(name)), "{name}: {messages:?}");
    }
    assert_eq!(messages.len(), 4);
    assert!(text.contains("echo-epoll-lt + bench"));
    assert!(outcome.written.is_empty());
    let hints: Vec<_> = outcome.failed.iter().filter_map(Failure::hint).collect();
    assert_eq!(hints.len(), 3, "{hints:?}");
}

#[test]
fn nothing_found_says_how_to_make_a_recording() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let (text, outcome) = run(&[folder.path()], true, None);
    assert_eq!(text, "");
    let [failure] = outcome.failed.as_slice() else { panic!("{:?}", outcome.failed) };
    assert!(matches!(failure, Failure::NoRecordings { .. }));
    assert!(failure.hint().is_some_and(|hint| hint.contains("analyzer trace")));
}

#[test]
fn runs_of_the_same_name_do_not_overwrite_each_other_in_another_folder() {
    let (one, two, out) = (tempfile::tempdir(), tempfile::tempdir(), tempfile::tempdir());
    let (one, two, out) = (one.expect("folder"), two.expect("folder"), out.expect("folder"));
    save(one.path(), "run", &recordings::typical());
    save(two.path(), "run", &recordings::long());
    let target = out.path().join("made/on/the/way");
    let (_, outcome) = run(&[one.path(), two.path(), one.path()], true, Some(&target));
    assert!(outcome.failed.is_empty(), "{:?}", outcome.failed);
    assert_eq!(names(&target), ["comparison.svg", "per-request.svg", "run", "run-2"]);
    assert_eq!(names(&one.path().join("run")), ["recording.json"]);
    let unique: std::collections::BTreeSet<_> = outcome.written.iter().collect();
    assert_eq!(unique.len(), outcome.written.len());
}

#[test]
fn an_unwritable_folder_is_named_with_the_way_out() {
    let folder = tempfile::tempdir().expect("temporary folder");
    save(folder.path(), "run", &recordings::typical());
    // A file in the place of the folder fails for root too.
    let blocked = folder.path().join("blocked");
    fs::write(&blocked, "").expect("writable");
    let (text, outcome) = run(&[folder.path()], true, Some(&blocked));
    assert!(text.contains("echo-epoll-lt + bench"));
    let [failure] = outcome.failed.as_slice() else { panic!("{:?}", outcome.failed) };
    assert!(failure.to_string().contains("blocked"), "{failure}");
    assert!(failure.hint().is_some_and(|hint| hint.contains("-o DIR")));
}

#[test]
fn a_chart_without_data_is_said_and_not_written() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let file = save(folder.path(), "run", &recordings::empty());
    let (text, outcome) = run(&[&file], true, None);
    assert!(outcome.failed.is_empty() && outcome.written.is_empty());
    assert!(text.contains("not written, no data for it: "), "{text}");
}

#[test]
fn hostile_names_stay_in_their_folder_and_out_of_the_terminal() {
    let folder = tempfile::tempdir().expect("temporary folder");
    save(folder.path(), "run\x1b[31m\n", &recordings::hostile());
    fs::create_dir(folder.path().join("bad\x1b[2J")).expect("new");
    fs::write(folder.path().join("bad\x1b[2J/recording.json"), "{").expect("writable");
    let (text, outcome) = run(&[folder.path()], true, None);
    assert!(!text.contains('\x1b'));
    assert_eq!(names(folder.path()).len(), 2);
    assert_eq!(outcome.written.len(), 8);
    let [Failure::Recording(error @ StoreError::Damaged { .. })] = outcome.failed.as_slice() else {
        panic!("{:?}", outcome.failed)
    };
    assert!(!error.to_string().contains('\x1b'));
}

#[test]
fn every_form_of_a_single_run_is_beside_its_recording() {
    let folder = tempfile::tempdir().expect("temporary folder");
    save(folder.path(), "run", &recordings::typical());
    let formats = [Format::Svg, Format::Html, Format::Md, Format::Csv];
    let (text, outcome) = run_as(&[folder.path()], Print::Tables, &formats, None);
    assert!(outcome.failed.is_empty(), "{:?}", outcome.failed);
    let names = names(&folder.path().join("run"));
    for name in
        ["report.html", "report.md", "share-server.svg", "share-server.csv", "syscalls-server.csv", "machine.csv"]
    {
        assert!(names.iter().any(|there| there == name), "{name}: {names:?}");
        assert!(text.contains(&format!("run/{name}\n")), "{name}");
    }
    let md = fs::read_to_string(folder.path().join("run/report.md")).expect("written");
    assert!(md.contains("(<share-server.svg>)"), "drawings are found from where the text is");
}

#[test]
fn the_page_of_several_runs_is_one_file_with_all_of_them() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let out = tempfile::tempdir().expect("temporary folder");
    save(folder.path(), "a-short", &recordings::typical());
    save(folder.path(), "b-long", &recordings::long());
    let formats = [Format::Html, Format::Md, Format::Svg];
    let (_, outcome) = run_as(&[folder.path()], Print::Tables, &formats, Some(out.path()));
    assert!(outcome.failed.is_empty(), "{:?}", outcome.failed);
    let page = fs::read_to_string(out.path().join("report.html")).expect("written");
    for part in ["<h1>2 runs", "<h1>a-short", "<h1>b-long", "href=\"#s2\""] {
        assert!(page.contains(part), "{part}");
    }
    let md = fs::read_to_string(out.path().join("report.md")).expect("written");
    assert!(md.contains("(<a-short/share-server.svg>)") && md.contains("(<comparison.svg>)"));
}

#[test]
fn json_is_one_value_with_findings_tables_and_what_failed() {
    let folder = tempfile::tempdir().expect("temporary folder");
    for runs in 0..3 {
        let (text, _) = run_as(&[folder.path()], Print::Json, &[], None);
        let value: serde_json::Value = serde_json::from_str(&text).expect("one JSON value");
        assert_eq!(value["runs"].as_array().map(Vec::len), Some(runs));
        assert_eq!(value["together"].is_object(), runs > 1);
        assert_eq!(value["failed"].as_array().map(Vec::len), Some(usize::from(runs == 0)));
        save(folder.path(), &format!("run-{runs}"), &recordings::lossy());
    }
    let (text, _) = run_as(&[folder.path()], Print::Json, &[], None);
    let value: serde_json::Value = serde_json::from_str(&text).expect("one JSON value");
    assert_eq!(value["runs"][0]["findings"][0]["name"], "lost");
    assert_eq!(value["runs"][0]["tables"]["syscalls-server"][0]["syscall"], "write");
}

#[test]
fn runs_are_listed_without_reading_what_comes_after_their_head() {
    let folder = tempfile::tempdir().expect("temporary folder");
    save(folder.path(), "good", &recordings::typical());
    let cut = fs::read_to_string(save(folder.path(), "cut", &recordings::full())).expect("written");
    fs::write(folder.path().join("cut/recording.json"), &cut[..cut.len() / 2]).expect("writable");
    let (text, outcome) = run_as(&[folder.path()], Print::List, &[], None);
    assert!(outcome.failed.is_empty(), "{:?}", outcome.failed);
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.len(), 3, "{text}");
    assert!(lines[1].starts_with("cut ") && lines[1].contains("2026-11-30T14:39:51Z"), "{text}");
    assert!(lines[2].ends_with("analyzer trace --target echo-epoll-lt -- bench --mode short"), "{text}");
}
