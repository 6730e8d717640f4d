//! Bad input: said in one line with its remedy, before anything is started where possible, and nothing is left.

use std::{
    fs,
    net::TcpListener,
    os::unix::fs::{MetadataExt as _, PermissionsExt as _},
    os::unix::process::CommandExt as _,
    process::Command,
};

use crate::support::{ANALYZER, Run, fixture, needs_root, trace};

fn assert_failed(run: &Run, status: i32, words: &[&str]) {
    let stderr = run.stderr();
    assert_eq!(run.status(), Some(status), "{stderr}");
    for word in words {
        assert!(stderr.contains(word), "`{word}` is not in:\n{stderr}");
    }
    assert!(!run.left_anything(), "a folder was left behind\n{stderr}");
}

#[test]
fn without_root_one_line_says_what_is_missing_and_no_server_is_started() {
    needs_root!();
    let place = tempfile::tempdir().unwrap();
    fs::set_permissions(place.path(), fs::Permissions::from_mode(0o777)).unwrap();
    let analyzer = place.path().join("analyzer");
    fs::copy(ANALYZER, &analyzer).unwrap();
    let mark = place.path().join("started");
    let target = format!("touch {}", mark.display());
    let output = Command::new(&analyzer)
        .args(["trace", "--target", &target, "--", "true"])
        .current_dir(place.path())
        .uid(65534)
        .gid(65534)
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(125), "{stderr}");
    assert!(stderr.contains("needs root") && stderr.contains("hint: sudo "), "{stderr}");
    assert_eq!(stderr.lines().count(), 2, "{stderr}");
    assert!(!mark.exists(), "the target was started");
    assert!(!place.path().join("results").exists());
}

#[test]
fn an_unknown_target_is_named() {
    needs_root!();
    let run = trace(&["--target", "no-such-server --x", "--", "true"]);
    assert_failed(&run, 125, &["no-such-server", "PATH", "hint:"]);
}

#[test]
fn a_taken_port_names_who_holds_it() {
    needs_root!();
    let fixture = fixture();
    let script = "\"$1\" stalled-listener 9988 1 & holder=$!; sleep 0.3; \
                  \"$2\" trace -o \"$3\" --target echo-epoll-lt -- bench; status=$?; kill $holder; exit $status";
    let results = tempfile::tempdir().unwrap();
    let output = Command::new("unshare")
        .args(["--net", "--", "sh", "-c", &format!("ip link set lo up; {script}"), "sh"])
        .args([fixture.as_os_str(), ANALYZER.as_ref(), results.path().join("results").as_os_str()])
        .output()
        .unwrap();
    let run = Run::of(output, results);
    assert_failed(&run, 125, &["ended before it listened", "in use", "port 9988 is taken by fixture (pid "]);
}

#[test]
fn the_stderr_of_a_target_that_dies_at_start_is_shown() {
    needs_root!();
    let run = trace(&["--target", "sh -c 'echo the reason >&2; exit 3'", "--", "true"]);
    assert_failed(&run, 125, &["ended before it listened (exit 3)", "the reason"]);
}

#[test]
fn a_target_that_never_listens_is_given_up_and_stopped() {
    needs_root!();
    let run = trace(&["--target", "sleep 4242", "--ready-timeout", "200ms", "--", "true"]);
    assert_failed(&run, 125, &["does not listen", "--ready-timeout"]);
    let left = Command::new("pgrep").args(["-f", "^sleep 4242"]).output().unwrap();
    assert!(left.stdout.is_empty(), "the target is still running");
}

#[test]
fn a_workload_that_cannot_be_found_or_executed_has_the_shells_status() {
    needs_root!();
    assert_failed(&trace(&["--target", "echo-epoll-lt", "--", "no-such-client"]), 127, &["no-such-client", "hint:"]);
    assert_failed(&trace(&["--", "/no/such/client"]), 127, &["/no/such/client"]);
    assert_failed(&trace(&["--", "/etc/passwd"]), 126, &["/etc/passwd"]);
}

