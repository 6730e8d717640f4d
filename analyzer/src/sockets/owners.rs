//! Which process holds a socket, by the inode that `/proc/PID/fd` shows.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use procfs::process::{Process, all_processes};

/// A process that holds a socket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Owner {
    pub(crate) pid: u32,
    pub(crate) command: String,
}

impl std::fmt::Display for Owner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} (pid {})", self.command, self.pid)
    }
}

/// Inodes of the sockets that a process holds; none when it has ended or may not be looked into.
pub(crate) fn sockets_of(pid: u32) -> BTreeSet<u32> {
    let process = i32::try_from(pid).ok().and_then(|pid| Process::new(pid).ok());
    process.map(|process| sockets(&process)).unwrap_or_default()
}

/// First process found to hold each of `inodes`. Looks through every process that we may look into.
pub(crate) fn owners_of(inodes: &BTreeSet<u32>) -> BTreeMap<u32, Owner> {
    let mut owners = BTreeMap::new();
    let Ok(processes) = all_processes() else { return owners };
    for process in processes.flatten() {
        if owners.len() == inodes.len() {
            break;
        }
        for inode in sockets(&process).intersection(inodes) {
            owners.entry(*inode).or_insert_with(|| Owner {
                pid: process.pid.unsigned_abs(),
                command: process.stat().map(|stat| stat.comm).unwrap_or_default(),
            });
        }
    }
    owners
}

/// By the links alone: a process may have a million descriptors.
fn sockets(process: &Process) -> BTreeSet<u32> {
    let folder = Path::new("/proc").join(process.pid.to_string()).join("fd");
    let links =
        fs::read_dir(folder).into_iter().flatten().flatten().filter_map(|entry| fs::read_link(entry.path()).ok());
    links.filter_map(|link| inode(link.to_str()?)).collect()
}

/// `socket:[12345]`.
fn inode(link: &str) -> Option<u32> {
    link.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
}
