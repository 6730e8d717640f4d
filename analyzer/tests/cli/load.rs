//! The main job: server and load generator of our own, counted against what was asked for.

use std::process::Command;

use crate::support::{ANALYZER, Run, calls, fixture, needs_root, trace};

fn bench(server: &str, mode: &str, connections: u64, rounds: u64) -> reports::recording::Recording {
    let (connections, rounds) = (connections.to_string(), rounds.to_string());
    let load = ["--", "bench", "--mode", mode, "--connections", &connections, "--rounds", &rounds];
    let run = trace(&[&["--target", server][..], &load].concat());
    assert_eq!(run.status(), Some(0), "{}", run.stderr());
    let recording = run.recording();
    assert!(recording.complete);
    let client = recording.group("client").unwrap();
    let server = recording.group("server").unwrap();
    assert_eq!(client.loss.total(), 0);
    assert_eq!(server.loss.total(), 0);
    // The server sat in epoll_wait when tracing began.
    let begun_before = |row: &reports::recording::Syscall| (row.name.clone(), row.begun_before);
    let begun_before: Vec<_> = server.syscalls.iter().map(begun_before).filter(|(_, times)| *times > 0).collect();
    assert_eq!((begun_before, server.begun_before), (vec![("epoll_wait".to_owned(), 1)], 0));
    recording
}

fn accepted(recording: &reports::recording::Recording) -> u64 {
    let accept = recording.group("server").unwrap().syscall("accept4").unwrap();
    accept.calls - accept.errors
}

#[test]
fn short_mode_connects_and_accepts_once_per_request() {
    needs_root!();
    for server in ["echo-epoll-lt", "echo-epoll-et"] {
        let recording = bench(server, "short", 50, 40);
        let client = recording.group("client").unwrap();
        assert_eq!(calls(client, "connect"), 2000, "{server}");
        assert_eq!(accepted(&recording), 2000, "{server}");
        assert_eq!(recording.bench.len(), 1);
        assert_eq!((recording.bench[0].ok, recording.bench[0].failures()), (2000, 0), "{server}");
    }
}

#[test]
fn long_mode_connects_and_accepts_once_per_connection() {
    needs_root!();
    for server in ["echo-epoll-lt", "echo-epoll-et"] {
        let recording = bench(server, "long", 50, 40);
        assert_eq!(calls(recording.group("client").unwrap(), "connect"), 50, "{server}");
        assert_eq!(accepted(&recording), 50, "{server}");
        assert_eq!(recording.bench[0].ok, 2000, "{server}");
    }
}

#[test]
fn a_running_process_is_joined_with_all_its_threads_and_left_running() {
    needs_root!();
    let mut server = Command::new(fixture()).args(["wait-for", "20000"]).spawn().unwrap();
    let pid = server.id().to_string();
    let run = trace(&["-p", &pid, "-d", "300ms"]);
    assert_eq!(run.status(), Some(0), "{}", run.stderr());
    let recording = run.recording();
    assert!(recording.complete);
    let group = recording.group("server").unwrap();
    assert_eq!((group.threads, group.label.as_str()), (1, "fixture"));
    // It slept all the while: a call that neither began nor ended in the run.
    let call = &group.in_flight[0];
    assert_eq!((group.in_flight.len(), call.name.as_str(), call.begun_before), (1, "clock_nanosleep", true));
    assert!(call.age_ns >= 300_000_000, "{call:?}");
    assert!(group.syscalls.is_empty());
    assert!(recording.duration_ns >= 300_000_000 && recording.duration_ns < 3_000_000_000);
    assert!(server.try_wait().unwrap().is_none(), "the process was ended");
    server.kill().unwrap();
    server.wait().unwrap();
}

#[test]
fn every_thread_of_a_running_process_is_joined() {
    needs_root!();
    let mut server = Command::new(fixture()).args(["late-threads", "40", "5000", "25"]).spawn().unwrap();
    std::thread::sleep(std::time::Duration::from_millis(200));
    let run = trace(&["-p", &server.id().to_string()]);
    assert_eq!(run.status(), Some(0), "{}", run.stderr());
    let group = run.recording().group("server").unwrap().clone();
    // The run ends with the process; all its threads were asleep when it began.
    assert_eq!((group.processes, group.threads, calls(&group, "getsid")), (1, 41, 1000));
    // One joins the others, which all sleep.
    let begun_before = |name: &str| group.syscall(name).map_or(0, |row| row.begun_before);
    assert_eq!((begun_before("clock_nanosleep"), begun_before("futex"), group.begun_before), (40, 1, 0));
    assert_eq!(group.loss.total(), 0);
    server.wait().unwrap();
}

#[test]
fn a_process_in_another_network_namespace_brings_its_own_listeners_and_counters() {
    needs_root!();
    let mut server = Command::new("unshare")
        .args(["--net", "--", "sh", "-c", "ip link set lo up; exec \"$@\"", "sh"])
        .arg(crate::support::built("echo-epoll-lt"))
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    std::thread::sleep(std::time::Duration::from_millis(500));
    let pid = server.id().to_string();
    let load = format!("exec nsenter --net --target {pid} \"$0\" --connections 5 --rounds 10");
    let bench = crate::support::built("bench");
    let run = trace(&["-p", &pid, "--", "sh", "-c", &load, bench.to_str().unwrap()]);
    server.kill().unwrap();
    server.wait().unwrap();
    assert_eq!(run.status(), Some(0), "{}", run.stderr());
    let recording = run.recording();
    assert_eq!(recording.group("server").unwrap().listeners, ["0.0.0.0:9988"]);
    let tcp = recording.tcp.unwrap();
    assert_eq!((tcp.counter("Tcp.PassiveOpens"), tcp.transition("CLOSE", "SYN_SENT")), (50, 50));
}

