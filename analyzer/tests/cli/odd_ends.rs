//! Calls that block, are interrupted, refused, restarted, never return, or were made by processes that came and went.

use std::process::Command;

use crate::{
    exactness::traced,
    support::{ANALYZER, calls, fixture, lossless_client, needs_root},
};

#[test]
fn blocking_receives_of_threads_that_move_between_cpus_are_exact_and_asleep() {
    needs_root!();
    let recording = traced(&["ping-pong", "4", "2000"]);
    let client = lossless_client(&recording);
    let receive = client.syscall("recvfrom").unwrap();
    assert_eq!((receive.calls, calls(client, "sendto")), (16_000, 16_000));
    let on_cpu = receive.on_cpu.as_ref().expect("measured");
    assert_eq!((on_cpu.count(), on_cpu.missing()), (16_000, 0));
    let total = receive.time_ns();
    assert_eq!(on_cpu.sum() + receive.blocked_ns + receive.runqueue_ns, total);
    assert!(receive.blocked_ns > total / 4, "{} of {total}", receive.blocked_ns);
    let values = &receive.returned.as_ref().expect("bytes").values;
    assert_eq!((values.count(), values.min(), values.max()), (16_000, Some(1), Some(1)));
}

#[test]
fn a_nap_is_off_the_cpu_for_its_whole_length() {
    needs_root!();
    let recording = traced(&["naps", "200"]);
    let nap = lossless_client(&recording).syscall("clock_nanosleep").unwrap();
    let on_cpu_ns = nap.on_cpu.as_ref().expect("measured").sum();
    assert_eq!(nap.calls, 200);
    assert!(on_cpu_ns < nap.time_ns() / 4, "{on_cpu_ns} of {}", nap.time_ns());
    assert!(nap.blocked_ns > nap.runqueue_ns);
}

#[test]
fn an_interrupted_call_is_a_restart_and_never_an_error() {
    needs_root!();
    for (how, expected) in [("restart", (2, 1, 0)), ("fail", (1, 1, 0))] {
        let recording = traced(&["interrupted", how]);
        let row = lossless_client(&recording).syscall("recvfrom").unwrap();
        assert_eq!((row.calls, row.restarted, row.errors), expected, "{how}");
    }
}

#[test]
fn a_stopped_nap_goes_on_by_restart_syscall() {
    needs_root!();
    let recording = traced(&["stopped-nap", "600"]);
    let client = lossless_client(&recording);
    let nap = client.syscall("clock_nanosleep").unwrap();
    assert!(nap.restarted >= 1 && nap.errors == 0, "{nap:?}");
    assert!(calls(client, "restart_syscall") >= 1);
}

#[test]
fn calls_that_seccomp_refuses_are_counted_by_name() {
    needs_root!();
    let recording = traced(&["denied", "400"]);
    let getsid = lossless_client(&recording).syscall("getsid").unwrap();
    assert_eq!((getsid.denied, getsid.calls), (400, 0));
}

#[test]
fn a_parent_waits_for_its_vfork_child_inside_one_call() {
    needs_root!();
    let recording = traced(&["vfork", "2000"]);
    let client = lossless_client(&recording);
    let made = ["vfork", "clone", "clone3"].iter().filter_map(|name| client.syscall(name));
    let longest = made.filter_map(|row| row.latency.as_ref()?.max()).max().unwrap();
    // The two seconds begin before the call does, on a busy machine long before.
    assert!(longest >= 1_000_000_000, "{longest}");
    assert_eq!(calls(client, "execve"), 2);
}

#[test]
fn calls_end_with_their_killed_threads() {
    needs_root!();
    for (args, threads) in [(&["killed-inside"][..], 1), (&["exit-with-threads", "64"], 64)] {
        let recording = traced(args);
        let receive = lossless_client(&recording).syscall("recvfrom").unwrap();
        // A killed thread leaves its call by a restart code, if it leaves it at all.
        assert_eq!((receive.restarted + receive.unreturned, receive.errors), (threads, 0), "{args:?}");
    }
}

