//! The command that makes the load: held until the probes are attached, and asked for its result afterwards.

use std::{
    fs::File,
    io::{Read as _, Seek as _},
    os::fd::AsRawFd as _,
    path::PathBuf,
    process::Command,
};

use anyhow::{Context as _, Result, anyhow};
use reports::bench::BenchResult;
use rustix::fs::{MemfdFlags, memfd_create};

use crate::events::{Event, Events};
use crate::process::{
    identity::User,
    launch::{Launched, Start, find_program, launch},
};

/// Where our load generator leaves its result: a variable in the workload's environment.
const RESULT_VARIABLE: &str = "BENCH_RESULT_FILE";

/// A workload that waits for its release.
pub(crate) struct Workload {
    pub(crate) argv: Vec<String>,
    pub(crate) process: Launched,
    result: File,
}

/// Finds the workload's program.
pub(crate) fn find(argv: &[String]) -> Option<PathBuf> {
    argv.first().and_then(|name| find_program(name)).filter(|path| path.exists())
}

impl Workload {
    /// Starts it, held before its exec.
    ///
    /// # Errors
    /// When the process cannot be made.
    pub(crate) fn hold(program: PathBuf, argv: &[String], user: Option<&User>, events: &Events) -> Result<Self> {
        // Inherited, so that it is there under any user and leaves no file behind.
        let result = File::from(memfd_create("bench-result", MemfdFlags::empty()).context("failed to make a memfd")?);
        let mut command = Command::new(program);
        command.args(&argv[1..]).env(RESULT_VARIABLE, format!("/proc/self/fd/{}", result.as_raw_fd()));
        if let Some(user) = user {
            user.apply(&mut command);
        }
        let to_queue = events.sender.clone();
        let process = launch(command, Start::Held, move |status| drop(to_queue.send(Event::WorkloadEnded(status))))
            .map_err(|error| anyhow!("failed to start workload `{}`: {error}", argv.join(" ")))?;
        Ok(Self { argv: argv.to_vec(), process, result })
    }

    /// Results that load generators of ours have left, in order.
    pub(crate) fn results(&mut self) -> Vec<BenchResult> {
        let mut text = String::new();
        if self.result.rewind().and_then(|()| self.result.read_to_string(&mut text)).is_err() {
            return Vec::new();
        }
        let parse = |line: &str| {
            serde_json::from_str(line)
                .inspect_err(|error| log::warn!("a load generator's result is unreadable: {error}"))
        };
        text.lines().filter_map(|line| parse(line).ok()).collect()
    }
}
