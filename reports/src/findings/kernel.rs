//! Counters of the kernel that moved and should not have.

use super::{Finding, Severity};
use crate::{recording::Recording, text::meaning, units};

/// Those that tell of connections or segments that were dropped or sent again.
const TELLING: [&str; 13] = [
    "TcpExt.ListenOverflows",
    "TcpExt.ListenDrops",
    "TcpExt.TCPReqQFullDrop",
    "TcpExt.TCPReqQFullDoCookies",
    "TcpExt.TCPSynRetrans",
    "TcpExt.TCPTimeouts",
    "TcpExt.TCPTimeWaitOverflow",
    "TcpExt.TCPAbortOnTimeout",
    "TcpExt.TCPAbortOnMemory",
    "TcpExt.TCPMemoryPressures",
    "TcpExt.TCPBacklogDrop",
    "TcpExt.TCPRcvQDrop",
    "TcpExt.SyncookiesFailed",
];

pub(super) fn counters_that_moved(recording: &Recording, found: &mut Vec<Finding>) {
    for name in TELLING {
        let by_bench = recording.bench.iter().filter_map(|result| result.kernel_counters.get(name).copied()).max();
        // The load's reading is of a part of the run's time, where there are both.
        let moved = recording.tcp.as_ref().map(|tcp| tcp.counter(name)).max(by_bench).unwrap_or(0);
        if moved <= 0 {
            continue;
        }
        let words = meaning(name).unwrap_or("moved");
        found.push(Finding {
            name: "counter-moved",
            severity: Severity::Warning,
            text: format!("{name} moved by {}: {words}", units::signed(moved)),
            value: moved as f64,
            unit: "events",
        });
    }
}

pub(super) fn listeners_that_dropped(recording: &Recording, found: &mut Vec<Finding>) {
    let listeners = recording.tcp.iter().flat_map(|tcp| &tcp.listeners);
    for listener in listeners {
        let Some(drops) = listener.drops.filter(|&drops| drops > 0) else { continue };
        let room =
            listener.limit.map_or_else(String::new, |limit| format!(" of {}", units::count(u64::from(limit) + 1)));
        found.push(Finding {
            name: "listener-drops",
            severity: Severity::Warning,
            text: format!(
                "{} dropped {}; its queue held up to {}{room}",
                listener.address,
                units::counted(drops, "connection attempt"),
                units::count(listener.queue_high.into()),
            ),
            value: drops as f64,
            unit: "drops",
        });
    }
}
