//! TCP figures of the whole namespace equal the kernel's own counters.

use crate::{
    support::{built, needs_root, trace},
    tcp_scene::scene,
};

#[test]
fn connections_opened_accepted_closed_and_time_wait_agree() {
    needs_root!();
    built("bench");
    let run = trace(&["--target", "echo-epoll-lt", "--", "bench", "--connections", "20", "--rounds", "50"]);
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
    let scene = scene("", "listeners stalled 7001=4", "connections start 2500 7001=15");
    let retransmits = scene.tcp.retransmits.unwrap();
    assert!(retransmits.syn >= 10, "{retransmits:?}");
    assert_eq!(retransmits.syn + retransmits.syn_ack, scene.kernel("TcpExt.TCPSynRetrans"));
    assert!(scene.run.stdout().contains("listen overflows"), "{}", scene.run.stdout());
}
