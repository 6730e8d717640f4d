//! Ends of connections: who closed first, resets, and `TIME_WAIT` confirmed by the kernel.

use reports::recording::{Closes, Side};

use crate::{
    support::needs_root,
    tcp_scene::{Scene, ipv4, scene},
};

const TIMES: u64 = 20;

fn closing(setup: &str, how: &str) -> Scene {
    let scene = scene(setup, "", &format!("connections closing {how} {TIMES}"));
    scene.assert_all_followed();
    scene
}

fn side(scene: &Scene, side: Side) -> Closes {
    *scene.tcp.closes.iter().find(|row| row.side == side).unwrap_or_else(|| panic!("no row for {side:?}"))
}

/// Candidates, confirmed, skipped, and what is left over.
fn time_wait(scene: &Scene) -> (u64, i64, i64, i64) {
    let created = scene.tcp.time_wait_created();
    assert_eq!(created.confirmed.unsigned_abs(), scene.kernel("TcpExt.TW") + scene.kernel("TcpExt.TWKilled"));
    (created.candidates.unwrap(), created.confirmed, created.skipped, created.unexplained().unwrap())
}

#[test]
fn the_end_that_closes_first_has_the_time_wait() {
    needs_root!();
    for (how, first, second) in [("client", Side::Active, Side::Passive), ("server", Side::Passive, Side::Active)] {
        let scene = closing("", how);
        let (first, second) = (side(&scene, first), side(&scene, second));
        assert_eq!((first.by_itself, first.by_peer, first.into_time_wait), (TIMES, 0, TIMES), "{how}");
        assert_eq!((second.by_itself, second.by_peer, second.into_time_wait), (0, TIMES, 0), "{how}");
        assert_eq!(time_wait(&scene), (TIMES, 20, 0, 0), "{how}");
        assert_eq!(scene.tcp.time_wait, (0, TIMES));
    }
}

#[test]
fn an_orphan_in_fin_wait_2_is_no_time_wait_of_its_own_but_the_kernel_counts_one() {
    needs_root!();
    let scene = closing("", "orphan");
    let active = side(&scene, Side::Active);
    // The other end's FIN came when the socket was a minimal one already.
    assert_eq!((active.by_itself, active.into_time_wait), (TIMES, 0));
    assert_eq!(time_wait(&scene), (TIMES, 20, 0, 0));
}

#[test]
fn data_after_close_is_answered_by_a_reset_and_leaves_no_time_wait() {
    needs_root!();
    let scene = closing("", "data-after-close");
    assert_eq!(side(&scene, Side::Passive).resets_received, TIMES);
    assert_eq!(side(&scene, Side::Active).into_time_wait, 0);
    let (candidates, confirmed, skipped, left_over) = time_wait(&scene);
    assert_eq!((candidates, skipped), (TIMES, 0));
    assert_eq!(left_over, 20 - confirmed);
    assert_eq!(scene.tcp.time_wait, (0, 0));
    assert_eq!(scene.kernel("Tcp.OutRsts"), TIMES);
}

#[test]
fn a_close_with_linger_0_or_unread_data_resets_and_skips_time_wait() {
    needs_root!();
    for how in ["linger-0", "unread"] {
        let scene = closing("", how);
        let (active, passive) = (side(&scene, Side::Active), side(&scene, Side::Passive));
        assert_eq!((active.without_fin, active.resets_sent, active.aborted_by_close), (TIMES, TIMES, TIMES), "{how}");
        assert_eq!((passive.without_fin, passive.resets_received, passive.resets_sent), (TIMES, TIMES, 0), "{how}");
        assert_eq!(time_wait(&scene), (0, 0, 0, 0), "{how}");
        assert_eq!(scene.kernel("Tcp.OutRsts"), TIMES, "{how}");
    }
}

#[test]
fn a_time_wait_too_many_is_skipped_and_said() {
    needs_root!();
    let scene = closing(&ipv4(&[("tcp_max_tw_buckets", "5")]), "client");
    let (candidates, confirmed, skipped, left_over) = time_wait(&scene);
    assert_eq!((candidates, confirmed + skipped, left_over), (TIMES, 20, 0));
    assert!(skipped >= 10, "{skipped}");
    assert_eq!(skipped.unsigned_abs(), scene.kernel("TcpExt.TCPTimeWaitOverflow"));
    assert_eq!(side(&scene, Side::Active).into_time_wait, TIMES);
}

#[test]
fn both_ends_may_close_at_once_and_are_then_told_so() {
    needs_root!();
    // Whether the FINs really cross is the kernel's affair; on loopback the second one mostly comes late.
    let scene = closing("", "both");
    let (active, passive) = (side(&scene, Side::Active), side(&scene, Side::Passive));
    for row in [active, passive] {
        assert_eq!(row.by_itself + row.by_peer + row.simultaneous + row.without_fin, TIMES);
    }
    assert_eq!(active.simultaneous, passive.simultaneous);
    assert_eq!(scene.tcp.transition("FIN_WAIT1", "CLOSING"), active.simultaneous + passive.simultaneous);
    let (candidates, confirmed, ..) = time_wait(&scene);
    assert_eq!(candidates, confirmed.unsigned_abs());
}

#[test]
fn bytes_of_a_life_are_payload_alone() {
    needs_root!();
    let scene = scene("", "", "connections bytes 3000000");
    let life = |side| scene.tcp.lifetimes.iter().find(|row| row.side == side).unwrap();
    let (active, passive) = (life(Side::Active), life(Side::Passive));
    assert_eq!((active.sent_bytes.sum(), active.received_bytes.sum()), (3_000_000, 1));
    assert_eq!((passive.sent_bytes.sum(), passive.received_bytes.sum()), (1, 3_000_000));
    assert!(active.duration.min().unwrap() >= 50_000_000);
    // Accepted long before the first byte came.
    let first_byte =
        scene.lines.iter().find(|line| line["side"] == "passive").unwrap()["first_byte_ns"].as_u64().unwrap();
    assert!((40_000_000..5_000_000_000).contains(&first_byte), "{first_byte}");
}
