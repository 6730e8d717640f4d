//! Readings of memory: the machine's, and that of single processes. Does not subtract them.

use std::fs;

/// Bytes, at one moment.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MachineMemory {
    /// All there is.
    pub(super) total: u64,
    /// `MemAvailable`: what could be had without swapping.
    pub(super) available: u64,
    /// `Slab`: the kernel's objects, sockets among them.
    pub(super) slab: u64,
    /// Data in TCP's queues (`sockstat` mem).
    pub(super) tcp: u64,
}

impl MachineMemory {
    /// What cannot be read is 0.
    pub(super) fn read() -> Self {
        let meminfo = fs::read_to_string("/proc/meminfo").unwrap_or_default();
        let sockstat = fs::read_to_string("/proc/self/net/sockstat").unwrap_or_default();
        Self {
            total: kib_of(&meminfo, "MemTotal:"),
            available: kib_of(&meminfo, "MemAvailable:"),
            slab: kib_of(&meminfo, "Slab:"),
            tcp: tcp_pages(&sockstat) * rustix::param::page_size() as u64,
        }
    }
}

/// Memory of a process that is its own (`RssAnon`), in bytes; 0 when it has gone.
pub(super) fn own_bytes(pid: u32) -> u64 {
    kib_of(&fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default(), "RssAnon:")
}

/// The value of a line `Name:  123 kB`, in bytes.
fn kib_of(text: &str, name: &str) -> u64 {
    let value = text.lines().find_map(|line| line.strip_prefix(name)).and_then(|rest| rest.split_whitespace().next());
    value.and_then(|kib| kib.parse::<u64>().ok()).unwrap_or(0) * 1024
}

fn tcp_pages(sockstat: &str) -> u64 {
    let tcp = sockstat.lines().find_map(|line| line.strip_prefix("TCP: ")).unwrap_or_default();
    let mut words = tcp.split_whitespace().skip_while(|&word| word != "mem").skip(1);
    words.next().and_then(|pages| pages.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readings_are_found_by_name() {
        assert_eq!(kib_of("MemTotal:  100 kB\nSlab:   7 kB\n", "Slab:"), 7168);
        assert_eq!(kib_of("", "Slab:"), 0);
        assert_eq!(tcp_pages("sockets: used 1\nTCP: inuse 5 orphan 0 tw 0 alloc 7 mem 13\n"), 13);
        let memory = MachineMemory::read();
        assert!(memory.total > memory.available && memory.available > 0 && memory.slab > 0);
        assert!(own_bytes(std::process::id()) > 0);
    }
}
