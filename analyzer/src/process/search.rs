//! Running processes by number, name or control group.

use std::{
    fs,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result, anyhow};
use procfs::process::{Process, all_processes};

use crate::advice::{Advise as _, advised};

/// The kernel keeps this many bytes of a name, and a zero.
const NAME_BYTES: usize = 15;

/// A process's name as the kernel has it: cut, and filled with zeroes.
pub(crate) fn kernel_name(name: &str) -> [u8; 16] {
    let mut bytes = [0; 16];
    let length = name.len().min(NAME_BYTES);
    bytes[..length].copy_from_slice(&name.as_bytes()[..length]);
    bytes
}

/// Processes of this name now, without ourselves.
pub(crate) fn named(name: &str) -> Vec<u32> {
    let wanted = kernel_name(name);
    let own = std::process::id();
    let all = all_processes().into_iter().flatten().flatten().filter_map(|process| process.stat().ok());
    let found = all.filter(|stat| kernel_name(&stat.comm) == wanted).filter_map(|stat| u32::try_from(stat.pid).ok());
    found.filter(|&pid| pid != own).collect()
}

/// A control group of version 2.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cgroup {
    path: PathBuf,
    /// What the kernel knows it by (v6.18 `cgroup_id`): the inode of its folder.
    pub(crate) id: u64,
    /// Its depth below the root.
    pub(crate) level: u32,
}

impl Cgroup {
    /// Finds it by its folder, or by its path below the root.
    ///
    /// # Errors
    /// When there is none of that name, or it is not of version 2.
    pub(crate) fn find(given: &Path) -> Result<Self> {
        let missing = || format!("no control group `{}`", given.display());
        let advice = "`systemd-cgls` or `find /sys/fs/cgroup -type d` lists them";
        let root = root_of(given)
            .ok_or_else(|| anyhow!("no control groups of version 2 are mounted"))
            .hint("mount -t cgroup2 none /sys/fs/cgroup, or name the processes with -p")?;
        let beside = root.join(given.strip_prefix("/").unwrap_or(given));
        let path = if given.starts_with(&root) { given.to_owned() } else { beside };
        let path = match fs::canonicalize(path) {
            Err(_) if given.is_dir() => Err(anyhow!("`{}` is no control group of version 2", given.display()))
                .hint(format!("those are below {}", root.display()))?,
            found => found.with_context(missing).hint(advice)?,
        };
        let below = path.strip_prefix(&root).map_err(|_| advised(anyhow!(missing()), advice))?;
        let level = u32::try_from(below.components().count()).unwrap_or(u32::MAX);
        let id = fs::metadata(&path).with_context(missing)?.ino();
        Ok(Self { path, id, level })
    }

    /// Processes in it and below it now, without ourselves.
    pub(crate) fn processes(&self) -> Vec<u32> {
        let mut found = Vec::new();
        let mut folders = vec![self.path.clone()];
        while let Some(folder) = folders.pop() {
            let list = fs::read_to_string(folder.join("cgroup.procs")).unwrap_or_default();
            found.extend(list.lines().filter_map(|line| line.parse::<u32>().ok()));
            let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
            folders.extend(entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())).map(|e| e.path()));
        }
        let own = std::process::id();
        found.retain(|&pid| pid != own);
        found
    }
}

/// Where control groups of version 2 are mounted: the mount that the path is in, else the first.
fn root_of(path: &Path) -> Option<PathBuf> {
    let mounts = Process::myself().ok()?.mountinfo().ok()?.into_iter();
    let roots: Vec<PathBuf> =
        mounts.filter(|mount| mount.fs_type == "cgroup2").map(|mount| mount.mount_point).collect();
    roots.iter().find(|root| path.starts_with(root)).or(roots.first()).cloned()
}

/// The process of a number that may be of another pid namespace than ours.
///
/// # Errors
/// When there is none, or the number means several.
pub(crate) fn resolve(pid: u32) -> Result<u32> {
    if Path::new("/proc").join(pid.to_string()).exists() {
        return Ok(pid);
    }
    let all = all_processes().into_iter().flatten().flatten();
    let inside = all.filter_map(|process| u32::try_from(process.pid).ok()).filter(|&outer| inner(outer) == pid);
    match inside.collect::<Vec<_>>().as_slice() {
        [outer] => Ok(*outer),
        [] => Err(anyhow!("there is no process {pid}")).hint("`ps -e` lists the processes"),
        several => {
            let list = several.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
            Err(anyhow!("{pid} is the number of {} processes in pid namespaces of their own", several.len()))
                .hint(format!("take their numbers here instead: {list}"))
        }
    }
}

/// A process's number in its own pid namespace; ours where that cannot be told.
pub(crate) fn inner(pid: u32) -> u32 {
    let status = i32::try_from(pid).ok().and_then(|pid| Process::new(pid).ok()?.status().ok());
    let own = status.and_then(|status| status.nstgid?.last().copied());
    own.and_then(|own| u32::try_from(own).ok()).unwrap_or(pid)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_cut_as_the_kernel_cuts_it() {
        assert_eq!(&kernel_name("nginx")[..6], b"nginx\0");
        assert_eq!(&kernel_name("a-name-that-is-too-long"), b"a-name-that-is-\0");
    }

    #[test]
    fn a_process_is_found_by_its_number_and_a_number_without_one_is_refused() {
        assert_eq!(resolve(std::process::id()).expect("ours"), std::process::id());
        assert!(resolve(u32::MAX / 2).expect_err("none").to_string().contains("there is no process"));
        assert_eq!(inner(1), 1);
    }
}
