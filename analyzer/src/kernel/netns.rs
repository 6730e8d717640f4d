//! A network namespace: ours or that of a process which runs already, kept for as long as the run even if that ends.

use std::{
    fs::File,
    io,
    os::{fd::AsFd as _, linux::fs::MetadataExt as _},
    path::Path,
    thread,
};

use anyhow::{Context as _, Result, ensure};
use reports::counters::KernelCounters;
use rustix::{
    fs::fstatfs,
    thread::{LinkNameSpaceType, move_into_link_name_space},
};

use crate::advice::Advise as _;

/// Magic number of the file system that namespaces are files of (v6.18 `NSFS_MAGIC`).
const NSFS: i64 = 0x6e73_6673;

/// A network namespace.
pub(crate) struct Netns {
    pub(crate) inode: u64,
    /// Holds the namespace; `None` for the one that we live in.
    other: Option<File>,
}

impl Netns {
    /// The one that a process lives in; ours without one.
    ///
    /// # Errors
    /// When there is no such process.
    pub(crate) fn of(pid: Option<u32>) -> Result<Self> {
        let own = File::open("/proc/self/ns/net").context("failed to open our own network namespace")?;
        let own_inode = own.metadata()?.st_ino();
        let Some(pid) = pid else { return Ok(Self { inode: own_inode, other: None }) };
        let other = File::open(Path::new("/proc").join(pid.to_string()).join("ns/net"));
        let other = other.with_context(|| match pid {
            pid if !Path::new("/proc").join(pid.to_string()).exists() => format!("there is no process {pid}"),
            pid => format!("process {pid} has ended, or its first thread has, or may not be looked into"),
        });
        let other = other.hint("`ps -e` lists the processes")?;
        let inode = other.metadata()?.st_ino();
        Ok(Self { inode, other: (inode != own_inode).then_some(other) })
    }

    /// The one that a file stands for, such as `/run/netns/NAME`.
    ///
    /// # Errors
    /// When the file cannot be opened, or is none of a namespace.
    pub(crate) fn at(path: &Path) -> Result<Self> {
        let own_inode = Self::of(None)?.inode;
        let other = File::open(path).with_context(|| format!("failed to open `{}`", path.display()))?;
        ensure!(fstatfs(&other)?.f_type == NSFS, "`{}` is no network namespace", path.display());
        let inode = other.metadata()?.st_ino();
        Ok(Self { inode, other: (inode != own_inode).then_some(other) })
    }

    /// Does something inside the namespace: on a thread of its own when it is not ours.
    ///
    /// # Errors
    /// When we may not enter it, or what was done fails.
    pub(crate) fn within<T: Send>(&self, work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
        let Some(other) = &self.other else { return work() };
        let enter = || move_into_link_name_space(other.as_fd(), Some(LinkNameSpaceType::Network));
        let inside =
            || enter().map_err(io::Error::from).context("failed to enter the network namespace").and_then(|()| work());
        thread::scope(|scope| scope.spawn(inside).join()).unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }

    /// Its TCP counters now.
    ///
    /// # Errors
    /// When they cannot be read.
    pub(crate) fn counters(&self) -> Result<KernelCounters> {
        let net = Path::new("/proc/thread-self/net");
        self.within(|| KernelCounters::read(net).context("failed to read the TCP counters in `/proc/thread-self/net`"))
    }
}
