//! `bench` as a command: its forms, its files, its exit status, its end by signals.

use std::{
    fs::{self, File},
    process::Stdio,
    thread,
    time::Duration,
};

use reports::bench::BenchResult;
use rustix::process::Signal;

use crate::{
    SERVERS,
    peer::nobody,
    process::{Running, Server, bench, bench_command, bench_result, stderr, stdout, with_descriptors},
};

#[test]
fn the_classic_form_means_the_same_as_the_options() {
    let server = Server::start(SERVERS[0]);
    let port = server.address.port().to_string();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("classic.json");
    let name = file.to_str().expect("plain text");
    let output = bench(&["127.0.0.1", &port, "5", "6", "--mode", "long", "--json", name]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let classic: BenchResult = serde_json::from_slice(&fs::read(&file).expect("written")).expect("a result");
    let options = ["--host", "127.0.0.1", "--connections", "5", "--rounds", "6", "--mode", "long"];
    let (_, result) = bench_result(server.address, &options);
    assert_eq!((classic.settings, classic.ok), (result.settings, 30));
}

#[test]
fn what_makes_no_sense_is_a_usage_error() {
    let wrong: [&[&str]; 13] = [
        &["--mode", "medium"],
        &["--connections", "0"],
        &["--rounds", "0"],
        &["--rounds", "1", "--duration", "1s"],
        &["--duration", "0s"],
        &["--duration", "soon"],
        &["--payload", "0"],
        &["--payload", "99999999999"],
        &["--port", "0"],
        &["--threads", "0"],
        &["127.0.0.1", "--host", "127.0.0.1"],
        &["127.0.0.1", "9988", "1", "1", "--duration", "1s"],
        &["127.0.0.1", "9988", "1", "1", "1"],
    ];
    for arguments in wrong {
        let output = bench(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", stderr(&output));
    }
}

#[test]
fn the_result_file_gets_one_line_more_and_keeps_those_it_had() {
    let server = Server::start(SERVERS[1]);
    let port = server.address.port().to_string();
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    for _ in 0..2 {
        let mut command = bench_command(&["--port", &port, "--connections", "2", "--rounds", "3"]);
        let output = Running::start(command.env("BENCH_RESULT_FILE", file.path())).finish(Duration::from_secs(20));
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    }
    let text = fs::read_to_string(file.path()).expect("ours");
    let results: Vec<BenchResult> = text.lines().map(|line| serde_json::from_str(line).expect("a result")).collect();
    assert_eq!(results.iter().map(|result| result.ok).collect::<Vec<_>>(), [6, 6]);
}

#[test]
fn a_result_file_that_is_not_there_is_a_warning_only() {
    let server = Server::start(SERVERS[1]);
    let port = server.address.port().to_string();
    let mut command = bench_command(&["--port", &port, "--connections", "1", "--rounds", "1"]);
    let output = Running::start(command.env("BENCH_RESULT_FILE", "/nowhere/file")).finish(Duration::from_secs(20));
    assert_eq!(output.status.code(), Some(0));
    assert!(stderr(&output).contains("warning: failed to write `/nowhere/file`: No such file"), "{}", stderr(&output));
}

#[test]
fn an_unwritable_json_file_is_refused_before_the_run() {
    let server = Server::start(SERVERS[0]);
    let port = server.address.port().to_string();
    let output = bench(&["--port", &port, "--json", "/nowhere/result.json"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("failed to write `/nowhere/result.json`"), "{}", stderr(&output));
    assert_eq!(server.stop().connections, 0);
}

#[test]
fn a_signal_keeps_the_partial_result() {
    for (signal, status) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let server = Server::start(SERVERS[0]);
        let port = server.address.port().to_string();
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = folder.path().join("result.json");
        let mut command = bench_command(&["--port", &port, "--mode", "long", "--duration", "60s"]);
        let running = Running::start(command.arg("--json").arg(&file));
        thread::sleep(Duration::from_millis(300));
        running.signal(signal);
        let output = running.finish(Duration::from_secs(5));
        assert_eq!(output.status.code(), Some(status), "{}", stderr(&output));
        assert!(stdout(&output).contains("partial"), "{}", stdout(&output));
        let result: BenchResult = serde_json::from_slice(&fs::read(&file).expect("written")).expect("a result");
        assert!(result.partial && result.ok > 0 && result.failures() == 0, "{result:?}");
    }
}

#[test]
fn a_reader_that_has_gone_is_not_an_error() {
    let server = Server::start(SERVERS[0]);
    let port = server.address.port().to_string();
    let mut command = bench_command(&["--port", &port, "--connections", "1", "--rounds", "1"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("a built binary");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("our child");
    // What other tests leave in TIME_WAIT may be worth a warning.
    let text = stderr(&output);
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with("warning: port-bound: ")).collect();
    assert_eq!((output.status.code(), lines), (Some(0), Vec::new()));
}

#[test]
fn a_full_disk_is_an_error() {
    let server = Server::start(SERVERS[0]);
    let port = server.address.port().to_string();
    let full = File::options().write(true).open("/dev/full").expect("a device");
    let output = bench_command(&["--port", &port, "--rounds", "1"]).stdout(full).output().expect("a built binary");
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
}

#[test]
fn too_few_descriptors_are_said_up_front_with_the_remedy() {
    let port = nobody().port().to_string();
    let mut command = with_descriptors("256:256", env!("CARGO_BIN_EXE_bench"));
    command.args(["--port", &port, "--connections", "1000"]);
    let output = Running::start(&mut command).finish(Duration::from_secs(20));
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(stdout(&output), "");
    let text = stderr(&output);
    assert!(text.contains("`1000` connections need 1025 file descriptors, but the limit is 256"), "{text}");
    assert!(text.contains("hint:") && text.contains("`ulimit -n 1025`"), "{text}");
}

#[test]
fn a_soft_limit_is_raised_to_the_hard_one_when_that_is_enough() {
    let server = Server::start(SERVERS[0]);
    let port = server.address.port().to_string();
    let mut command = with_descriptors("64:512", env!("CARGO_BIN_EXE_bench"));
    command.args(["--port", &port, "--connections", "200", "--rounds", "2"]);
    let output = Running::start(&mut command).finish(Duration::from_secs(20));
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(server.stop().connections, 400);
}
