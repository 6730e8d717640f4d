//! `bench --hold`: as many connections as were asked for, whatever the limit of descriptors, and nothing left behind.

use std::{fs, process::Command, time::Duration};

use reports::hold::HoldResult;
use rustix::process::{Pid, Signal, kill_process};

use crate::{
    SERVERS,
    peer::{misbehaving, nobody},
    process::{Running, Server, bench, bench_command, in_own_network, stderr, stdout, with_descriptors},
};

/// Runs it to its end, and gives its exit status and its result.
fn hold(command: &mut Command) -> (Option<i32>, HoldResult) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("result.json");
    let output = Running::start(command.arg("--json").arg(&file)).finish(Duration::from_mins(1));
    let text = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{error}: {}", stderr(&output)));
    (output.status.code(), serde_json::from_str(&text).expect("a result"))
}

/// Processes whose parent is `pid`.
fn children(pid: u32) -> Vec<i32> {
    let text = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    text.split_whitespace().map(|child| child.parse().expect("a process id")).collect()
}

#[test]
fn thousands_are_opened_and_kept_and_their_memory_is_said() {
    let (status, result) = hold(&mut bench_command(&["--hold", "5000", "--hold-sink", "--duration", "300ms"]));
    assert_eq!((status, result.opened, result.lost, result.partial), (Some(0), 5000, 0, false), "{result:?}");
    assert_eq!((result.connect.count(), result.failed.len(), result.not_tried()), (5000, 0, 0));
    assert!(result.held_ns >= 300_000_000 && result.elapsed_ns > 0);
    // Other tests take and give memory too, but two sockets are never less than this.
    assert!(result.memory.slab_bytes > 5000 * 1000, "{:?}", result.memory);
}

#[test]
fn a_limit_of_256_descriptors_means_more_processes_not_fewer_connections() {
    let mut command = with_descriptors("256:256", env!("CARGO_BIN_EXE_bench"));
    let (status, result) = hold(command.args(["--hold", "2000", "--hold-sink", "--duration", "100ms"]));
    assert_eq!((status, result.opened, result.lost), (Some(0), 2000, 0), "{result:?}");
    assert_eq!(result.settings.processes, 9);
}

#[test]
fn a_servers_own_count_is_the_same() {
    let server = Server::start(SERVERS[0]);
    let port = server.address.port().to_string();
    let (status, result) = hold(&mut bench_command(&["--hold", "3000", "--port", &port, "--duration", "100ms"]));
    assert_eq!((status, result.opened, result.settings.address), (Some(0), 3000, Some(server.address.to_string())));
    assert_eq!(server.stop().connections, 3000);
}

#[test]
fn connections_that_the_server_ends_are_counted_as_lost() {
    let address = misbehaving(drop);
    let port = address.port().to_string();
    let (status, result) = hold(&mut bench_command(&["--hold", "20", "--port", &port, "--duration", "500ms"]));
    assert_eq!((status, result.opened, result.lost), (Some(1), 20, 20), "{result:?}");
}

#[test]
fn what_is_of_no_use_to_a_hold_is_a_usage_error() {
    let wrong: [&[&str]; 6] = [
        &["--hold", "0"],
        &["--hold", "5", "--rounds", "1"],
        &["--hold", "5", "--payload", "1"],
        &["--hold", "5", "--hold-sink", "--port", "9988"],
        &["--hold-sink"],
        &["--hold", "5", "--classic"],
    ];
    for arguments in wrong {
        let output = bench(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", stderr(&output));
    }
}

#[test]
fn the_first_failure_is_named_with_its_reason() {
    let port = nobody().port().to_string();
    let output = bench(&["--hold", "1000", "--port", &port]);
    let text = stdout(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("first failure: refused (Connection refused"), "{text}");
    assert!(text.contains("not tried"), "{text}");
}

#[test]
fn a_range_of_100_ports_is_spread_over_more_source_addresses() {
    let script = r#"
        echo "40000 40099" > /proc/sys/net/ipv4/ip_local_port_range; start_server
        "$bench" --hold 1000 --duration 100ms --json "$results.json" > /dev/null; status=$?
        cat "$results.json" > "$results"; rm -f "$results.json"; (exit $status)"#;
    let Some(output) = in_own_network("a_range_of_100_ports_is_spread_over_more_source_addresses", script) else {
        return;
    };
    let result: HoldResult = serde_json::from_str(&output.text).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((output.status, result.opened), (Some(0), 1000), "{result:?}");
    assert!(result.settings.sources >= 20, "{result:?}");
}

#[test]
fn ctrl_c_is_how_it_ends_without_a_duration_and_no_process_is_left() {
    for (signal, limits) in [(Signal::INT, "256:256"), (Signal::TERM, "256:256")] {
        let mut command = with_descriptors(limits, env!("CARGO_BIN_EXE_bench"));
        let running = Running::start(command.args(["--hold", "1000", "--hold-sink"]));
        let pid = running.id();
        let opened = wait_until(|| children(pid).len() == 10);
        running.signal(signal);
        let output = running.finish(Duration::from_secs(10));
        assert!(opened, "{}", stderr(&output));
        assert!(matches!(output.status.code(), Some(0 | 130 | 143)), "{output:?}");
        assert!(!fs::exists(format!("/proc/{pid}")).expect("procfs"));
    }
}

#[test]
fn a_part_that_is_killed_is_an_error_not_a_smaller_result() {
    let mut command = with_descriptors("256:256", env!("CARGO_BIN_EXE_bench"));
    let running = Running::start(command.args(["--hold", "1000", "--hold-sink"]));
    assert!(wait_until(|| children(running.id()).len() == 10));
    let last = children(running.id()).pop().and_then(Pid::from_raw).expect("ten of them");
    kill_process(last, Signal::KILL).expect("it runs");
    let output = running.finish(Duration::from_secs(20));
    assert_eq!(output.status.code(), Some(1), "{}", stdout(&output));
    // Noticed by its end, or by the pipe through which it was to be told its work, whichever comes first.
    let told = ["a process of this run ended by itself", "failed to start a part of the run"];
    assert!(told.iter().any(|words| stderr(&output).contains(words)), "{}", stderr(&output));
}

#[test]
fn its_parts_end_with_it_also_when_it_is_killed() {
    let mut command = with_descriptors("256:256", env!("CARGO_BIN_EXE_bench"));
    let running = Running::start(command.args(["--hold", "1000", "--hold-sink"]));
    assert!(wait_until(|| children(running.id()).len() == 10));
    let parts = children(running.id());
    running.signal(Signal::KILL);
    running.finish(Duration::from_secs(10));
    let is_part =
        |part: &i32| fs::read_to_string(format!("/proc/{part}/cmdline")).is_ok_and(|line| line.contains("--hold-part"));
    assert!(wait_until(|| !parts.iter().any(is_part)), "{parts:?}");
}

fn wait_until(condition: impl Fn() -> bool) -> bool {
    let deadline = std::time::Instant::now() + Duration::from_secs(15);
    while !condition() {
        if std::time::Instant::now() > deadline {
            return false;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    true
}
