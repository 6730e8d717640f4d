//! SYN queues: what a flood of SYNs without an end does to a listener.

use super::scenario::{causes, figure, scenario};
use crate::support::needs_root;

#[test]
fn a_full_syn_queue_without_cookies_is_the_cause_of_its_drops() {
    needs_root!();
    let seen = scenario(
        "sysctl('ipv4/tcp_syncookies', 0); lonely_link(); listen(7001, 16, LONELY); watch(); raw_syns(7001, 300); report()",
    );
    seen.assert_lossless();
    let drops = seen.kernel("TCPReqQFullDrop");
    assert!(drops >= 250, "{drops}");
    let row = seen.listener(7001);
    assert_eq!(figure(row, "drops"), seen.kernel("ListenDrops"));
    assert_eq!(causes(row), [0, 0, drops, seen.kernel("ListenDrops") - drops]);
    assert_eq!(seen.host("syn_queue_drops")["since_start"], drops);
}

#[test]
fn a_nearly_full_syn_queue_drops_for_a_cause_that_the_kernel_does_not_name() {
    needs_root!();
    let seen = scenario(
        "sysctl('ipv4/tcp_syncookies', 0); sysctl('ipv4/tcp_max_syn_backlog', 64); lonely_link()
listen(7001, 128, LONELY); watch(); raw_syns(7001, 300); report()",
    );
    seen.assert_lossless();
    let (drops, named) = (seen.kernel("ListenDrops"), seen.kernel("TCPReqQFullDrop"));
    assert!(drops >= 200 && named == 0, "{drops} {named}");
    assert_eq!(causes(seen.listener(7001)), [0, 0, 0, drops]);
}

#[test]
fn a_syn_that_comes_twice_is_answered_and_no_drop() {
    needs_root!();
    let seen =
        scenario("lonely_link(); listen(7001, 64, LONELY); watch(); raw_syns(7001, 20); raw_syns(7001, 20); report()");
    seen.assert_lossless();
    let row = seen.listener(7001);
    assert_eq!((figure(row, "drops"), figure(row, "drops_ever"), figure(row, "put_aside")), (0, 20, 20));
    assert_eq!(seen.kernel("ListenDrops"), 0);
}

#[test]
fn cookies_are_counted_for_the_only_listener_and_drop_nothing() {
    needs_root!();
    for syncookies in [1, 2] {
        let seen = scenario(&format!(
            "sysctl('ipv4/tcp_syncookies', {syncookies}); lonely_link()
listen(7001, 16, LONELY); watch(); raw_syns(7001, 300); report()"
        ));
        seen.assert_lossless();
        let cookies = seen.kernel("TCPReqQFullDoCookies");
        assert!(cookies >= 250, "{cookies}");
        let row = seen.listener(7001);
        assert_eq!((figure(row, "cookies"), figure(row, "drops")), (cookies, seen.kernel("ListenDrops")));
        assert_eq!(seen.host("cookies")["since_start"], cookies);
    }
}

#[test]
fn with_two_listeners_one_flooded_the_drops_are_its_own_and_the_cookies_the_namespaces() {
    needs_root!();
    let seen = scenario(
        "sysctl('ipv4/tcp_syncookies', 0); lonely_link(); listen(7001, 16, LONELY); listen(7002, 4); watch()
raw_syns(7001, 300); settle(); connect(7002, 20); report()",
    );
    seen.assert_lossless();
    let flooded = seen.kernel("TCPReqQFullDrop");
    let [at_syn, at_ack, syn_queue, other] = causes(seen.listener(7001));
    assert_eq!((at_syn, at_ack, syn_queue), (0, 0, flooded));
    assert_eq!(causes(seen.listener(7002)), [15, 0, 0, 0]);
    assert_eq!(flooded + other + 15, seen.kernel("ListenDrops"));
    assert!(seen.listener(7001)["cookies"].is_null());
}

#[test]
fn syns_and_syn_acks_sent_again_are_told_apart_and_add_up_to_the_kernels_counter() {
    needs_root!();
    let seen = scenario(
        "lonely_link(); listen(7001, 64, LONELY); listen(7002, 2); watch(); raw_syns(7001, 20); connect(7002, 15, patient=True); settle(2.3); report()",
    );
    seen.assert_lossless();
    let sent_again = |name: &str| seen.host(name)["since_start"].as_i64().unwrap();
    assert!(sent_again("syn_retransmits") >= 12 && sent_again("syn_ack_retransmits") >= 20);
    assert_eq!(sent_again("syn_retransmits") + sent_again("syn_ack_retransmits"), seen.kernel("TCPSynRetrans"));
    assert_eq!(figure(seen.listener(7001), "syn_ack_retransmits"), sent_again("syn_ack_retransmits"));
}
