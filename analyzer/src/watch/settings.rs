//! The kernel settings that say what a namespace's figures are to be measured by.

use std::{
    fs::File,
    io::{Read as _, Seek as _},
    path::Path,
};

/// Their values now; `None` for those that this namespace does not have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Settings {
    /// `net.core.somaxconn`.
    pub(crate) somaxconn: Option<u64>,
    /// `net.ipv4.ip_local_port_range`.
    pub(crate) port_range: Option<(u16, u16)>,
    /// `net.ipv4.tcp_max_orphans`, of the whole machine.
    pub(crate) max_orphans: Option<u64>,
    /// `net.ipv4.tcp_mem`, the middle one: of the whole machine.
    pub(crate) memory_pressure_pages: Option<u64>,
}

/// Their files, kept open: they stay those of the namespace in which they were opened.
pub(crate) struct SettingFiles {
    somaxconn: Option<File>,
    port_range: Option<File>,
    max_orphans: Option<File>,
    tcp_mem: Option<File>,
}

impl SettingFiles {
    /// Opens those of the namespace that the calling thread is in.
    pub(crate) fn open() -> Self {
        let open = |name: &str| File::open(Path::new("/proc/sys/net").join(name)).ok();
        Self {
            somaxconn: open("core/somaxconn"),
            port_range: open("ipv4/ip_local_port_range"),
            max_orphans: open("ipv4/tcp_max_orphans"),
            tcp_mem: open("ipv4/tcp_mem"),
        }
    }

    /// Reads them.
    pub(crate) fn read(&mut self) -> Settings {
        let ports = numbers(self.port_range.as_mut());
        let port = |at: usize| u16::try_from(*ports.get(at)?).ok();
        Settings {
            somaxconn: numbers(self.somaxconn.as_mut()).first().copied(),
            port_range: port(0).zip(port(1)),
            max_orphans: numbers(self.max_orphans.as_mut()).first().copied(),
            memory_pressure_pages: numbers(self.tcp_mem.as_mut()).get(1).copied(),
        }
    }
}

fn numbers(file: Option<&mut File>) -> Vec<u64> {
    let mut text = String::new();
    let read = file.map(|file| file.rewind().and_then(|()| file.read_to_string(&mut text)));
    if !matches!(read, Some(Ok(_))) {
        return Vec::new();
    }
    text.split_whitespace().map_while(|word| word.parse().ok()).collect()
}
