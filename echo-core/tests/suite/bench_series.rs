//! Several runs in one: repeats and sweeps, and what is written of them.

use std::{fs, path::Path, process::Command, thread, time::Duration};

use reports::bench::{BenchResult, BenchSeries, SweepOver};
use rustix::process::Signal;

use crate::{
    SERVERS,
    peer::{misbehaving, nobody},
    process::{Running, Server, bench, bench_command, stderr, stdout},
};

fn bench_to(port: u16, arguments: &[&str]) -> Command {
    let port = port.to_string();
    let mut command = bench_command(&["--port", &port]);
    command.args(arguments);
    command
}

fn series(file: &Path) -> BenchSeries {
    serde_json::from_str(&fs::read_to_string(file).expect("written")).expect("a series")
}

#[test]
fn repeats_are_printed_with_their_median_and_handed_over_one_by_one() {
    let server = Server::start(SERVERS[0]);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (json, lines) = (folder.path().join("series.json"), folder.path().join("lines"));
    fs::write(&lines, "").expect("our own folder");
    let mut command = bench_to(server.address.port(), &["--repeat", "3", "--connections", "2", "--rounds", "5"]);
    command.arg("--json").arg(&json).env("BENCH_RESULT_FILE", &lines);
    let output = Running::start(&mut command).finish(Duration::from_secs(20));
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = stdout(&output);
    assert!(["median", "least", "most"].iter().all(|row| text.contains(row)), "{text}");
    let series = series(&json);
    assert_eq!((series.runs.len(), series.repeat, series.sweep.is_none(), series.partial), (3, 3, true, false));
    assert!(series.runs.iter().all(|run| run.ok == 10));
    let handed: Vec<BenchResult> = fs::read_to_string(&lines)
        .expect("ours")
        .lines()
        .map(|line| serde_json::from_str(line).expect("a result"))
        .collect();
    assert_eq!(handed, series.runs);
    assert_eq!(server.stop().connections, 30);
}

#[test]
fn a_sweep_over_connections_makes_every_step_once_and_then_again() {
    let server = Server::start(SERVERS[1]);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let json = folder.path().join("series.json");
    let arguments = ["--sweep", "connections=1,3,9", "--repeat", "2", "--rounds", "4", "--mode", "long"];
    let output = Running::start(bench_to(server.address.port(), &arguments).arg("--json").arg(&json))
        .finish(Duration::from_secs(20));
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let series = series(&json);
    let connections: Vec<u32> = series.runs.iter().map(|run| run.settings.connections).collect();
    assert_eq!(connections, [1, 3, 9, 1, 3, 9]);
    assert_eq!(series.sweep.as_ref().map(|sweep| sweep.over), Some(SweepOver::Connections));
    assert!(series.by_step().iter().all(|runs| runs.len() == 2));
    assert!(stdout(&output).contains("sweep over connections, 2 runs each"), "{}", stdout(&output));
}

#[test]
fn a_sweep_over_rates_ends_at_the_first_that_is_not_held() {
    // 2 connections x 100 a second.
    let slow = misbehaving(|mut stream| {
        let mut bytes = [0; 64];
        while std::io::Read::read_exact(&mut stream, &mut bytes).is_ok() {
            thread::sleep(Duration::from_millis(10));
            let _ = std::io::Write::write_all(&mut stream, &bytes);
        }
    });
    let folder = tempfile::tempdir().expect("a temporary folder");
    let json = folder.path().join("series.json");
    let arguments = ["--sweep", "rate=20,1000,2000", "--mode", "long", "--connections", "2", "--duration", "400ms"];
    let output =
        Running::start(bench_to(slow.port(), &arguments).arg("--json").arg(&json)).finish(Duration::from_secs(20));
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let series = series(&json);
    assert_eq!(series.runs.len(), 2, "2,000 is not tried");
    assert_eq!((series.runs[0].ok, series.runs[0].failures()), (8, 0));
    assert!(stdout(&output).contains("stopped: rate 1,000 was not held"), "{}", stdout(&output));
}

