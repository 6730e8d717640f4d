//! What can be chosen: calls by class and pattern, processes by name and control group, tables and formats.

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use crate::{
    exactness::strace_counts,
    support::{ANALYZER, calls, fixture, lossless_client, needs_root, trace},
};

fn names(args: &[&str]) -> Vec<String> {
    let run = trace(args);
    assert_eq!(run.status(), Some(0), "{}", run.stderr());
    let recording = run.recording();
    let mut names: Vec<_> = lossless_client(&recording).syscalls.iter().map(|row| row.name.clone()).collect();
    names.sort();
    names
}

#[test]
fn calls_are_chosen_as_strace_users_type_them() {
    needs_root!();
    let fixture = fixture();
    let command = ["--", fixture.to_str().unwrap(), "denied", "3"];
    let with = |words: &[&'static str]| names(&[words, &command].concat());
    assert!(with(&["-e", "%memory"]).iter().all(|name| ["mmap", "munmap", "brk", "mprotect"].contains(&name.as_str())));
    assert_eq!(with(&["-e", "/^getsid$/"]), ["getsid"]);
    let all_but = with(&["-e", "!%memory,getsid"]);
    assert!(!all_but.contains(&"mmap".to_owned()) && all_but.contains(&"execve".to_owned()), "{all_but:?}");
}

#[test]
fn the_table_by_process_or_thread_adds_up_to_the_whole() {
    needs_root!();
    let fixture = fixture();
    for (by, rows_of_getsid) in [("process", 6), ("thread", 6)] {
        let run = trace(&["--by", by, "--", fixture.to_str().unwrap(), "forks", "5", "200"]);
        assert!(run.stdout().contains("adds up to the table above"), "{}", run.stdout());
        let recording = run.recording();
        let client = lossless_client(&recording);
        let split = client.split.as_ref().expect("asked for");
        assert_eq!(split.by, by);
        for row in &client.syscalls {
            let parts = split.rows.iter().filter(|part| part.name == row.name && part.abi == row.abi);
            let sums =
                parts.fold((0, 0, 0), |sum, part| (sum.0 + part.calls, sum.1 + part.errors, sum.2 + part.total_ns));
            assert_eq!(sums, (row.calls, row.errors, row.time_ns()), "{}", row.name);
        }
        assert_eq!(split.rows.iter().filter(|row| row.name == "getsid").count(), rows_of_getsid);
    }
}

#[test]
fn counting_alone_reads_no_clock() {
    needs_root!();
    let fixture = fixture();
    let run = trace(&["--count-only", "--", fixture.to_str().unwrap(), "errors", "700"]);
    let recording = run.recording();
    let close = lossless_client(&recording).syscall("close").unwrap();
    assert_eq!((close.errors, close.total_ns, close.latency.is_none()), (700, None, true));
    assert!(recording.count_only);
}

#[test]
fn the_series_holds_every_call_of_the_table() {
    needs_root!();
    let fixture = fixture();
    let run = trace(&["--interval", "20ms", "--", fixture.to_str().unwrap(), "late-threads", "3", "150", "500"]);
    let recording = run.recording();
    let client = lossless_client(&recording);
    let series = recording.series.as_ref().expect("sampled");
    assert!(series.intervals >= 4, "{}", series.intervals);
    let group = series.groups.iter().find(|group| group.name == "client").unwrap();
    for row in client.syscalls.iter().filter(|row| row.calls > 0) {
        let of_row = group.syscalls.iter().find(|over_time| over_time.name == row.name).unwrap();
        let sums = of_row.points.iter().fold((0, 0, 0), |sum, point| {
            (sum.0 + point.calls, sum.1 + point.errors, sum.2 + point.buckets.iter().map(|(_, n)| n).sum::<u64>())
        });
        assert_eq!(sums, (row.calls, row.errors, row.calls), "{}", row.name);
    }
    let resources = recording.resources.as_ref().expect("sampled");
    assert_eq!(resources.groups, ["client"]);
    assert!(resources.samples.iter().any(|sample| sample.groups[0].rss_bytes > 0));
    let cost = recording.own_cost.as_ref().expect("measured");
    let per_call = cost.per_call.as_ref().expect("measured");
    assert!(per_call.traced_ns > 0.0 && cost.map_bytes > 1_000_000, "{cost:?}");
    assert!(cost.programs.iter().any(|program| program.name == "sys_enter" && program.runs > 0), "{cost:?}");
}

#[test]
fn stdout_is_left_to_the_format_that_was_asked_for() {
    needs_root!();
    let run = trace(&["--format", "json", "--", "echo", "hello"]);
    let recording: reports::recording::Recording = serde_json::from_str(&run.stdout()).expect("only the recording");
    assert_eq!((recording, run.stderr().contains("hello")), (run.recording(), true));
    let run = trace(&["-q", "--", "echo", "hello"]);
    assert!(Path::new(run.stdout().trim_end()).is_file(), "{}", run.stdout());
    let run = trace(&["--format", "strace", "--", "sh", "-c", "exit 3"]);
    assert_eq!(run.status(), Some(3));
    let table = run.stdout();
    let lines: Vec<&str> = table.lines().collect();
    assert!(lines[0].starts_with("% time     seconds  usecs/call     calls    errors syscall"), "{table}");
    assert!(lines[1].starts_with("------ -----------"), "{table}");
    let total: Vec<&str> = lines.last().unwrap().split_whitespace().collect();
    assert_eq!((total[0], *total.last().unwrap()), ("100.00", "total"));
    let rows = &lines[2..lines.len() - 2];
    let calls = |line: &str| line.split_whitespace().nth(3).unwrap().parse::<u64>().unwrap();
    assert_eq!(rows.iter().map(|line| calls(line)).sum::<u64>(), calls(lines.last().unwrap()));
}

#[test]
fn counts_agree_with_strace_on_programs_of_everyday() {
    needs_root!();
    for command in [
        &["find", "/usr/share/doc", "-maxdepth", "2", "-name", "c*"][..],
        &["dd", "if=/dev/zero", "of=/dev/null", "bs=4k", "count=2000"],
        &[
            "/usr/bin/python3",
            "-I",
            "-S",
            "-c",
            "import json,os; [os.getppid() for _ in range(99)]; print(json.dumps(list(range(500))))",
        ],
        &["sh", "-c", "seq 3000 | sort -r | wc -l"],
        &["sh", "-c", "for i in 1 2 3 4 5; do ls /etc > /dev/null; done"],
    ] {
        let run = trace(&[&["-q", "--"], command].concat());
        let recording = run.recording();
        let client = lossless_client(&recording);
        let theirs = strace_counts(command);
        let mut apart = Vec::new();
        for (name, count) in &theirs {
            // ptrace itself makes a parent wait again, and takes part in signals that end children.
            if !["wait4", "rt_sigreturn"].contains(&name.as_str()) && calls(client, name) != *count {
                apart.push(format!("{name}: {} and {count}", calls(client, name)));
            }
        }
        // Processes at both ends of a pipe share its bytes differently each time.
        let racing = command[0] == "sh" && command[2].contains('|');
        apart.retain(|line| !racing || !(line.starts_with("read:") || line.starts_with("write:")));
        assert!(apart.is_empty(), "{command:?}: {apart:?}");
    }
}

#[test]
fn processes_are_found_by_name_also_those_that_come_later() {
    needs_root!();
    let folder = tempfile::tempdir().unwrap();
    // A name of its own, so that no other test's processes are meant.
    let program = folder.path().join("named-fixture");
    fs::copy(fixture(), &program).unwrap();
    let before = Command::new(&program).args(["late-threads", "1", "3500", "30"]).spawn().unwrap();
    let results = folder.path().join("results");
    let mut tracer = Command::new(ANALYZER);
    let tracer = tracer.args(["trace", "-q", "--comm", "named-fixture", "-d", "4s", "-o"]).arg(&results);
    let tracer = tracer.stdout(Stdio::piped()).spawn().unwrap();
    thread::sleep(Duration::from_secs(3));
    let later = Command::new(&program).args(["calls", "70"]).spawn().unwrap();
    let output = tracer.wait_with_output().unwrap();
    for mut child in [before, later] {
        child.wait().unwrap();
    }
    let path = String::from_utf8(output.stdout).unwrap();
    let recording = reports::store::read(Path::new(path.trim())).unwrap();
    let server = recording.group("server").unwrap();
    assert_eq!((calls(server, "getsid"), server.loss.total()), (100, 0));
}

/// A control group of our own, gone with this.
struct Cgroup {
    mount: tempfile::TempDir,
    mounted: bool,
}

impl Cgroup {
    fn new() -> Option<Self> {
        let mount = tempfile::tempdir().unwrap();
        let mounted =
            Command::new("mount").args(["-t", "cgroup2", "none"]).arg(mount.path()).status().unwrap().success();
        let group = Self { mount, mounted };
        fs::create_dir(group.path()).ok().map(|()| group)
    }

    fn path(&self) -> std::path::PathBuf {
        self.mount.path().join(format!("analyzer-test-{}", std::process::id()))
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        let _ = fs::remove_dir(self.path());
        if self.mounted {
            let _ = Command::new("umount").arg(self.mount.path()).status();
        }
    }
}

#[test]
fn processes_are_found_by_control_group_also_those_that_exec_in_it_later() {
    needs_root!();
    let Some(group) = Cgroup::new() else {
        assert!(Path::new("/sys/fs/cgroup").exists(), "a kernel without control groups");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let enter = format!("echo $$ > {}/cgroup.procs && exec \"$@\"", group.path().display());
    let start =
        |args: &[&str]| Command::new("sh").args(["-c", &enter, "sh"]).arg(fixture()).args(args).spawn().unwrap();
    let mut before = start(&["late-threads", "1", "3500", "30"]);
    thread::sleep(Duration::from_millis(100));
    let mut tracer = Command::new(ANALYZER);
    let tracer = tracer.args(["trace", "-q", "-d", "4s", "--cgroup"]).arg(group.path());
    let tracer = tracer.arg("-o").arg(folder.path()).stdout(Stdio::piped()).spawn().unwrap();
    thread::sleep(Duration::from_secs(3));
    let mut later = start(&["calls", "70"]);
    let mut outside = Command::new(fixture()).args(["calls", "900"]).spawn().unwrap();
    let output = tracer.wait_with_output().unwrap();
    for child in [&mut before, &mut later, &mut outside] {
        child.wait().unwrap();
    }
    let path = String::from_utf8(output.stdout).unwrap();
    let recording = reports::store::read(Path::new(path.trim())).unwrap();
    assert_eq!(calls(recording.group("server").unwrap(), "getsid"), 100);
}

#[test]
fn a_process_of_another_pid_namespace_is_found_by_either_number() {
    needs_root!();
    let folder = tempfile::tempdir().unwrap();
    let mut outer = Command::new("unshare");
    let mut outer = outer
        .args(["--pid", "--fork", "--kill-child"])
        .arg(fixture())
        .args(["late-threads", "1", "5000", "30"])
        .spawn()
        .unwrap();
    thread::sleep(Duration::from_millis(200));
    let children = fs::read_to_string(format!("/proc/{0}/task/{0}/children", outer.id())).unwrap();
    let output = Command::new(ANALYZER)
        .args(["trace", "-p", children.trim(), "-d", "300ms", "-o"])
        .arg(folder.path())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains(&format!("{} (1 inside)", children.trim())), "{text}");
    outer.wait().unwrap();
}