#[test]
fn a_storm_of_children_is_counted_to_the_last() {
    needs_root!();
    let recording = traced(&["forks", "5000", "3"]);
    let client = lossless_client(&recording);
    assert_eq!((calls(client, "getsid"), calls(client, "execve")), (5001 * 3, 5001));
    assert_eq!(client.processes, 5001);
}

#[test]
fn two_thousand_threads_lose_nothing() {
    needs_root!();
    let recording = traced(&["late-threads", "2000", "50", "10"]);
    let client = lossless_client(&recording);
    assert_eq!((calls(client, "getsid"), client.threads), (20_000, 2001));
}

#[test]
fn process_numbers_that_are_used_again_do_not_mix_up_processes() {
    needs_root!();
    let script = format!("echo 350 > /proc/sys/kernel/pid_max; exec {} sequential-forks 500 4", fixture().display());
    let run = crate::support::trace(&["--", "unshare", "--pid", "--fork", "--mount-proc", "sh", "-c", &script]);
    assert_eq!(run.status(), Some(0), "{}", run.stderr());
    let recording = run.recording();
    let client = lossless_client(&recording);
    assert_eq!(calls(client, "getsid"), 500 * 4);
    assert!(client.processes >= 501, "{}", client.processes);
}

#[test]
fn a_bystander_that_makes_millions_of_calls_is_not_counted() {
    needs_root!();
    let mut bystander = Command::new(fixture()).args(["calls", "3000000"]).spawn().unwrap();
    let recording = traced(&["hopping-threads", "4", "20000"]);
    bystander.wait().unwrap();
    assert_eq!(calls(lossless_client(&recording), "getsid"), 80_000);
}

#[test]
fn two_tracers_of_one_process_are_both_exact() {
    needs_root!();
    let results = tempfile::tempdir().unwrap();
    let mut traced = Command::new(fixture()).args(["late-threads", "2", "3000", "5000"]).spawn().unwrap();
    let pid = traced.id().to_string();
    let start = |name: &str| {
        let mut command = Command::new(ANALYZER);
        command.args(["trace", "-q", "-p", &pid, "-o"]).arg(results.path().join(name)).output().unwrap()
    };
    let outputs = std::thread::scope(|scope| {
        let second = scope.spawn(|| start("b"));
        [start("a"), second.join().unwrap()]
    });
    traced.wait().unwrap();
    for output in outputs {
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let path = String::from_utf8(output.stdout).unwrap();
        let recording = reports::store::read(std::path::Path::new(path.trim())).unwrap();
        let server = recording.group("server").unwrap();
        assert_eq!((calls(server, "getsid"), server.loss.total()), (10_000, 0));
    }
}

#[test]
fn percentiles_are_those_of_a_second_path_within_the_stated_error() {
    needs_root!();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("durations");
    let raw = crate::support::built("examples/raw");
    let nr = libc::SYS_clock_nanosleep.to_string();
    let fixture = fixture();
    let words = [raw.to_str().unwrap(), &nr, file.to_str().unwrap(), fixture.to_str().unwrap(), "naps", "1200"];
    let run = crate::support::trace(&[&["--"], &words[..]].concat());
    assert_eq!(run.status(), Some(0), "{}", run.stderr());
    let recording = run.recording();
    let row = lossless_client(&recording).syscall("clock_nanosleep").unwrap();
    let latency = row.latency.as_ref().unwrap();
    let mut exact: Vec<u64> =
        std::fs::read_to_string(&file).unwrap().lines().map(|line| line.parse().unwrap()).collect();
    exact.sort_unstable();
    assert_eq!((exact.len(), row.calls), (1200, 1200));
    for per_mille in [500u16, 900, 990, 999] {
        let q = f64::from(per_mille) / 1000.0;
        let rank = (exact.len() * usize::from(per_mille)).div_ceil(1000) - 1;
        let ours = latency.quantile(q).unwrap() as f64;
        let theirs = exact[rank] as f64;
        // The other tracer's probes are inside our latency, or ours inside its.
        let apart = (ours - theirs).abs() / theirs - 20_000.0 / theirs;
        assert!(apart <= latency.relative_error(), "p{}: {ours} and {theirs}", q * 100.0);
    }
}