#[test]
fn a_workload_killed_by_a_signal_gives_128_and_its_number() {
    needs_root!();
    let fixture = fixture();
    let run = trace(&["--", fixture.to_str().unwrap(), "die"]);
    assert_eq!(run.status(), Some(137), "{}", run.stderr());
    assert_eq!(run.recording().group("client").unwrap().ended.as_deref(), Some("signal 9"));
}

#[test]
fn an_unwritable_results_folder_is_said_before_the_run() {
    needs_root!();
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("file");
    fs::write(&file, "").unwrap();
    let mark = place.path().join("started");
    for output in [file.join("results"), "/proc/no-results-here".into()] {
        let output = Command::new(ANALYZER)
            .args(["trace", "-o"])
            .arg(&output)
            .args(["--", "touch", mark.to_str().unwrap()])
            .output()
            .unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(125), "{stderr}");
        assert!(stderr.contains("failed to make a folder") && stderr.contains("hint: name another place"), "{stderr}");
        assert!(!mark.exists(), "the workload ran");
    }
}

#[test]
fn an_unknown_system_call_suggests_the_nearest_names() {
    let output = Command::new(ANALYZER).args(["trace", "-e", "conect", "--", "true"]).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("`conect`") && stderr.contains("`connect`"), "{stderr}");
}

#[test]
fn an_unknown_user_and_a_missing_process_are_named() {
    needs_root!();
    assert_failed(&trace(&["--user", "no-such-user", "--", "true"]), 125, &["no-such-user"]);
    assert_failed(&trace(&["-p", "4194303", "-d", "1s"]), 125, &["there is no process 4194303", "hint:"]);
}

#[test]
fn a_taken_port_is_no_reason_to_blame_other_listeners() {
    needs_root!();
    let _other = TcpListener::bind("127.0.0.1:0").unwrap();
    let run = trace(&["--target", "sh -c 'echo something else >&2; exit 1'", "--", "true"]);
    assert!(!run.stderr().contains("is taken by"), "{}", run.stderr());
}

#[test]
fn a_disk_that_fills_during_the_run_costs_neither_the_figures_nor_the_recording() {
    needs_root!();
    let place = tempfile::tempdir().unwrap();
    let full = place.path().join("full");
    fs::create_dir(&full).unwrap();
    let script = "mount -t tmpfs -o size=200k none \"$1\" && \"$2\" trace -o \"$1/results\" -- \
                  sh -c \"head -c 300k /dev/zero > $1/fill; exit 0\"; status=$?; ls -R \"$1/results\"; exit $status";
    let output = Command::new("unshare")
        .args(["--mount", "--", "sh", "-c", script, "sh"])
        .args([full.as_os_str(), ANALYZER.as_ref()])
        .env("TMPDIR", place.path())
        .env("SUDO_UID", "65534")
        .env("SUDO_GID", "65534")
        .output()
        .unwrap();
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(125), "{stderr}");
    assert!(stdout.contains("execve") && !stdout.contains(".partial"), "{stdout}");
    let rescued = stderr.split("the recording is in `").nth(1).and_then(|rest| rest.split('`').next());
    let rescued = rescued.unwrap_or_else(|| panic!("not said:\n{stderr}"));
    assert!(reports::store::read(rescued.as_ref()).unwrap().complete);
    let folder = std::path::Path::new(rescued).parent().unwrap();
    assert_eq!(fs::metadata(folder).unwrap().uid(), 65534, "the user behind sudo cannot get at it");
}

#[test]
fn a_caller_that_ignores_the_ends_of_children_changes_nothing() {
    needs_root!();
    let results = tempfile::tempdir().unwrap();
    let output = Command::new("sh")
        .args(["-c", "trap '' CHLD; exec \"$@\"", "sh", ANALYZER, "trace", "-o"])
        .arg(results.path())
        .args(["--", "sh", "-c", "exit 7"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(7), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn times_beyond_reason_are_wrong_usage() {
    for args in [["trace", "-d", "10000000000000000000s"], ["watch", "-i", "1ns"], ["trace", "-d", "0s"]] {
        let output = Command::new(ANALYZER).args(args).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn a_forgotten_separator_is_hinted_at() {
    let output = Command::new(ANALYZER).args(["trace", "--target", "srv", "bench"]).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("hint: the workload comes after `--`"), "{stderr}");
}
