//! Listen queues: what is said of each listener equals the kernel's own counters.

use std::collections::BTreeSet;

use reports::recording::{ListenerQueue, Outcome};

use crate::{
    support::needs_root,
    tcp_scene::{Scene, command_line, ipv4, scene, scene_of},
};

/// Port, backlog, and attempts of each listener.
const QUEUES: [(u16, u64, u64); 4] = [(7001, 0, 10), (7002, 1, 10), (7003, 16, 60), (7004, 128, 300)];

fn sum(scene: &Scene, figure: fn(&ListenerQueue) -> u64) -> u64 {
    scene.tcp.listeners.iter().map(figure).sum()
}

#[test]
fn accept_queue_drops_of_each_listener_equal_the_kernels_counters_whatever_the_settings() {
    needs_root!();
    let target = QUEUES.map(|(port, backlog, _)| format!("{port}={backlog}")).join(" ");
    let load = QUEUES.map(|(port, _, attempts)| format!("{port}={attempts}")).join(" ");
    for (cookies, abort) in [("0", "0"), ("1", "0"), ("1", "1"), ("2", "1")] {
        let setup = ipv4(&[("tcp_syncookies", cookies), ("tcp_abort_on_overflow", abort)]);
        let (target, load) = (format!("listeners stalled {target}"), format!("connections start 300 {load}"));
        let scene = scene(&setup, &target, &load);
        for (port, backlog, attempts) in QUEUES {
            let row = scene.listener(port);
            let figures =
                (row.established, row.drops.unwrap(), u64::from(row.queue_high), u64::from(row.limit.unwrap()));
            // A listener holds one more than its backlog; within the time no SYN is sent again.
            let expected = (backlog + 1, attempts - backlog - 1, backlog + 1, backlog);
            assert_eq!(figures, expected, "backlog {backlog}, cookies {cookies}, abort {abort}");
            assert_eq!((row.accepted, row.drops_at_final_ack), (0, Some(0)));
        }
        assert_eq!(sum(&scene, |row| row.drops.unwrap()), scene.kernel("TcpExt.ListenDrops"));
        assert_eq!(sum(&scene, |row| row.drops.unwrap()), scene.kernel("TcpExt.ListenOverflows"));
        assert_eq!(sum(&scene, |row| row.established), scene.kernel("Tcp.PassiveOpens"));
        assert_eq!(scene.attempts(Outcome::Established), sum(&scene, |row| row.established));
        scene.assert_all_followed();
    }
}

#[test]
fn drops_at_the_final_ack_are_told_apart_and_no_attempt_counts_twice() {
    needs_root!();
    for (cookies, abort) in [("0", "0"), ("1", "0"), ("2", "0"), ("0", "1")] {
        let setup = ipv4(&[("tcp_syncookies", cookies), ("tcp_abort_on_overflow", abort)]);
        let scene = scene(&setup, "listeners deferred 7001=4", "connections start-and-send 500 7001=12");
        let row = scene.listener(7001);
        assert_eq!((row.established, row.queue_high), (5, 5), "cookies {cookies}, abort {abort}");
        let kernel = (scene.kernel("TcpExt.ListenDrops"), scene.kernel("TcpExt.ListenOverflows"));
        assert_eq!(row.drops, Some(kernel.0), "cookies {cookies}, abort {abort}: {row:?}");
        assert!(row.drops_at_final_ack.unwrap() <= kernel.1, "{row:?}");
        if cookies == "1" {
            // More were half open than the queue holds.
            assert!(row.drops_at_final_ack.unwrap() > 0, "{row:?}");
        }
    }
}

#[test]
fn a_listener_on_the_same_port_in_another_namespace_is_another_matter() {
    needs_root!();
    let elsewhere = command_line("connections alone 7001 1 30");
    let here = command_line("connections start 500 7001=10");
    let both = format!("unshare --net sh -c 'ip link set lo up; exec {elsewhere}' & {here}; wait");
    let scene = scene_of("", &["--target", &command_line("listeners stalled 7001=4"), "--", "sh", "-c", &both]);
    let row = scene.listener(7001);
    assert_eq!((row.established, row.drops, row.limit), (5, Some(5), Some(4)));
    assert_eq!(scene.kernel("TcpExt.ListenOverflows"), 5);
    assert_eq!((scene.attempts(Outcome::Established), scene.attempts(Outcome::Cancelled)), (5, 5));
    scene.assert_all_followed();
}

