//! The kernel's own TCP counters of a network namespace: `/proc/net/snmp`, `netstat` and `sockstat`.

use std::{collections::BTreeMap, fs, io, path::Path};

/// One reading. Names are `Tcp.ActiveOpens`, `TcpExt.ListenOverflows` and so on, as `nstat` has them with a dot.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KernelCounters {
    values: BTreeMap<String, i64>,
    /// Sockets in `TIME_WAIT` now (`sockstat` tw).
    pub time_wait: u64,
    /// Other TCP sockets in use now (`sockstat` inuse).
    pub in_use: u64,
}

impl KernelCounters {
    /// Reads them for the network namespace of a process.
    ///
    /// `net` is `/proc/self/net`, or `/proc/PID/net` for another namespace.
    ///
    /// # Errors
    /// When one of the three files cannot be read.
    pub fn read(net: &Path) -> io::Result<Self> {
        let text = |name: &str| fs::read_to_string(net.join(name));
        let mut values = parse_pairs(&text("snmp")?, &["Tcp"]);
        values.extend(parse_pairs(&text("netstat")?, &["TcpExt"]));
        let sockstat = text("sockstat")?;
        Ok(Self { values, time_wait: parse_sockets(&sockstat, "tw"), in_use: parse_sockets(&sockstat, "inuse") })
    }

    /// One counter, 0 when this kernel does not have it.
    #[must_use]
    pub fn get(&self, name: &str) -> i64 {
        self.values.get(name).copied().unwrap_or(0)
    }

    /// How far each counter moved since `earlier`; those that did not are left out.
    #[must_use]
    pub fn moved_since(&self, earlier: &Self) -> BTreeMap<String, i64> {
        /// Gauges and settings, which do not count anything.
        const NOT_COUNTERS: [&str; 5] =
            ["Tcp.CurrEstab", "Tcp.MaxConn", "Tcp.RtoAlgorithm", "Tcp.RtoMax", "Tcp.RtoMin"];
        let moved = self.values.iter().filter(|(name, _)| !NOT_COUNTERS.contains(&name.as_str()));
        moved
            .map(|(name, value)| (name.clone(), value - earlier.get(name)))
            .filter(|&(_, change)| change != 0)
            .collect()
    }
}

/// Parses the two-line form: `Tcp: Name Name` above `Tcp: 1 2`.
fn parse_pairs(text: &str, sections: &[&str]) -> BTreeMap<String, i64> {
    let mut values = BTreeMap::new();
    let mut lines = text.lines();
    while let (Some(names), Some(numbers)) = (lines.next(), lines.next()) {
        let (Some((section, names)), Some((_, numbers))) = (names.split_once(": "), numbers.split_once(": ")) else {
            continue;
        };
        if sections.contains(&section) {
            let pairs = names.split_whitespace().zip(numbers.split_whitespace());
            values.extend(
                pairs.filter_map(|(name, number)| Some((format!("{section}.{name}"), number.parse::<i64>().ok()?))),
            );
        }
    }
    values
}

fn parse_sockets(sockstat: &str, kind: &str) -> u64 {
    let tcp = sockstat.lines().find_map(|line| line.strip_prefix("TCP: ")).unwrap_or_default();
    let mut words = tcp.split_whitespace().skip_while(|&word| word != kind).skip(1);
    words.next().and_then(|number| number.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_parsed_by_name_whatever_their_order() {
        let text = "TcpExt: A ListenDrops\nTcpExt: 1 7\nIpExt: X\nIpExt: 3\nTcp: MaxConn\nTcp: -1\n";
        let values = parse_pairs(text, &["TcpExt", "Tcp"]);
        assert_eq!(values.get("TcpExt.ListenDrops"), Some(&7));
        assert_eq!(values.get("Tcp.MaxConn"), Some(&-1));
        assert_eq!(values.len(), 3);
    }

    #[test]
    fn sockets_are_taken_from_sockstat() {
        let sockstat = "sockets: used 90\nTCP: inuse 5 orphan 0 tw 1234 alloc 7 mem 1\nUDP: inuse 1";
        assert_eq!(["tw", "inuse", "none"].map(|kind| parse_sockets(sockstat, kind)), [1234, 5, 0]);
        assert_eq!(parse_sockets("", "tw"), 0);
    }

    #[test]
    fn only_counters_that_moved_are_named_and_gauges_never() {
        let reading = |pairs: &[(&str, i64)]| KernelCounters {
            values: pairs.iter().map(|&(name, value)| (name.to_owned(), value)).collect(),
            time_wait: 0,
            in_use: 0,
        };
        let before = reading(&[("Tcp.ActiveOpens", 1), ("Tcp.CurrEstab", 5), ("Tcp.InSegs", 4)]);
        let after = reading(&[("Tcp.ActiveOpens", 4), ("Tcp.CurrEstab", 9), ("Tcp.InSegs", 4)]);
        assert_eq!(after.moved_since(&before), BTreeMap::from([("Tcp.ActiveOpens".to_owned(), 3)]));
    }

    #[test]
    fn this_machine_can_be_read() {
        let counters = KernelCounters::read(Path::new("/proc/self/net")).expect("procfs");
        assert!(counters.values.contains_key("TcpExt.ListenOverflows"));
    }
}
