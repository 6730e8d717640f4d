//! `analyzer report`: exit status, what is named, what is skipped. What it draws is tested in the `reports` crate.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    path::Path,
    process::{Command, Output, Stdio},
};

use crate::support::ANALYZER;

const RECORDING: &str = r#"{"schema":1,"tool":"test","complete":true,"argv":["analyzer"],"started":"2026-01-01T00:00:00Z",
"duration_ns":1000000,"host":{"kernel":"6.18","arch":"x86_64","cpus":2,"clock":"CLOCK_MONOTONIC"},"sysctls":{},"probes":[],
"groups":[{"name":"server","label":"srv","argv":["srv"],"pids":[1],"processes":1,"threads":1,"loss":{},
"syscalls":[{"name":"close","nr":3,"errors":0,"latency":{"sub_bits":4,"count":2,"sum":30,"min":10,"max":20,
"buckets":[[10,1],[20,1]]}}]}]}"#;

fn store(folder: &Path, run: &str, text: &str) {
    fs::create_dir(folder.join(run)).unwrap();
    fs::write(folder.join(run).join("recording.json"), text).unwrap();
}

fn report(args: &[&str], folder: &Path) -> Output {
    Command::new(ANALYZER).arg("report").args(args).arg(folder).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn every_chart_is_named_and_there() {
    let folder = tempfile::tempdir().unwrap();
    store(folder.path(), "a", RECORDING);
    store(folder.path(), "b", RECORDING);
    let output = report(&["--svg"], folder.path());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let stdout = text(&output.stdout);
    let written: Vec<&str> = stdout.lines().filter_map(|line| line.strip_prefix("wrote ")).collect();
    assert!(written.len() >= 4, "{stdout}");
    for file in written {
        assert!(fs::read_to_string(file).unwrap().contains("<svg"), "{file}");
    }
}

#[test]
fn json_can_be_read_by_programs_and_only_one_form_is_printed() {
    let folder = tempfile::tempdir().unwrap();
    store(folder.path(), "a", RECORDING);
    let output = report(&["--json"], folder.path());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let value: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(value["runs"][0]["tables"]["syscalls-server"][0]["calls"], 2);
    for both in [["--json", "--full"], ["--list", "--json"], ["--list", "--svg"]] {
        assert_eq!(report(&both, folder.path()).status.code(), Some(2), "{both:?}");
    }
}

#[test]
fn a_damaged_recording_is_named_and_skipped_and_the_rest_reported() {
    let folder = tempfile::tempdir().unwrap();
    store(folder.path(), "good", RECORDING);
    store(folder.path(), "cut", &RECORDING[..200]);
    store(folder.path(), "later", &RECORDING.replace("\"schema\":1", "\"schema\":99"));
    fs::create_dir(folder.path().join("half")).unwrap();
    fs::write(folder.path().join("half/recording.json.partial"), "{").unwrap();
    let output = report(&[], folder.path());
    assert_eq!(output.status.code(), Some(1));
    let stderr = text(&output.stderr);
    for words in [
        "cut/recording.json` is damaged",
        "later/recording.json` has schema 99",
        "half/recording.json.partial` was never",
    ] {
        assert!(stderr.contains(words), "`{words}` is not in:\n{stderr}");
    }
    assert!(text(&output.stdout).contains("srv"), "the good one is missing");
}

#[test]
fn an_empty_folder_is_an_error_with_the_command_that_fills_it() {
    let folder = tempfile::tempdir().unwrap();
    let output = report(&[], folder.path());
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("sudo analyzer trace --target"), "{}", text(&output.stderr));
    let missing = report(&[], &folder.path().join("missing"));
    assert_eq!(missing.status.code(), Some(1));
    assert!(text(&missing.stderr).contains("missing"), "{}", text(&missing.stderr));
}

#[test]
fn a_reader_that_stops_early_is_no_error() {
    let folder = tempfile::tempdir().unwrap();
    for run in 0..200 {
        store(folder.path(), &format!("run-{run}"), RECORDING);
    }
    let mut child = Command::new(ANALYZER)
        .arg("report")
        .arg(folder.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), text(&output.stderr).as_str()), (Some(0), ""));
}
