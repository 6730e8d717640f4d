//! The kernel's TCP counters around a run, in the network namespace that the run is about.

use std::{
    os::linux::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result};
use reports::{counters::KernelCounters, recording::Tcp};

use crate::bpf::tcp::TcpProbes;

/// A network namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Netns {
    pub(crate) inode: u64,
    /// Its `/proc/PID/net`.
    net: PathBuf,
}

impl Netns {
    /// The one that a process lives in; ours without one.
    ///
    /// # Errors
    /// When there is no such process.
    pub(crate) fn of(pid: Option<u32>) -> Result<Self> {
        let process = Path::new("/proc").join(pid.map_or_else(|| "self".to_owned(), |pid| pid.to_string()));
        let inode = std::fs::metadata(process.join("ns/net"))
            .with_context(|| format!("failed to read `{}`", process.join("ns/net").display()))?
            .st_ino();
        Ok(Self { inode, net: process.join("net") })
    }

    /// Its counters now.
    ///
    /// # Errors
    /// When they cannot be read.
    pub(crate) fn counters(&self) -> Result<KernelCounters> {
        KernelCounters::read(&self.net)
            .with_context(|| format!("failed to read the counters in `{}`", self.net.display()))
    }

    /// What happened since `before`; `None` when the process whose namespace it is has ended, its counters with it.
    ///
    /// # Errors
    /// When the probes' maps cannot be read.
    pub(crate) fn since(&self, before: &KernelCounters, probes: &TcpProbes) -> Result<Option<Tcp>> {
        let after = match self.counters() {
            Ok(after) => after,
            Err(error) => {
                log::warn!("no TCP counters in this recording: {error:#}");
                return Ok(None);
            }
        };
        Ok(Some(Tcp {
            netns: self.inode,
            counters: after.moved_since(before),
            time_wait: (before.time_wait, after.time_wait),
            transitions: probes.transitions()?,
            retransmits: probes.retransmits()?,
        }))
    }
}
