//! Ways to end: alerts, counts, once. And what is left without rights or probes.

use serde_json::Value;

use super::scenario::{causes, figure, scenario};
use crate::support::needs_root;

#[test]
fn an_alert_ends_the_watch_with_status_3_at_the_first_interval_in_which_it_is_true() {
    needs_root!();
    let seen =
        scenario("listen(7001, 4); watch('--alert', 'drops>4', '--alert', 'fill>200%'); connect(7001, 30); report()");
    assert_eq!(seen.status, 3);
    assert_eq!(figure(seen.listener(7001), "drops"), 25);
    let earlier = &seen.rounds[..seen.rounds.len() - 1];
    assert!(earlier.iter().all(|round| round["namespaces"][0]["listeners"][0]["drops"].as_i64() <= Some(4)));
}

#[test]
fn an_alert_that_never_comes_true_leaves_the_status_alone() {
    needs_root!();
    let seen = scenario("listen(7001, 4); watch('--alert', 'drops>0', '--count', '4'); settle(1); report()");
    assert_eq!((seen.status, seen.rounds.len()), (0, 4));
}

#[test]
fn an_alert_that_cannot_be_told_is_refused() {
    needs_root!();
    let seen = scenario("watch('--once', '--alert', 'drops>0'); report()");
    assert_eq!((seen.status, seen.rounds.len()), (1, 0));
    let seen = scenario("watch('--no-probes', '--count', '1', '--alert', 'wait_p99>1ms'); report()");
    assert_eq!((seen.status, seen.rounds.len()), (1, 0));
}

#[test]
fn once_tells_what_there_is_and_only_the_wanted_port() {
    needs_root!();
    let seen = scenario(
        "listen(7001, 4); listen(7002, 4); connect(7001, 30); settle(); watch('--once', '--port', '7001'); report()",
    );
    assert_eq!((seen.status, seen.rounds.len(), seen.listeners().len()), (0, 1, 1));
    let row = seen.listener(7001);
    assert_eq!((figure(row, "queue"), figure(row, "drops_ever"), figure(row, "drops")), (5, 25, 0));
}

/// The same without rights or without probes, and what is said to be missing.
fn reduced(command: &str) -> Vec<Value> {
    let seen = scenario(&format!(
        "sysctl('ipv4/tcp_syncookies', 0); listen(7001, 16); {command}; connect(7001, 60); report()"
    ));
    assert_eq!(seen.status, 0);
    let row = seen.listener(7001);
    assert_eq!((figure(row, "queue"), figure(row, "drops")), (17, 43));
    // Only overflows at the SYN, as the kernel's counters agree.
    assert_eq!(causes(row), [43, -1, 0, 0]);
    assert!(row["accept_wait"].is_null() && row["asked"].is_null());
    assert!(seen.host("syn_retransmits").is_null() && !seen.host("handshake_retransmits").is_null());
    seen.last()["missing"].as_array().unwrap().clone()
}

#[test]
fn without_root_drops_and_queues_are_there_and_what_is_missing_is_said() {
    needs_root!();
    // A copy that anybody may execute: the folder of the original may be closed to others.
    let missing = reduced(
        "import shutil, tempfile; folder = tempfile.mkdtemp(); os.chmod(folder, 0o755); \
ANALYZER = shutil.copy(ANALYZER, folder); watch(command=('setpriv', '--reuid', '65534', '--clear-groups')); \
shutil.rmtree(folder)",
    );
    let missing: Vec<&str> = missing.iter().map(|text| text.as_str().unwrap()).collect();
    assert!(missing.iter().any(|text| text.starts_with("accept-queue wait") && text.ends_with("that needs root")));
    assert!(missing.iter().any(|text| text.starts_with("owners of other users' sockets")), "{missing:?}");
}

#[test]
fn without_probes_everything_else_is_there() {
    needs_root!();
    assert_eq!(
        reduced("watch('--no-probes')"),
        ["accept-queue wait, backlog as asked for, drops at the final ACK apart: --no-probes"]
    );
}
