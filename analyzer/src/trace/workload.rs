//! The command that makes the load: held until the probes are attached, and asked for its result afterwards.

use std::{
    fs::File,
    io::{self, Read as _, Seek as _},
    os::fd::{AsFd as _, AsRawFd as _},
    path::PathBuf,
    process::Command,
};

use anyhow::{Context as _, Result, anyhow};
use reports::bench::BenchResult;
use rustix::fs::{MemfdFlags, memfd_create};

use super::spec::TraceSpec;
use crate::{
    events::{Event, Events},
    process::launch::{Launched, Start, find_program, launch},
    say::say,
};

/// Where our load generator leaves its result: a variable in the workload's environment.
const RESULT_VARIABLE: &str = "BENCH_RESULT_FILE";

/// What the results of a run may take: a result is some 10 KB.
const MOST_BYTES: u64 = 64 << 20;

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
    pub(crate) fn hold(program: PathBuf, spec: &TraceSpec, events: &Events) -> Result<Self> {
        let argv = spec.workload.as_slice();
        // Inherited, so that it is there under any user and leaves no file behind.
        let result = File::from(memfd_create("bench-result", MemfdFlags::empty()).context("failed to make a memfd")?);
        let mut command = Command::new(program);
        command.args(&argv[1..]).env(RESULT_VARIABLE, format!("/proc/self/fd/{}", result.as_raw_fd()));
        if spec.show.is_for_programs() {
            let stderr = io::stderr().as_fd().try_clone_to_owned().context("failed to duplicate stderr")?;
            command.stdout(stderr);
        }
        if let Some(user) = &spec.user {
            user.apply(&mut command);
        }
        let to_queue = events.sender.clone();
        let process = launch(command, Start::Held, move |status| drop(to_queue.send(Event::WorkloadEnded(status))))
            .map_err(|error| anyhow!("failed to start workload `{}`: {error}", argv.join(" ")))?;
        Ok(Self { argv: argv.to_vec(), process, result })
    }

    /// Results that load generators of ours have left, in order.
    pub(crate) fn results(&mut self) -> Vec<BenchResult> {
        let mut bytes = Vec::new();
        if let Err(error) = self.result.rewind().and_then(|()| (&self.result).take(MOST_BYTES).read_to_end(&mut bytes))
        {
            say(format_args!("no load generator's result could be read: {error}"));
        }
        let lines = bytes.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
        let (good, bad): (Vec<_>, Vec<_>) = lines.map(serde_json::from_slice).partition(Result::is_ok);
        if let Some(Err(error)) = bad.first() {
            say(format_args!("{} lines of load generators' results are unreadable, such as: {error}", bad.len()));
        }
        good.into_iter().flatten().collect()
    }
}