#[test]
fn a_target_that_goes_to_the_background_is_traced_and_stopped() {
    needs_root!();
    let server = crate::support::built("echo-epoll-lt");
    // Twice forked, in a session of its own, its starter gone before it listens: a daemon.
    let target = format!("sh -c 'setsid sh -c \"sleep 0.3; exec {}\" & exit 0'", server.display());
    let run = trace(&["--target", &target, "--", "bench", "--connections", "5", "--rounds", "10"]);
    assert_eq!(run.status(), Some(0), "{}", run.stderr());
    let recording = run.recording();
    assert_eq!(accepted(&recording), 50);
    let server = recording.group("server").unwrap();
    assert!(server.output.contains("totals: connections 50"), "not stopped by SIGTERM: {}", server.output);
    let pid = server.pids[0];
    assert!(!std::path::Path::new(&format!("/proc/{pid}")).exists(), "left running");
}

/// Listens, works on, and only then goes to the background, as nginx does.
const LATE_DAEMON: &str = "\
import os, select, socket, time
listener = socket.create_server(('127.0.0.1', 9988))
end = time.monotonic() + 0.2
while time.monotonic() < end:
    pass
if os.fork():
    os._exit(0)
while select.select([listener], [], []):
    connection = listener.accept()[0]
    while data := connection.recv(4096):
        connection.sendall(data)
    connection.close()
";

#[test]
fn a_target_that_goes_to_the_background_after_it_listens_is_traced_there() {
    needs_root!();
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("daemon.py");
    std::fs::write(&script, LATE_DAEMON).unwrap();
    let target = format!("python3 {}", script.display());
    let run = trace(&["--target", &target, "--", "bench", "--connections", "1", "--rounds", "30"]);
    assert_eq!(run.status(), Some(0), "{}", run.stderr());
    let recording = run.recording();
    assert_eq!(accepted(&recording), 30);
    let pid = recording.group("server").unwrap().pids[0];
    assert!(!std::path::Path::new(&format!("/proc/{pid}")).exists(), "left running");
}

#[test]
fn what_a_workload_leaves_running_is_named_and_left_alone() {
    needs_root!();
    let run = trace(&["--", "sh", "-c", "sleep 4.141 > /dev/null 2>&1 & exit 0"]);
    assert_eq!(run.status(), Some(0), "{}", run.stderr());
    let stderr = run.stderr();
    let pid = stderr.split("left running: sleep (pid ").nth(1).and_then(|rest| rest.split(')').next());
    let pid = pid.unwrap_or_else(|| panic!("not named:\n{stderr}"));
    assert!(std::path::Path::new(&format!("/proc/{pid}")).exists(), "ended");
}

#[test]
fn in_another_pid_namespace_the_counts_are_the_same() {
    needs_root!();
    let results = tempfile::tempdir().unwrap();
    let output = Command::new("unshare")
        .args(["--net", "--pid", "--fork", "--mount-proc", "--", "sh", "-c", "ip link set lo up; exec \"$@\"", "sh"])
        .args([ANALYZER, "trace", "-o", results.path().join("results").to_str().unwrap()])
        .args(["--target", "echo-epoll-lt", "--", "bench", "--connections", "10", "--rounds", "10"])
        .output()
        .unwrap();
    let run = Run::of(output, results);
    assert_eq!(run.status(), Some(0), "{}", run.stderr());
    let recording = run.recording();
    assert_eq!((accepted(&recording), calls(recording.group("client").unwrap(), "connect")), (100, 100));
}

#[test]
fn the_workloads_stdout_is_shown_and_its_status_is_ours() {
    needs_root!();
    let run = trace(&["--", "sh", "-c", "echo from-the-workload; exit 7"]);
    assert_eq!(run.status(), Some(7));
    assert!(run.stdout().contains("from-the-workload"));
    assert!(run.recording().complete);
    assert_eq!(run.recording().group("client").unwrap().ended.as_deref(), Some("exit 7"));
}

#[test]
fn files_belong_to_the_user_behind_sudo() {
    use std::os::unix::fs::MetadataExt as _;
    needs_root!();
    let (mut command, results) = crate::support::isolated(&["--", "true"]);
    let output = command.env("SUDO_UID", "65534").env("SUDO_GID", "65534").output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let file = reports::store::find(results.path(), &mut Vec::new()).remove(0);
    for path in [file.as_path(), file.parent().unwrap(), file.parent().unwrap().parent().unwrap()] {
        let metadata = path.metadata().unwrap();
        assert_eq!((metadata.uid(), metadata.gid()), (65534, 65534), "{}", path.display());
    }
}

#[test]
fn target_and_workload_run_as_the_named_user() {
    needs_root!();
    // What `nobody` may execute: the analyzer's own folder may be closed to others.
    let target = "/usr/bin/python3 -c 'import os, socket, time; s = socket.create_server((\"127.0.0.1\", 7002)); time.sleep(60)'";
    let script = "id -un; pgrep -u nobody python3 > /dev/null && echo the target too";
    let run = trace(&["--user", "nobody", "--target", target, "--", "sh", "-c", script]);
    assert_eq!(run.status(), Some(0), "{}", run.stderr());
    assert!(run.stdout().starts_with("nobody\nthe target too\n"), "{}", run.stdout());
}
