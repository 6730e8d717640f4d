//! What the host uses: CPU time, load, sockets.

use std::{fs, path::Path};

use anyhow::{Context as _, Result};
use procfs::{Current as _, CurrentSI as _, KernelStats, LoadAverage};
use reports::{
    counters::gauge,
    recording::{HostCpu, TcpSockets},
};

/// The host's counters at one moment; CPU times since boot.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct HostUsage {
    pub(crate) cpu: HostCpu,
    pub(crate) context_switches: u64,
    pub(crate) load: f64,
}

impl HostUsage {
    /// Reads `/proc/stat` and `/proc/loadavg`.
    ///
    /// # Errors
    /// When they cannot be read.
    pub(crate) fn now() -> Result<Self> {
        let stat = KernelStats::current().context("failed to read `/proc/stat`")?;
        let load = LoadAverage::current().context("failed to read `/proc/loadavg`")?;
        let ns = |ticks: u64| ticks.saturating_mul(1_000_000_000 / procfs::ticks_per_second());
        let total = stat.total;
        let cpu = HostCpu {
            user_ns: ns(total.user + total.nice),
            system_ns: ns(total.system),
            softirq_ns: ns(total.softirq.unwrap_or(0)),
            irq_ns: ns(total.irq.unwrap_or(0)),
            steal_ns: ns(total.steal.unwrap_or(0)),
            idle_ns: ns(total.idle + total.iowait.unwrap_or(0)),
        };
        Ok(Self { cpu, context_switches: stat.ctxt, load: f64::from(load.one) })
    }

    /// CPU time since `earlier`.
    pub(crate) fn cpu_since(&self, earlier: &Self) -> HostCpu {
        // Idle time may run backwards by a tick.
        let (now, then) = (&self.cpu, &earlier.cpu);
        HostCpu {
            user_ns: now.user_ns.saturating_sub(then.user_ns),
            system_ns: now.system_ns.saturating_sub(then.system_ns),
            softirq_ns: now.softirq_ns.saturating_sub(then.softirq_ns),
            irq_ns: now.irq_ns.saturating_sub(then.irq_ns),
            steal_ns: now.steal_ns.saturating_sub(then.steal_ns),
            idle_ns: now.idle_ns.saturating_sub(then.idle_ns),
        }
    }
}

/// TCP sockets of the calling thread's network namespace.
///
/// # Errors
/// When `sockstat` cannot be read.
pub(crate) fn tcp_sockets() -> Result<TcpSockets> {
    let path = Path::new("/proc/thread-self/net/sockstat");
    let text = fs::read_to_string(path).with_context(|| format!("failed to read `{}`", path.display()))?;
    Ok(parse_sockstat(&text, rustix::param::page_size() as u64))
}

fn parse_sockstat(text: &str, page_bytes: u64) -> TcpSockets {
    let value = |name| gauge(text, "TCP: ", name);
    TcpSockets {
        in_use: value("inuse"),
        orphan: value("orphan"),
        time_wait: value("tw"),
        memory_bytes: value("mem").saturating_mul(page_bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sockets_are_read_by_name_and_memory_in_pages() {
        let text = "sockets: used 200\nTCP: inuse 7 orphan 1 tw 12 alloc 9 mem 3\nUDP: inuse 1 mem 0\n";
        let sockets = parse_sockstat(text, 4096);
        assert_eq!((sockets.in_use, sockets.orphan, sockets.time_wait, sockets.memory_bytes), (7, 1, 12, 12_288));
        assert_eq!(parse_sockstat("", 4096), TcpSockets::default());
    }

    #[test]
    fn the_host_has_spent_time() {
        let usage = HostUsage::now().expect("readable");
        assert!(usage.cpu.system_ns > 0 && usage.context_switches > 0);
        assert_eq!(usage.cpu_since(&usage), HostCpu::default());
    }
}