#[test]
fn each_member_of_a_reuseport_group_has_its_own_row() {
    needs_root!();
    let scene = scene("", "listeners reuseport 7001 4", "connections blocking 7001 60");
    let rows = scene.listeners(7001);
    assert_eq!(rows.len(), 4);
    assert!(rows.iter().all(|row| row.reuseport));
    assert_eq!(rows.iter().map(|row| row.cookie).collect::<BTreeSet<_>>().len(), 4);
    assert_eq!(rows.iter().map(|row| row.established).sum::<u64>(), 60);
    // One is stopped: what comes to it waits for ever.
    let stopped: Vec<_> = rows.iter().filter(|row| row.accepted < row.established).collect();
    let [stopped] = stopped[..] else { panic!("{rows:?}") };
    assert_eq!((stopped.accepted, u64::from(stopped.queue_high)), (0, stopped.established));
    for row in rows {
        assert_eq!(row.accept_wait.count(), row.accepted);
    }
}

#[test]
fn a_second_listen_changes_the_limit_of_the_same_listener() {
    needs_root!();
    let first = command_line("connections start 900 7001=10");
    let later = command_line("connections start 300 7001=10");
    let both = format!("{first} & sleep 0.6; {later}; wait");
    let scene = scene_of("", &["--target", &command_line("listeners relisten 7001 1 4"), "--", "sh", "-c", &both]);
    let row = scene.listener(7001);
    assert_eq!((row.limit, row.established, row.queue_high), (Some(4), 5, 5));
    assert_eq!((row.drops, 8 + 7), (Some(8 + 7), scene.kernel("TcpExt.ListenOverflows")));
}

#[test]
fn a_backlog_beyond_somaxconn_is_cut_to_it() {
    needs_root!();
    let setup = "echo 8 > /proc/sys/net/core/somaxconn";
    let scene = scene(setup, "listeners stalled 7001=5000", "connections start 300 7001=20");
    let row = scene.listener(7001);
    assert_eq!((row.limit, row.established, row.drops), (Some(8), 9, Some(11)));
}

#[test]
fn ipv6_ipv4_and_mapped_connections_come_to_one_listener_and_mapped_ones_are_ipv4() {
    needs_root!();
    let scene = scene("", "listeners dual 7001", "connections families 7001");
    let row = scene.listener(7001);
    assert_eq!((row.address.as_str(), row.established, row.accepted), ("[::]:7001", 6, 6));
    let mut to: Vec<_> = scene.tcp.connects.iter().map(|row| (row.destination.as_str(), row.latency.count())).collect();
    to.sort_unstable();
    assert_eq!(to, [("127.0.0.1:7001", 4), ("[::1]:7001", 2)]);
    assert_eq!(scene.lines.iter().filter(|line| line["source"] == "127.0.0.1:7001").count(), 4);
    scene.assert_all_followed();
}

#[test]
fn an_mptcp_listener_is_a_listener() {
    needs_root!();
    if !std::path::Path::new("/proc/sys/net/mptcp/enabled").exists() {
        // Not a matter of rights, so no failure either: this kernel has no MPTCP.
        return;
    }
    let scene = scene("", "listeners mptcp 7001", "connections mptcp 7001 5");
    let row = scene.listener(7001);
    // Five came by MPTCP, five by plain TCP.
    assert_eq!((row.established, row.accepted), (10, 10), "{row:?}");
}

#[test]
fn a_queue_full_of_half_open_connections_is_told() {
    needs_root!();
    let setup = "ip tuntap add dev hole mode tun && ip link set hole up && ip addr add 10.99.0.1/24 dev hole";
    let cookies = ipv4(&[("tcp_syncookies", "0")]);
    let scene = scene(
        &format!("{setup}\n{cookies}"),
        "listeners stalled-on 10.99.0.1 7001 16",
        "listeners flood 10.99.0.1 7001 100",
    );
    let row = scene.listener(7001);
    assert_eq!((row.established, row.drops), (0, Some(scene.kernel("TcpExt.ListenDrops"))));
    assert_eq!(row.drops, Some(scene.kernel("TcpExt.TCPReqQFullDrop")));
    assert!(row.drops.unwrap() > 50, "{row:?}");
    assert_eq!(row.syn_ack_retransmits, scene.tcp.retransmits.unwrap().syn_ack);
    assert!(row.syn_ack_retransmits > 0, "{row:?}");
    assert!(scene.run.stdout().contains("SYN queue full"), "{}", scene.run.stdout());
}
