//! `analyzer compare` and `analyzer import`: exit status, what is said, what is written. What they compute is tested in
//! the `reports` crate.

use std::{
    fs,
    path::Path,
    process::{Command, Output},
};

use crate::support::ANALYZER;

/// A table of `strace -c` whose close takes so many us.
fn table(us: u32) -> String {
    format!(
        "% time     seconds  usecs/call     calls    errors syscall\n\
         ------ ----------- ----------- --------- --------- ----------------\n\
         100.00    0.{us:06}           1       100           close\n\
         ------ ----------- ----------- --------- --------- ----------------\n\
         100.00    0.{us:06}                   100           total\n"
    )
}

fn analyzer(args: &[&str], folder: &Path) -> Output {
    Command::new(ANALYZER).args(args).current_dir(folder).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Five imported repeats in `a`, and five in `b` that take twice as long.
fn two_groups(folder: &Path) {
    for (group, us) in [("a", 1_000), ("b", 2_000)] {
        for number in 0..5 {
            let file = format!("{group}{number}.txt");
            fs::write(folder.join(&file), table(us + number)).unwrap();
            let output = analyzer(&["import", "-o", group, &file], folder);
            assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        }
    }
}

#[test]
fn imported_runs_are_compared_and_a_rule_decides_the_exit_status() {
    let folder = tempfile::tempdir().unwrap();
    two_groups(folder.path());
    let status = |args: &[&str]| {
        let output = analyzer(&[&["compare"], args].concat(), folder.path());
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    };
    let (code, stdout, stderr) = status(&["a", "b"]);
    assert_eq!(code, Some(0), "{stderr}");
    assert!(stdout.contains("server.close") && stdout.contains("worse"), "{stdout}");
    assert_eq!(status(&["a", "b", "--fail-on", "server.close.total > +20%"]).0, Some(1));
    assert_eq!(status(&["a", "b", "--fail-on", "server.close.total > +200%"]).0, Some(0));
    let (code, _, stderr) = status(&["a", "b", "--fail-on", "server.clos.total > +20%"]);
    assert_eq!(code, Some(2), "{stderr}");
    assert!(stderr.contains("hint: there is server.close.total"), "{stderr}");
    assert_eq!(status(&["a", "b", "--fail-on", "nonsense"]).0, Some(2));
    let (code, stdout, _) = status(&["a", "b", "--json"]);
    assert_eq!(code, Some(0));
    let json: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(json["groups"][1]["runs"].as_array().map(Vec::len), Some(5));
}

#[test]
fn a_rule_that_cannot_be_judged_is_not_kept() {
    let folder = tempfile::tempdir().unwrap();
    two_groups(folder.path());
    let run = |group: &str| {
        let first = fs::read_dir(folder.path().join(group)).unwrap().next().unwrap().unwrap().file_name();
        format!("{group}/{}", first.to_string_lossy())
    };
    let rule = ["--fail-on", "server.close.total > +20%"];
    let output = analyzer(&[&["compare", &run("a"), &run("b")], rule.as_slice()].concat(), folder.path());
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("cannot be judged"), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("single run"), "{}", text(&output.stdout));
}

#[test]
fn what_cannot_be_imported_is_named_and_the_rest_is_written() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("good.txt"), table(5)).unwrap();
    fs::write(folder.path().join("odd.txt"), "hello\n").unwrap();
    let output = analyzer(&["import", "odd.txt", "missing.txt", ".", "good.txt"], folder.path());
    assert_eq!(output.status.code(), Some(1));
    let stderr = text(&output.stderr);
    for words in [
        "`odd.txt` holds no output",
        "hint: say what it is",
        "`missing.txt`",
        "`.` is not a regular file",
        "good.txt: read as strace -c",
    ] {
        assert!(stderr.contains(words), "`{words}` is not in:\n{stderr}");
    }
    assert_eq!(fs::read_dir(folder.path().join("results")).unwrap().count(), 1);
    let report = analyzer(&["report", "results"], folder.path());
    assert!(report.status.success() && text(&report.stdout).contains("close"), "{}", text(&report.stdout));
}

#[test]
fn unlike_or_missing_groups_are_wrong_usage() {
    let folder = tempfile::tempdir().unwrap();
    two_groups(folder.path());
    assert_eq!(analyzer(&["compare", "a"], folder.path()).status.code(), Some(2));
    assert_eq!(analyzer(&["compare"], folder.path()).status.code(), Some(2));
    assert_eq!(analyzer(&["compare", "a", "nowhere"], folder.path()).status.code(), Some(1));
    fs::write(folder.path().join("w.txt"), "Running 1s test @ http://h/\n10 requests in 1.00s, 1KB read\n").unwrap();
    analyzer(&["import", "-o", "w", "w.txt"], folder.path());
    let output = analyzer(&["compare", "a", "w"], folder.path());
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("made by strace -c against wrk"), "{}", text(&output.stderr));
}

#[test]
fn charts_are_written_where_they_are_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let result = r#"{"schema":1,"settings":{"address":"127.0.0.1:1","mode":"MODE","connections":1,"payload_bytes":1,"threads":1,
"timeout_ns":1},"partial":false,"elapsed_ns":1000,"client_cpu_ns":1,"ok":2,"failed":{},"connected":1,
"connect":{"sub_bits":7,"count":0,"sum":0,"min":null,"max":null,"buckets":[]},
"request":{"sub_bits":7,"count":2,"sum":30,"min":10,"max":20,"buckets":[[10,1],[20,1]]}}"#;
    for mode in ["short", "long"] {
        fs::write(folder.path().join(mode), result.replace("MODE", mode)).unwrap();
        let output = analyzer(&["import", "-o", "runs", mode], folder.path());
        assert!(output.status.success(), "{}", text(&output.stderr));
    }
    let output = analyzer(&["compare", "runs", "--svg", "-o", "charts"], folder.path());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(fs::read_to_string(folder.path().join("charts/compare-request.svg")).unwrap().contains("<svg"));
}
