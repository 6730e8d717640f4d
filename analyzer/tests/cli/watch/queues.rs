//! Accept queues: what each listener dropped, and why, equals the kernel's counters.

use super::scenario::{causes, figure, scenario};
use crate::support::needs_root;

#[test]
fn drops_at_the_syn_equal_the_kernels_counters_for_every_backlog_and_syncookies_setting() {
    needs_root!();
    for (backlog, clients, syncookies, abort) in
        [(0, 10, 0, 0), (1, 10, 1, 1), (16, 60, 2, 0), (128, 400, 1, 0), (128, 400, 0, 1), (16, 60, 0, 0), (0, 5, 2, 1)]
    {
        let case = format!("backlog {backlog}, syncookies {syncookies}, abort {abort}");
        let seen = scenario(&format!(
            "sysctl('ipv4/tcp_syncookies', {syncookies}); sysctl('ipv4/tcp_abort_on_overflow', {abort})
listen(7001, {backlog}); watch(); connect(7001, {clients}); report()"
        ));
        seen.assert_lossless();
        let row = seen.listener(7001);
        // A queue holds one more than its backlog.
        let drops = clients - (backlog + 1);
        assert_eq!((figure(row, "queue"), figure(row, "high")), (backlog + 1, backlog + 1), "{case}");
        assert_eq!(figure(row, "drops"), drops, "{case}");
        assert_eq!(causes(row), [drops, 0, 0, 0], "{case}");
        assert_eq!((seen.kernel("ListenOverflows"), seen.kernel("ListenDrops")), (drops, drops), "{case}");
        assert_eq!(row["fill"], 1.0, "{case}");
    }
}

#[test]
fn drops_at_the_final_ack_are_told_by_events_and_counted_once() {
    needs_root!();
    for abort in [0, 1] {
        // Connections without data stay half-open. The first wave fills the accept queue but for one, the second is
        // half-open when its data comes.
        let seen = scenario(&format!(
            "sysctl('ipv4/tcp_abort_on_overflow', {abort}); sysctl('ipv4/tcp_syncookies', 0)
listen(7001, 16, defer=True); watch()
first = connect(7001, 16); settle(0.1); [client.send(b'x') for client in first]; settle(0.1)
second = connect(7001, 10); settle(0.1); [client.send(b'x') for client in second]; report()"
        ));
        seen.assert_lossless();
        let row = seen.listener(7001);
        let at_ack = seen.kernel("ListenOverflows");
        assert!(at_ack >= 9, "{at_ack}");
        assert_eq!(causes(row), [0, at_ack, 0, 0], "abort {abort}");
        // The socket's counter also has the ACKs without data, one for each client.
        let put_aside = seen.kernel("TCPDeferAcceptDrop");
        assert_eq!((figure(row, "drops"), figure(row, "put_aside")), (at_ack, put_aside), "abort {abort}");
        assert_eq!(figure(row, "drops_ever"), 2 * at_ack + put_aside, "abort {abort}");
        assert_eq!(seen.kernel("ListenDrops"), at_ack);
    }
}

#[test]
fn drops_at_the_syn_and_at_the_final_ack_of_two_listeners_are_kept_apart() {
    needs_root!();
    let seen = scenario(
        "sysctl('ipv4/tcp_syncookies', 0); listen(7001, 16, defer=True); listen(7002, 4); watch()
first = connect(7001, 16); settle(0.1); [client.send(b'x') for client in first]; settle(0.1)
second = connect(7001, 10); settle(0.1); [client.send(b'x') for client in second]; connect(7002, 30); report()",
    );
    seen.assert_lossless();
    let (deferred, plain) = (seen.listener(7001), seen.listener(7002));
    assert_eq!(causes(plain), [25, 0, 0, 0]);
    let at_ack = seen.kernel("ListenOverflows") - 25;
    assert_eq!(causes(deferred), [0, at_ack, 0, 0]);
    assert!(at_ack >= 9);
}

#[test]
fn each_member_of_a_reuseport_group_is_a_row_and_a_stopped_one_is_the_full_one() {
    needs_root!();
    let seen = scenario(
        "members = [listen(7001, 8, reuse_port=True), *(listen(7001, 200, reuse_port=True) for _ in range(3))]; watch()
connect(7001, 200); settle(0.2)
for member in members[1:]:
    member.setblocking(False)
    try:
        while True:
            kept.append(member.accept()[0])
    except BlockingIOError:
        pass
report()",
    );
    seen.assert_lossless();
    let rows = seen.listeners();
    assert_eq!(rows.len(), 4);
    let full: Vec<_> = rows.iter().filter(|row| row["fill"] == 1.0).collect();
    assert_eq!(full.len(), 1, "{:#}", seen.last());
    assert_eq!(figure(full[0], "drops"), seen.kernel("ListenDrops"));
    assert!(seen.kernel("ListenDrops") > 0);
    let served: i64 = rows.iter().map(|row| row["accept_wait"]["since_start"]["count"].as_i64().unwrap()).sum();
    assert_eq!(served + 9 + seen.kernel("ListenDrops"), 200);
    let group = &seen.last()["namespaces"][0]["groups"][0];
    assert_eq!((&group["members"], &group["full"], &group["queue"]), (&4.into(), &1.into(), &9.into()));
}

#[test]
fn a_backlog_changed_live_and_one_above_somaxconn_are_shown_as_asked_and_as_in_force() {
    needs_root!();
    let seen = scenario(
        "sysctl('core/somaxconn', 64); first = listen(7001, 8); watch()
listen(7002, 500); first.listen(32); connect(7001, 40); report()",
    );
    seen.assert_lossless();
    let asked = |port| (figure(seen.listener(port), "asked"), figure(seen.listener(port), "limit"));
    assert_eq!((asked(7001), asked(7002)), ((32, 32), (500, 64)));
    assert_eq!(figure(seen.listener(7001), "queue"), 33);
    assert_eq!(seen.host("somaxconn"), 64);
    // What was asked for before the watch began was not seen.
    assert!(seen.rounds[0]["namespaces"][0]["listeners"][0]["asked"].is_null());
}

#[test]
fn the_wait_in_the_accept_queue_lasts_from_the_handshakes_end_to_accepts_return() {
    needs_root!();
    for protocol in [0, 262] {
        let seen = scenario(&format!(
            "listener = listen(7001, 300, protocol={protocol}); watch()
connect(7001, 120); settle(0.3)
kept.extend(listener.accept()[0] for _ in range(120)); report()"
        ));
        seen.assert_lossless();
        let row = seen.listener(7001);
        assert!(row["owner"].as_str().unwrap().ends_with("/python3"), "{row:#}");
        let wait = &row["accept_wait"]["since_start"];
        assert_eq!(figure(wait, "count"), 120);
        for percentile in ["p50_ns", "p99_ns", "max_ns"] {
            let ns = figure(wait, percentile);
            assert!((250_000_000..2_000_000_000).contains(&ns), "protocol {protocol}, {percentile}: {ns}");
        }
    }
}
