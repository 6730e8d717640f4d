//! The kernel's own TCP counters of a network namespace: `/proc/net/snmp`, `netstat`, `sockstat` and `sockstat6`.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{self, Read as _, Seek as _},
    path::Path,
};

/// One reading. Names are `Tcp.ActiveOpens`, `TcpExt.ListenOverflows` and so on, as `nstat` has them with a dot.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KernelCounters {
    values: BTreeMap<String, i64>,
    /// Sockets in `TIME_WAIT` now (`sockstat` tw).
    pub time_wait: u64,
    /// TCP sockets that are open, IPv4 and IPv6, without those in `TIME_WAIT` (`sockstat` and `sockstat6` inuse).
    pub in_use: u64,
    /// Sockets that no process holds any more, of the whole host (`sockstat` orphan).
    pub orphans: u64,
    /// Pages of memory that TCP uses, of the whole host (`sockstat` mem).
    pub memory_pages: u64,
}

/// The files of one network namespace, kept open: reading them again needs no entering it.
#[derive(Debug)]
pub struct CounterFiles {
    snmp: File,
    netstat: File,
    sockstat: File,
    /// Absent without IPv6.
    sockstat6: Option<File>,
}

impl CounterFiles {
    /// Opens them.
    ///
    /// `net` is `/proc/thread-self/net`, or `/proc/PID/net` for another namespace.
    ///
    /// # Errors
    /// When one of them cannot be opened.
    pub fn open(net: &Path) -> io::Result<Self> {
        let open = |name: &str| File::open(net.join(name));
        Ok(Self {
            snmp: open("snmp")?,
            netstat: open("netstat")?,
            sockstat: open("sockstat")?,
            sockstat6: open("sockstat6").ok(),
        })
    }

    /// Reads them.
    ///
    /// # Errors
    /// When one of them cannot be read.
    pub fn read(&mut self) -> io::Result<KernelCounters> {
        let mut values = parse_pairs(&whole(&mut self.snmp)?, &["Tcp"]);
        values.extend(parse_pairs(&whole(&mut self.netstat)?, &["TcpExt"]));
        let sockstat = whole(&mut self.sockstat)?;
        let sockstat6 = self.sockstat6.as_mut().map(whole).transpose()?.unwrap_or_default();
        Ok(KernelCounters {
            values,
            time_wait: gauge(&sockstat, "TCP: ", "tw"),
            in_use: gauge(&sockstat, "TCP: ", "inuse") + gauge(&sockstat6, "TCP6: ", "inuse"),
            orphans: gauge(&sockstat, "TCP: ", "orphan"),
            memory_pages: gauge(&sockstat, "TCP: ", "mem"),
        })
    }
}

fn whole(file: &mut File) -> io::Result<String> {
    let mut text = String::new();
    file.rewind()?;
    file.read_to_string(&mut text)?;
    Ok(text)
}

impl KernelCounters {
    /// Reads them for the network namespace of a process.
    ///
    /// `net` is `/proc/self/net`, or `/proc/PID/net` for another namespace.
    ///
    /// # Errors
    /// When one of the files cannot be read.
    pub fn read(net: &Path) -> io::Result<Self> {
        CounterFiles::open(net)?.read()
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

/// A number of a `sockstat` line: `TCP: inuse 5 orphan 0 tw 1234`.
#[must_use]
pub fn gauge(sockstat: &str, line: &str, name: &str) -> u64 {
    let numbers = sockstat.lines().find_map(|text| text.strip_prefix(line)).unwrap_or_default();
    let mut words = numbers.split_whitespace().skip_while(|&word| word != name).skip(1);
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
    fn gauges_are_taken_from_sockstat_by_name() {
        let sockstat = "sockets: used 90\nTCP: inuse 5 orphan 2 tw 1234 alloc 7 mem 1\nUDP: inuse 3 mem 9";
        assert_eq!(["inuse", "orphan", "tw", "mem"].map(|name| gauge(sockstat, "TCP: ", name)), [5, 2, 1234, 1]);
        assert_eq!(gauge("", "TCP: ", "tw"), 0);
    }

    #[test]
    fn only_counters_that_moved_are_named_and_gauges_never() {
        let reading = |pairs: &[(&str, i64)]| KernelCounters {
            values: pairs.iter().map(|&(name, value)| (name.to_owned(), value)).collect(),
            ..KernelCounters::default()
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
