//! `analyzer watch`: what a full accept queue looks like, and a clean end.

mod ends;
mod full_screen;
mod namespaces;
mod queues;
mod scenario;
mod syns;

use std::{
    io::{BufRead as _, BufReader},
    process::{Command, Stdio},
};

use rustix::process::{Pid, Signal, kill_process};

use crate::{
    support::{ANALYZER, fixture, needs_root},
    tcp_scene::kernel_counter,
};

#[test]
fn a_full_accept_queue_shows_its_owner_its_depth_and_every_drop() {
    needs_root!();
    let script = "ip link set lo up; \"$1\" stalled-listener 7001 16 & holder=$!; sleep 0.3; rows=$(mktemp); \
                  \"$2\" watch --interval 300ms > $rows & watch=$!; \
                  until grep -q host $rows; do sleep 0.1; done; timeout 10 \"$1\" connects 7001 60 300; sleep 0.7; \
                  kill $watch; wait $watch; kill $holder; cat $rows; rm $rows; cat /proc/net/netstat";
    let output = Command::new("unshare")
        .args(["--net", "--", "sh", "-c", script, "sh"])
        .args([fixture().as_os_str(), ANALYZER.as_ref()])
        .output()
        .unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    let drops = kernel_counter::<u64>(&stdout, "TcpExt.ListenDrops").to_string();
    let row = stdout.lines().rfind(|line| line.contains("127.0.0.1:7001")).unwrap();
    let words: Vec<&str> = row.split_whitespace().collect();
    // A queue of 16 holds 17; of 60 connects 43 are dropped at least, more if SYNs are sent again.
    assert_eq!(&words[1..5], ["127.0.0.1:7001", "17/16", "17", &drops], "{stdout}");
    assert!(drops.parse::<u32>().unwrap() >= 43, "{stdout}");
    assert!(row.trim_end().ends_with("/fixture"), "{row}");
    let host = stdout.lines().rfind(|line| line.contains(&format!("ListenOverflows {drops}"))).unwrap();
    assert!(host.contains(&format!("ListenDrops {drops}")), "{host}");
    assert!(!stdout.contains('\x1b'), "escape codes in a pipe");
}

#[test]
fn ctrl_c_ends_it_cleanly() {
    let mut child = Command::new(ANALYZER)
        .args(["watch", "--interval", "100ms"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().contains("TIME_WAIT now")));
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    if rustix::process::geteuid().is_root() {
        assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    }
}
