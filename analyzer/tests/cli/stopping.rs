//! Stopping in the middle: what was measured is kept, nothing stays attached, no process is left.

use std::{
    collections::BTreeSet,
    fs,
    process::{Child, Stdio},
    thread,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};

use crate::support::{Run, isolated, needs_root, trace};

/// Ids of the eBPF programs that a process holds: the kernel shows them beside its descriptors.
fn programs_of(pid: u32) -> BTreeSet<u32> {
    let descriptors = fs::read_dir(format!("/proc/{pid}/fdinfo")).into_iter().flatten().flatten();
    let texts = descriptors.filter_map(|descriptor| fs::read_to_string(descriptor.path()).ok());
    texts.filter_map(|text| text.lines().find_map(|line| line.strip_prefix("prog_id:")?.trim().parse().ok())).collect()
}

/// Whether any of these programs is still in the kernel's list.
fn still_loaded(programs: &BTreeSet<u32>) -> bool {
    aya::programs::loaded_programs().flatten().any(|program| programs.contains(&program.id()))
}

fn signal(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

/// The analyzer itself: `unshare` and `sh` exec their way to it, so it has the child's pid.
fn started(args: &[&str]) -> (Child, tempfile::TempDir) {
    let (mut command, results) = isolated(args);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    (child, results)
}

fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !condition() {
        assert!(Instant::now() < deadline, "waited in vain until {what}");
        thread::sleep(Duration::from_millis(20));
    }
}

/// Processes whose parent is `pid`, by name.
fn children(pid: u32) -> Vec<String> {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let pids: String = tasks.filter_map(|task| fs::read_to_string(task.path().join("children")).ok()).collect();
    pids.split_whitespace().filter_map(|pid| fs::read_to_string(format!("/proc/{pid}/comm")).ok()).collect()
}

#[test]
fn ctrl_c_keeps_a_partial_recording_and_leaves_nothing() {
    needs_root!();
    let load = ["--target", "echo-epoll-lt", "--", "bench", "--mode", "long", "--duration", "60s"];
    let (child, results) = started(&load);
    let pid = child.id();
    wait_until("the workload runs", || children(pid).iter().any(|name| name.trim() == "bench"));
    thread::sleep(Duration::from_millis(700));
    let programs = programs_of(pid);
    assert!(programs.len() >= 7 && still_loaded(&programs), "{programs:?}");
    signal(&child, Signal::INT);
    let run = Run::of(child.wait_with_output().unwrap(), results);
    assert_eq!(run.status(), Some(130), "{}", run.stderr());
    let recording = run.recording();
    assert!(!recording.complete);
    assert!(recording.incomplete_because.as_ref().unwrap().contains("signal 2"));
    assert!(crate::support::calls(recording.group("server").unwrap(), "recvfrom") > 100);
    assert!(recording.bench.first().is_some_and(|result| result.partial && result.ok > 0));
    wait_until("nothing is attached", || !still_loaded(&programs));
}

#[test]
fn an_interrupted_run_ends_what_the_workload_started_too() {
    needs_root!();
    // Of this test alone: others may run it at the same time.
    let [first, second] = [4545, 4546].map(|seconds| format!("{seconds}.{}", std::process::id()));
    let (child, results) = started(&["--", "sh", "-c", &format!("sleep {first} & sleep {second}; echo not reached")]);
    let running = |seconds: &str| {
        let output = std::process::Command::new("pgrep").args(["-f", &format!("^sleep {seconds}")]).output().unwrap();
        !output.stdout.is_empty()
    };
    wait_until("both run", || running(&first) && running(&second));
    signal(&child, Signal::INT);
    let run = Run::of(child.wait_with_output().unwrap(), results);
    assert_eq!(run.status(), Some(130), "{}", run.stderr());
    assert!(!run.recording().complete);
    assert!(!running(&first) && !running(&second));
}

#[test]
fn a_closed_stderr_does_not_change_the_exit_status() {
    needs_root!();
    let (mut command, _results) = isolated(&["--", "sh", "-c", "exit 7"]);
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let status = command.stdout(writer.try_clone().unwrap()).stderr(writer).status().unwrap();
    assert_eq!(status.code(), Some(7));
}

#[test]
fn ctrl_c_before_the_target_listens_stops_it() {
    needs_root!();
    let (child, results) = started(&["--target", "sleep 4343", "--", "true"]);
    let pid = child.id();
    wait_until("the target runs", || children(pid).iter().any(|name| name.trim() == "sleep"));
    signal(&child, Signal::INT);
    let run = Run::of(child.wait_with_output().unwrap(), results);
    assert_eq!(run.status(), Some(130), "{}", run.stderr());
    assert!(!run.left_anything());
}

#[test]
fn killing_the_tracer_leaves_neither_probes_nor_processes() {
    needs_root!();
    let (mut child, _results) = started(&["--target", "echo-epoll-lt", "--", "sleep", "4444"]);
    let pid = child.id();
    wait_until("the workload runs", || children(pid).iter().any(|name| name.trim() == "sleep"));
    let family = children(pid);
    assert!(family.len() >= 2, "{family:?}");
    let programs = programs_of(pid);
    assert!(still_loaded(&programs));
    signal(&child, Signal::KILL);
    child.wait().unwrap();
    wait_until("nothing is attached", || !still_loaded(&programs));
    let survivors = || {
        let output = std::process::Command::new("pgrep").args(["-f", "^sleep 4444"]).output().unwrap();
        !output.stdout.is_empty()
    };
    wait_until("the workload has ended", || !survivors());
}

#[test]
fn a_run_with_a_time_limit_is_complete_when_its_time_is_over() {
    needs_root!();
    let load = ["-d", "400ms", "--target", "echo-epoll-lt", "--", "bench", "--mode", "long", "--duration", "60s"];
    let run = trace(&load);
    assert_eq!(run.status(), Some(0), "{}", run.stderr());
    assert!(run.recording().complete, "{:?}", run.recording().incomplete_because);
}

#[test]
fn a_target_that_dies_during_the_run_is_noted_and_the_figures_are_kept() {
    needs_root!();
    let target = "sh -c 'echo-epoll-lt & sleep 0.6; kill -9 $!; exit 5'";
    let folder = std::path::Path::new(crate::support::ANALYZER).parent().unwrap().to_owned();
    let (mut command, results) = isolated(&["--target", target, "--", "sleep", "1"]);
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
    let run = Run::of(command.env("PATH", path).output().unwrap(), results);
    assert_eq!(run.status(), Some(0), "{}", run.stderr());
    let recording = run.recording();
    assert!(!recording.complete);
    assert!(recording.incomplete_because.unwrap().contains("the target ended during the run (exit 5)"));
}

#[test]
fn a_reader_that_never_reads_can_be_interrupted_and_the_recording_is_safe() {
    needs_root!();
    // Nobody takes what is printed, and the pipe is full before the tables come.
    let (mut child, results) = started(&["--", "sh", "-c", "head -c 65536 /dev/zero"]);
    let recorded = || !reports::store::find(results.path(), &mut Vec::new()).is_empty();
    wait_until("the recording is written", recorded);
    thread::sleep(Duration::from_millis(300));
    assert!(child.try_wait().unwrap().is_none(), "it does not wait for its reader");
    signal(&child, Signal::TERM);
    wait_until("it has ended", || child.try_wait().unwrap().is_some());
}
