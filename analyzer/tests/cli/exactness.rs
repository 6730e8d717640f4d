//! Counts are exact: programs that make exactly N calls, and the recording says N.

use std::{collections::BTreeMap, process::Command};

use reports::recording::Abi;

use crate::support::{calls, fixture, lossless_client, needs_root, trace};

pub(crate) fn traced(args: &[&str]) -> reports::recording::Recording {
    let fixture = fixture();
    let run = trace(&[&["--", fixture.to_str().unwrap()], args].concat());
    assert_eq!(run.status(), Some(0), "{}", run.stderr());
    let recording = run.recording();
    assert!(recording.complete, "{:?}", recording.incomplete_because);
    recording
}

#[test]
fn a_single_thread_is_counted_exactly() {
    needs_root!();
    let recording = traced(&["calls", "100000"]);
    let client = lossless_client(&recording);
    assert_eq!(calls(client, "getsid"), 100_000);
    let getsid = client.syscall("getsid").unwrap();
    assert_eq!((getsid.errors, getsid.latency.as_ref().expect("measured").missing()), (0, 0));
    assert_eq!(calls(client, "execve"), 1);
    assert_eq!(client.syscall("exit_group").unwrap().unreturned, 1);
}

#[test]
fn failed_calls_are_counted_as_calls_and_as_errors() {
    needs_root!();
    let recording = traced(&["errors", "5000"]);
    let close = lossless_client(&recording).syscall("close").unwrap();
    assert_eq!((close.errors, close.errnos.get("EBADF")), (5000, Some(&5000)));
    assert!(close.calls >= 5000);
}

#[test]
fn threads_that_move_between_cpus_lose_nothing() {
    needs_root!();
    let recording = traced(&["hopping-threads", "8", "20000"]);
    let client = lossless_client(&recording);
    assert_eq!(calls(client, "getsid"), 160_000);
    assert_eq!(calls(client, "sched_setaffinity"), 16_000);
    assert_eq!((client.processes, client.threads), (1, 9));
}

#[test]
fn children_are_followed_across_fork_and_exec() {
    needs_root!();
    let recording = traced(&["forks", "50", "300"]);
    let client = lossless_client(&recording);
    assert_eq!(calls(client, "getsid"), 51 * 300);
    assert_eq!(calls(client, "execve"), 51);
    assert_eq!((client.processes, client.threads), (51, 51));
}

#[test]
fn exec_is_survived_also_from_a_thread_that_is_not_the_leader() {
    needs_root!();
    for verb in ["exec", "exec-from-thread"] {
        let recording = traced(&[verb, "700"]);
        let client = lossless_client(&recording);
        assert_eq!(calls(client, "getsid"), 1400, "{verb}");
        assert_eq!(calls(client, "execve"), 2, "{verb}");
    }
}

#[test]
fn numbers_without_a_name_and_32_bit_calls_have_rows_of_their_own() {
    needs_root!();
    let recording = traced(&["odd", "30"]);
    let client = lossless_client(&recording);
    let unnamed = client.syscall("syscall_0x270f").unwrap();
    assert_eq!((unnamed.calls, unnamed.errnos.get("ENOSYS")), (30, Some(&30)));
    let getpid: Vec<_> = client.syscalls.iter().filter(|row| row.name == "getpid" && !row.abi.is_native()).collect();
    assert_eq!((getpid.len(), getpid[0].abi, getpid[0].calls), (1, Abi::Compat, 30));
    // 20 means writev in the native table.
    assert_eq!(calls(client, "writev"), 0);
}

#[test]
fn selected_calls_alone_are_counted() {
    needs_root!();
    let fixture = fixture();
    let run = trace(&["-e", "getsid,execve", "--", fixture.to_str().unwrap(), "calls", "1234"]);
    let recording = run.recording();
    let client = lossless_client(&recording);
    assert_eq!(calls(client, "getsid"), 1234);
    assert_eq!(client.syscalls.len(), 2, "{:?}", client.syscalls.iter().map(|row| &row.name).collect::<Vec<_>>());
    assert_eq!(recording.selection, ["getsid", "execve"]);
}

#[test]
fn counts_agree_with_strace_call_by_call() {
    needs_root!();
    for args in [&["forks", "5", "200"][..], &["exec", "300"], &["errors", "400"]] {
        let recording = traced(args);
        let client = lossless_client(&recording);
        let returned = client.syscalls.iter().filter(|row| row.calls > 0);
        let mut ours: BTreeMap<String, u64> = returned.map(|row| (row.name.clone(), row.calls)).collect();
        let mut theirs = strace_counts(&[&[fixture().to_str().unwrap()], args].concat());
        // ptrace itself interrupts a parent that waits, so that it waits once more: not a call of the program.
        let (waited, waited_traced) = (ours.remove("wait4"), theirs.remove("wait4"));
        assert!(waited <= waited_traced, "{waited:?} {waited_traced:?}");
        assert_eq!(waited.unwrap_or(0), if args[0] == "forks" { 5 } else { 0 });
        assert_eq!(ours, theirs, "{args:?}");
    }
}

pub(crate) fn strace_counts(command: &[&str]) -> BTreeMap<String, u64> {
    let table = tempfile::NamedTempFile::new().unwrap();
    let mut strace = Command::new("strace");
    strace.args(["-f", "-c", "-U", "name,calls", "-o"]).arg(table.path()).args(command);
    // Shells ask for their folder when they are told a wrong one.
    strace.env("PWD", std::env::current_dir().unwrap());
    // Its stdout is a pipe, as that of a workload: programs ask what they write to.
    let output = strace.output().expect("strace is installed by scripts/setup");
    assert!(output.status.success());
    let text = std::fs::read_to_string(table.path()).unwrap();
    let row = |line: &str| {
        let mut words = line.split_whitespace();
        Some((words.next()?.to_owned(), words.next()?.parse().ok()?))
    };
    text.lines().filter_map(row).filter(|(name, _)| name != "total").collect()
}
