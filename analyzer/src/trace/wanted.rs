//! The target as it is found on this machine: which processes, and how further ones are told.

use anyhow::Result;

use super::spec::TargetSpec;
use crate::{
    bpf::syscalls::Match,
    kernel::netns::Netns,
    process::search::{self, Cgroup},
};

/// A target before anything is attached or started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// The workload alone.
    Nothing,
    /// A command line to start.
    Start(Vec<String>),
    /// Processes that run, by their numbers here.
    Running(Vec<u32>),
    /// Processes that run, perhaps none, and those that will be told by `matching`.
    Matching {
        /// How they are called.
        label: String,
        /// Those that exist.
        pids: Vec<u32>,
        /// How the kernel tells the others.
        matching: Match,
    },
}

impl Wanted {
    /// Looks for running processes.
    ///
    /// # Errors
    /// When a number or a control group means nothing here.
    pub(crate) fn find(spec: &TargetSpec) -> Result<Self> {
        Ok(match spec {
            TargetSpec::None => Self::Nothing,
            TargetSpec::Start(argv) => Self::Start(argv.clone()),
            TargetSpec::Attach(pids) => {
                Self::Running(pids.iter().map(|&pid| search::resolve(pid)).collect::<Result<_>>()?)
            }
            TargetSpec::Command(name) => Self::Matching {
                label: name.clone(),
                pids: search::named(name),
                matching: Match::Command(search::kernel_name(name)),
            },
            TargetSpec::Cgroup(path) => {
                let group = Cgroup::find(path)?;
                let label = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
                let matching = Match::Cgroup { id: group.id, level: group.level };
                Self::Matching { label, pids: group.processes(), matching }
            }
        })
    }

    /// How further processes are told.
    pub(crate) fn matching(&self) -> Match {
        match self {
            Self::Matching { matching, .. } => matching.clone(),
            _ => Match::Nothing,
        }
    }

    /// One of the processes that run already; of those that were only found, one that may be looked into.
    pub(crate) fn first(&self) -> Option<u32> {
        match self {
            Self::Running(pids) => pids.first().copied(),
            Self::Matching { pids, .. } => pids.iter().copied().find(|&pid| Netns::of(Some(pid)).is_ok()),
            Self::Nothing | Self::Start(_) => None,
        }
    }
}
