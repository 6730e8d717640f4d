//! Readings of the kernel and the machine around a run, and what they moved by. Does not judge.

use std::{collections::BTreeMap, fs, path::Path, thread};

use reports::{bench::Machine, counters::KernelCounters};
use rustix::param::clock_ticks_per_second;

use super::clock::{now_ns, process_cpu_ns, wall_ns};
use crate::warn;

/// Counters that explain slow or failed connects.
const COUNTERS: [&str; 7] = [
    "Tcp.RetransSegs",
    "TcpExt.ListenDrops",
    "TcpExt.ListenOverflows",
    "TcpExt.TCPReqQFullDoCookies",
    "TcpExt.TCPReqQFullDrop",
    "TcpExt.TCPSynRetrans",
    "TcpExt.TCPTimeouts",
];

/// All of one moment.
#[derive(Debug)]
pub(super) struct Readings {
    counters: Option<KernelCounters>,
    client_cpu_ns: u64,
    cpu: Option<CpuTimes>,
    /// Wall clock minus monotonic clock.
    wall_offset_ns: i128,
}

impl Readings {
    pub(super) fn take() -> Self {
        let counters = KernelCounters::read(Path::new("/proc/self/net"))
            .inspect_err(|error| warn(&format!("failed to read the kernel's TCP counters: {error}")))
            .ok();
        let cpu = fs::read_to_string("/proc/stat").ok().and_then(|text| CpuTimes::parse(&text));
        let wall_offset_ns = i128::from(wall_ns()) - i128::from(now_ns());
        Self { counters, client_cpu_ns: process_cpu_ns(), cpu, wall_offset_ns }
    }

    pub(super) fn client_cpu_ns_since(&self, before: &Self) -> u64 {
        self.client_cpu_ns.saturating_sub(before.client_cpu_ns)
    }

    /// Kernel counters that moved and tell of trouble.
    pub(super) fn moved_since(&self, before: &Self) -> BTreeMap<String, i64> {
        let (Some(before), Some(after)) = (&before.counters, &self.counters) else { return BTreeMap::new() };
        let mut moved = after.moved_since(before);
        moved.retain(|name, _| COUNTERS.contains(&name.as_str()));
        moved
    }

    /// How far the wall clock was set, in ns.
    pub(super) fn clock_jump_ns_since(&self, before: &Self) -> u64 {
        u64::try_from((self.wall_offset_ns - before.wall_offset_ns).abs()).unwrap_or(u64::MAX)
    }

    pub(super) fn machine_since(&self, before: &Self) -> Option<Machine> {
        let ns = self.cpu.as_ref()?.ns_since(before.cpu.as_ref()?);
        let load = fs::read_to_string("/proc/loadavg").ok();
        let sockets = self.counters.as_ref();
        Some(Machine {
            cpus: thread::available_parallelism().map_or(1, |cpus| u32::try_from(cpus.get()).unwrap_or(1)),
            user_ns: ns[0] + ns[1],
            system_ns: ns[2],
            softirq_ns: ns[5] + ns[6],
            idle_ns: ns[3] + ns[4],
            steal_ns: ns[7],
            load_1m: load.and_then(|text| text.split(' ').next()?.parse().ok()).unwrap_or(0.0),
            tcp_in_use: sockets.map_or(0, |counters| counters.in_use),
            time_wait: sockets.map_or(0, |counters| counters.time_wait),
        })
    }
}

/// The first line of /proc/stat: ticks in user, nice, system, idle, iowait, irq, softirq, steal.
#[derive(Debug, PartialEq, Eq)]
struct CpuTimes([u64; 8]);

impl CpuTimes {
    fn parse(stat: &str) -> Option<Self> {
        let mut words = stat.lines().next()?.strip_prefix("cpu ")?.split_whitespace();
        let mut ticks = [0; 8];
        for tick in &mut ticks {
            *tick = words.next()?.parse().ok()?;
        }
        Some(Self(ticks))
    }

    fn ns_since(&self, before: &Self) -> [u64; 8] {
        let tick_ns = 1_000_000_000 / clock_ticks_per_second().max(1);
        let mut ns = [0; 8];
        for (place, ns) in ns.iter_mut().enumerate() {
            *ns = self.0[place].saturating_sub(before.0[place]) * tick_ns;
        }
        ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machines_cpu_times_are_the_first_line_of_stat() {
        let times = CpuTimes::parse("cpu  10 20 30 40 50 60 70 80 90 0\ncpu0 1 2\n");
        assert_eq!(times, Some(CpuTimes([10, 20, 30, 40, 50, 60, 70, 80])));
        assert_eq!(CpuTimes::parse("cpu  10 20"), None);
        assert!(Readings::take().cpu.is_some());
    }
}
