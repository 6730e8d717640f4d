//! Who owns the files that we write, and as whom target and workload run.

use std::{
    env,
    os::unix::{fs::chown, process::CommandExt as _},
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, Result, anyhow};
use uzers::os::unix::UserExt as _;

use crate::advice::Advise as _;

/// A user to run a program as.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct User {
    name: String,
    uid: u32,
    gid: u32,
    home: PathBuf,
}

impl User {
    /// Looks a user up by name.
    ///
    /// # Errors
    /// When there is none of that name.
    pub(crate) fn named(name: &str) -> Result<Self> {
        let user = uzers::get_user_by_name(name)
            .ok_or_else(|| anyhow!("unknown user `{name}`"))
            .hint("`getent passwd` lists the users")?;
        Ok(Self {
            name: name.to_owned(),
            uid: user.uid(),
            gid: user.primary_group_id(),
            home: user.home_dir().to_owned(),
        })
    }

    /// Login name.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Makes `command` run as this user, without supplementary groups.
    pub(crate) fn apply(&self, command: &mut Command) {
        command.uid(self.uid).gid(self.gid);
        command.env("HOME", &self.home).env("USER", &self.name).env("LOGNAME", &self.name);
    }
}

/// The person behind sudo.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Caller {
    uid: u32,
    gid: u32,
}

impl Caller {
    /// Who called sudo; `None` when we were not started by it.
    pub(crate) fn behind_sudo() -> Option<Self> {
        let number = |name| env::var(name).ok()?.parse().ok();
        rustix::process::geteuid().is_root().then_some(())?;
        Some(Self { uid: number("SUDO_UID")?, gid: number("SUDO_GID")? })
    }

    /// Hands a file or folder that we made to the caller.
    ///
    /// # Errors
    /// When the file system refuses.
    pub(crate) fn own(self, path: &Path) -> Result<()> {
        chown(path, Some(self.uid), Some(self.gid))
            .with_context(|| format!("failed to give `{}` to the user behind sudo", path.display()))
    }
}
