//! What the kernel counted, and how near the local ports were to their step.

use reports::{
    bench::{BenchResult, Finding, Mode, Unit},
    units,
};

use super::finding;
use crate::bench::{facts::Facts, sources};

/// Counters that tell of trouble, and what it leads to.
const TELLING: [(&str, &str); 5] = [
    ("TcpExt.ListenOverflows", "times an accept queue was full: each dropped a SYN that was sent again a second later"),
    ("TcpExt.ListenDrops", "SYNs or ACKs were dropped by a listener"),
    ("TcpExt.TCPReqQFullDoCookies", "SYNs were answered with a cookie: the SYN queue was full"),
    ("TcpExt.TCPSynRetrans", "SYNs or SYN-ACKs were sent again: each waited a second or more"),
    ("TcpExt.TCPTimeouts", "retransmission timers ran out"),
];

/// Those that moved. They count for the whole network namespace.
pub(super) fn counters(result: &BenchResult) -> impl Iterator<Item = Finding> + '_ {
    TELLING.iter().filter_map(|&(name, meaning)| {
        let moved = result.kernel_counters.get(name).copied().filter(|&moved| moved > 0)?;
        let short = name.trim_start_matches("TcpExt.");
        let text = format!("{} {meaning} ({name})", units::signed(moved));
        Some(finding(&format!("counter:{short}"), true, (moved as f64, Unit::Count), text))
    })
}

/// Connections in `TIME_WAIT` against the ports below the step.
pub(super) fn port_bound(result: &BenchResult, facts: &Facts) -> Option<Finding> {
    let settings = &result.settings;
    if settings.mode == Mode::Long || !sources::leaves_time_wait(settings) {
        return None;
    }
    // Not all that wait are this run's, nor do all of this run's still wait.
    let taken = result.machine.as_ref()?.time_wait.min(result.connected + facts.time_wait);
    let share = taken as f64 / (facts.step() as f64 * f64::from(settings.sources));
    (share >= 1.0)
        .then(|| finding("port-bound", true, (share, Unit::Ratio), sources::port_bound(taken, settings, facts)))
}
