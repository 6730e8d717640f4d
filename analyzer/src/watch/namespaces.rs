//! Which network namespaces are watched: named ones, or all that there are.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    str::FromStr,
};

use anyhow::{Context as _, Result};

use crate::{advice::Advise as _, kernel::netns::Netns};

/// Where `ip netns add` keeps namespaces that need no process.
const NAMED: &str = "/run/netns";

/// As typed after `--netns`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// Of a process.
    Pid(u32),
    /// A file that stands for it.
    File(PathBuf),
    /// Each that a process lives in or that has a name.
    All,
}

impl FromStr for Wanted {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "" => Err("nothing (a process id, a file, or `all`)".to_owned()),
            "all" => Ok(Self::All),
            _ if text.bytes().all(|byte| byte.is_ascii_digit()) => {
                text.parse().map(Self::Pid).map_err(|_| format!("`{text}` is no process id"))
            }
            // As `ip netns exec` takes it.
            _ if !text.contains('/') && Path::new(NAMED).join(text).exists() => {
                Ok(Self::File(Path::new(NAMED).join(text)))
            }
            _ => Ok(Self::File(PathBuf::from(text))),
        }
    }
}

/// A namespace and how it is called; no name for our own.
pub(crate) struct Named {
    pub(crate) netns: Netns,
    pub(crate) name: Option<String>,
}

/// Opens those that are wanted, each once; our own when none is named. `known` are not opened again.
///
/// # Errors
/// When one that was named cannot be opened; with `all`, those that may not be looked into are left out.
pub(crate) fn open(wanted: &[Wanted], known: &[u64]) -> Result<Vec<Named>> {
    let mut found: BTreeMap<u64, Named> = BTreeMap::new();
    let mut add = |named: Named| {
        if !known.contains(&named.netns.inode) {
            found.entry(named.netns.inode).or_insert(named);
        }
    };
    if wanted.is_empty() || wanted.contains(&Wanted::All) {
        add(Named { netns: Netns::of(None)?, name: None });
    }
    for one in wanted {
        match one {
            Wanted::Pid(pid) => add(Named { netns: Netns::of(Some(*pid))?, name: Some(format!("pid {pid}")) }),
            Wanted::File(path) => {
                let netns = Netns::at(path).hint("a process id, a file such as /run/netns/NAME, or `all`")?;
                let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
                add(Named { netns, name: Some(name) });
            }
            Wanted::All => every().into_values().for_each(|(path, name)| {
                // It may have ended meanwhile.
                if let Ok(netns) = Netns::at(&path) {
                    add(Named { netns, name: Some(name) });
                }
            }),
        }
    }
    Ok(found.into_values().collect())
}

/// Inodes of all namespaces that exist now, as far as we may see them.
pub(crate) fn existing() -> Vec<u64> {
    every().into_keys().collect()
}

/// A file and a name for each namespace that has a name or a process.
fn every() -> BTreeMap<u64, (PathBuf, String)> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(NAMED).into_iter().flatten().flatten() {
        if let Some(inode) = inode_of_file(&entry.path()) {
            found.insert(inode, (entry.path(), entry.file_name().to_string_lossy().into_owned()));
        }
    }
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else { continue };
        let path = entry.path().join("ns/net");
        // Reading the link is cheaper than opening the namespace, and most processes share one.
        let Ok(link) = fs::read_link(&path) else { continue };
        if let Some(inode) = inode_of_link(&link.to_string_lossy()) {
            found.entry(inode).or_insert_with(|| (path, format!("pid {pid}")));
        }
    }
    found
}

fn inode_of_file(path: &Path) -> Option<u64> {
    use std::os::linux::fs::MetadataExt as _;
    fs::metadata(path).context("gone").ok().map(|metadata| metadata.st_ino())
}

/// `net:[4026531840]`.
fn inode_of_link(link: &str) -> Option<u64> {
    link.strip_prefix("net:[")?.strip_suffix(']')?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_namespace_is_named_by_process_by_file_or_all_at_once() {
        assert_eq!("12".parse(), Ok(Wanted::Pid(12)));
        assert_eq!("all".parse(), Ok(Wanted::All));
        assert_eq!("/run/netns/blue".parse(), Ok(Wanted::File("/run/netns/blue".into())));
        assert!("".parse::<Wanted>().is_err());
        assert!("99999999999".parse::<Wanted>().is_err());
    }

    #[test]
    fn our_own_namespace_is_among_all_and_opened_once() {
        let own = Netns::of(None).expect("procfs").inode;
        assert!(existing().contains(&own));
        let found = open(&[Wanted::All, Wanted::Pid(std::process::id())], &[]).expect("opened");
        assert_eq!(found.iter().filter(|named| named.netns.inode == own).count(), 1);
        assert!(!open(&[Wanted::All], &[own]).expect("opened").iter().any(|named| named.netns.inode == own));
    }

    #[test]
    fn a_link_names_the_inode() {
        assert_eq!(inode_of_link("net:[4026531840]"), Some(4_026_531_840));
        assert_eq!(inode_of_link("mnt:[1]"), None);
    }
}