#[test]
fn a_signal_keeps_the_repeats_that_were_made() {
    let server = Server::start(SERVERS[0]);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let json = folder.path().join("series.json");
    let arguments = ["--repeat", "1000", "--duration", "200ms", "--connections", "2", "--mode", "long"];
    let running = Running::start(bench_to(server.address.port(), &arguments).arg("--json").arg(&json));
    thread::sleep(Duration::from_millis(700));
    running.signal(Signal::INT);
    let output = running.finish(Duration::from_secs(5));
    assert_eq!(output.status.code(), Some(130), "{}", stderr(&output));
    let series = series(&json);
    assert!(series.partial && (1..10).contains(&series.runs.len()), "{}", series.runs.len());
    assert!(stdout(&output).contains("partial"), "{}", stdout(&output));
}

#[test]
fn the_distribution_is_written_for_the_plotters_of_hdr_histogram() {
    let server = Server::start(SERVERS[0]);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("latency.hgrm");
    let arguments = ["--connections", "2", "--rounds", "50", "--repeat", "2"];
    let output = Running::start(bench_to(server.address.port(), &arguments).arg("--hdr").arg(&file))
        .finish(Duration::from_secs(20));
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = fs::read_to_string(&file).expect("written");
    assert!(text.starts_with("       Value     Percentile TotalCount 1/(1-Percentile)\n\n"), "{text}");
    assert!(text.contains("Total count    =          200]"), "{text}");
}

#[test]
fn a_named_pipe_that_nobody_reads_does_not_hold_a_run_for_ever() {
    let server = Server::start(SERVERS[0]);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let pipe = folder.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("coreutils").success());
    let small = ["--connections", "1", "--rounds", "1"];
    let output = Running::start(bench_to(server.address.port(), &small).arg("--json").arg(&pipe))
        .finish(Duration::from_secs(10));
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("nobody reads `"), "{}", stderr(&output));
    let mut handing = bench_to(server.address.port(), &small);
    let output = Running::start(handing.env("BENCH_RESULT_FILE", &pipe)).finish(Duration::from_secs(10));
    assert_eq!(output.status.code(), Some(0));
    assert!(stderr(&output).contains("warning: nobody reads `"), "{}", stderr(&output));
    let reading = Running::start(Command::new("cat").arg(&pipe));
    let read_by = bench_to(server.address.port(), &small).arg("--json").arg(&pipe).output().expect("a built binary");
    // cat may not have opened it yet: that is said, too, and at once.
    if read_by.status.success() {
        let text = stdout(&reading.finish(Duration::from_secs(10)));
        assert!(serde_json::from_str::<BenchResult>(&text).is_ok(), "{text}");
    } else {
        assert!(stderr(&read_by).contains("nobody reads"), "{}", stderr(&read_by));
    }
}

#[test]
fn options_that_exclude_each_other_are_usage_errors() {
    let port = nobody().port().to_string();
    let wrong: [&[&str]; 12] = [
        &["--rate", "0"],
        &["--rate", "5", "--think", "1s"],
        &["--rate", "5", "--pace", "5/1s"],
        &["--sweep", "rate=1,2"],
        &["--sweep", "rate=1,2", "--duration", "1s", "--rate", "5"],
        &["--sweep", "rate=1,2", "--duration", "1s", "--think", "5s"],
        &["--sweep", "connections=1,2", "--hdr", "/dev/null"],
        &["--mode", "long", "--requests-per-connection", "5"],
        &["--close", "server", "--linger0"],
        &["--sources", "0"],
        &["--payload", "9-1"],
        &["--repeat", "0"],
    ];
    for arguments in wrong {
        let output = bench(&[&["--port", &port], arguments].concat());
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", stderr(&output));
    }
    let output = bench(&["--port", &port, "--host", "192.0.2.1", "--sources", "4"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("hint: leave `--sources` out"), "{}", stderr(&output));
}
