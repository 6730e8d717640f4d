//! Which process holds a socket, by the inode that `/proc/PID/fd` shows.

use std::collections::{BTreeMap, BTreeSet};

use procfs::process::{FDTarget, Process, all_processes};

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

fn sockets(process: &Process) -> BTreeSet<u32> {
    let Ok(descriptors) = process.fd() else { return BTreeSet::new() };
    descriptors
        .flatten()
        .filter_map(|descriptor| match descriptor.target {
            FDTarget::Socket(inode) => u32::try_from(inode).ok(),
            _ => None,
        })
        .collect()
}
