//! What the kernel's settings and the machine's state mean for a run: read once before it. Does not judge.

use std::{fs, path::Path};

use reports::counters::KernelCounters;

/// Connections a second that no loopback server of ours exceeds: to guess how many a run by time makes.
const MOST_PER_S: u64 = 50_000;
/// v6.18 `TCP_TIMEWAIT_LEN`, in seconds.
const TIME_WAIT_S: u64 = 60;

/// Settings and state of the client's network namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// First and last of `ip_local_port_range`.
    pub ports: (u16, u16),
    /// `tcp_max_tw_buckets`.
    pub most_time_wait: u64,
    /// `somaxconn`.
    pub somaxconn: u64,
    /// Sockets in `TIME_WAIT` now.
    pub time_wait: u64,
}

impl Facts {
    /// Reads them; what cannot be read is taken to be as the kernel's defaults.
    #[must_use]
    pub fn read() -> Self {
        let number = |name: &str| sysctl(name)?.trim().parse().ok();
        let ports = sysctl("ipv4/ip_local_port_range").and_then(|text| parse_pair(&text));
        let counters = KernelCounters::read(Path::new("/proc/self/net")).unwrap_or_default();
        Self {
            ports: ports.unwrap_or((32_768, 60_999)),
            most_time_wait: number("ipv4/tcp_max_tw_buckets").unwrap_or(65_536),
            somaxconn: number("core/somaxconn").unwrap_or(4096),
            time_wait: counters.time_wait,
        }
    }

    /// Local ports of one source address towards one server.
    #[must_use]
    pub fn port_count(&self) -> u64 {
        u64::from(self.ports.1.saturating_sub(self.ports.0)) + 1
    }

    /// Connections and `TIME_WAIT` of one source address from which on `connect()` searches ports of one parity in vain:
    /// v6.18 `__inet_hash_connect` tries all of one parity first.
    #[must_use]
    pub fn step(&self) -> u64 {
        (self.port_count() / 2).max(1)
    }

    /// `TIME_WAIT` sockets that so many connections, or so many seconds of them, leave at most.
    #[must_use]
    pub fn expected_time_wait(&self, connections: Option<u64>, duration_ns: u64) -> u64 {
        let seconds = (duration_ns / 1_000_000_000 + 1).min(TIME_WAIT_S);
        connections.unwrap_or(MOST_PER_S * seconds).min(self.most_time_wait)
    }
}

fn sysctl(name: &str) -> Option<String> {
    fs::read_to_string(Path::new("/proc/sys/net").join(name)).ok()
}

fn parse_pair(text: &str) -> Option<(u16, u16)> {
    let mut words = text.split_whitespace().map(|word| word.parse().ok());
    Some((words.next()??, words.next()??))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_range_has_its_step_at_the_half() {
        let facts = Facts { ports: (32_768, 60_999), most_time_wait: 65_536, somaxconn: 4096, time_wait: 0 };
        assert_eq!((facts.port_count(), facts.step()), (28_232, 14_116));
        assert_eq!(parse_pair("40000\t40009\n"), Some((40_000, 40_009)));
        assert_eq!(parse_pair("40000"), None);
    }

    #[test]
    fn more_than_the_kernel_keeps_in_time_wait_is_never_expected() {
        let facts = Facts { ports: (32_768, 60_999), most_time_wait: 20_000, somaxconn: 4096, time_wait: 0 };
        assert_eq!(facts.expected_time_wait(Some(10_000), 0), 10_000);
        assert_eq!(facts.expected_time_wait(None, 60_000_000_000), 20_000);
    }
}
