//! TCP figures equal the kernel's own counters.

use std::process::Command;

use crate::support::{Run, built, fixture, isolated, needs_root};

/// Runs the analyzer and, in the same namespace, prints the kernel's counters afterwards to stdout.
fn traced_with_counters(args: &[&str]) -> Run {
    let (command, results) = isolated(args);
    let words: Vec<_> = command.get_args().skip_while(|word| *word != "sh").skip(4).collect();
    let mut with_counters = Command::new("unshare");
    let script = "ip link set lo up && \"$@\"; status=$?; echo; cat /proc/net/netstat; exit $status";
    with_counters.args(["--net", "--", "sh", "-c", script, "sh"]).args(words);
    Run::of(with_counters.output().unwrap(), results)
}

pub(crate) fn kernel_counter(netstat: &str, name: &str) -> i64 {
    let mut lines = netstat.lines().filter(|line| line.starts_with("TcpExt:"));
    let (names, numbers) = (lines.next().unwrap(), lines.next().unwrap());
    let at = names.split_whitespace().position(|word| word == name).unwrap();
    numbers.split_whitespace().nth(at).unwrap().parse().unwrap()
}

#[test]
fn accept_queue_overflow_equals_the_kernels_own_delta() {
    needs_root!();
    let fixture = fixture();
    let fixture = fixture.to_str().unwrap();
    for (backlog, connects) in [(1, 10), (16, 60), (128, 400)] {
        let target = format!("{fixture} stalled-listener 7001 {backlog}");
        let connects_arg = connects.to_string();
        let run = traced_with_counters(&["--target", &target, "--", fixture, "connects", "7001", &connects_arg, "500"]);
        assert_eq!(run.status(), Some(0), "{}", run.stderr());
        let tcp = run.recording().tcp.unwrap();
        let kernel = run.stdout();
        assert_eq!(tcp.counter("TcpExt.ListenOverflows"), kernel_counter(&kernel, "ListenOverflows"));
        assert_eq!(tcp.counter("TcpExt.ListenDrops"), kernel_counter(&kernel, "ListenDrops"));
        // A listener holds one more than its backlog; within half a second no SYN is sent again.
        assert_eq!(tcp.counter("TcpExt.ListenOverflows"), connects - (backlog + 1), "backlog {backlog}");
        assert!(run.stdout().contains("listen overflows"), "{}", run.stdout());
    }
}

#[test]
fn connections_opened_accepted_closed_and_time_wait_agree() {
    needs_root!();
    built("bench");
    let run =
        crate::support::trace(&["--target", "echo-epoll-lt", "--", "bench", "--connections", "20", "--rounds", "50"]);
    assert_eq!(run.status(), Some(0), "{}", run.stderr());
    let tcp = run.recording().tcp.unwrap();
    assert_eq!((tcp.counter("Tcp.ActiveOpens"), tcp.counter("Tcp.PassiveOpens")), (1000, 1000));
    assert_eq!(tcp.transition("CLOSE", "SYN_SENT"), 1000);
    assert_eq!(tcp.transition("LAST_ACK", "CLOSE"), 1000);
    assert_eq!(tcp.transition("FIN_WAIT2", "CLOSE") + tcp.transition("CLOSING", "CLOSE"), 1000);
    assert_eq!(tcp.time_wait, (0, 1000));
    let retransmits = tcp.retransmits.unwrap();
    assert_eq!((retransmits.syn, retransmits.syn_ack), (0, 0));
}

#[test]
fn syn_retransmits_equal_the_kernels_own_delta() {
    needs_root!();
    let fixture = fixture();
    let fixture = fixture.to_str().unwrap();
    let target = format!("{fixture} stalled-listener 7001 4");
    let run = traced_with_counters(&["--target", &target, "--", fixture, "connects", "7001", "15", "2500"]);
    assert_eq!(run.status(), Some(0), "{}", run.stderr());
    let retransmits = run.recording().tcp.unwrap().retransmits.unwrap();
    assert!(retransmits.syn >= 10, "{retransmits:?}");
    let kernel = kernel_counter(&run.stdout(), "TCPSynRetrans");
    assert_eq!(i64::try_from(retransmits.syn + retransmits.syn_ack).unwrap(), kernel);
}
