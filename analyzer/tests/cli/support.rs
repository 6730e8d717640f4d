//! Running the analyzer and reading what it recorded.

use std::{
    env,
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use reports::{
    recording::{Group, Recording},
    store,
};
use tempfile::TempDir;

pub(crate) const ANALYZER: &str = env!("CARGO_BIN_EXE_analyzer");

/// The program that makes exactly so many calls.
pub(crate) fn fixture() -> PathBuf {
    built("examples/fixture")
}

/// A program of the workspace, built beside the analyzer.
pub(crate) fn built(name: &str) -> PathBuf {
    let path = Path::new(ANALYZER).parent().unwrap().join(name);
    assert!(path.exists(), "`{}` is missing; build the whole workspace: cargo test --workspace", path.display());
    path
}

/// Whether a test that needs root may run. Says so when it may not; with REQUIRE_ROOT_TESTS set that is a failure.
pub(crate) fn can_trace(test: &str) -> bool {
    if rustix::process::geteuid().is_root() {
        return true;
    }
    assert!(env::var_os("REQUIRE_ROOT_TESTS").is_none(), "{test} needs root");
    // Past the test harness, which hides what passing tests print.
    let _ = writeln!(std::io::stderr(), "SKIPPED {test}: needs root (sudo -E cargo test)");
    false
}

/// Leaves a test that cannot trace here.
macro_rules! needs_root {
    () => {
        if !crate::support::can_trace(module_path!()) {
            return;
        }
    };
}
pub(crate) use needs_root;

/// One call of `analyzer trace` and where it writes.
pub(crate) struct Run {
    pub(crate) output: Output,
    results: TempDir,
}

/// A command line for the analyzer with a results folder of its own, in a new network namespace.
pub(crate) fn isolated(args: &[&str]) -> (Command, TempDir) {
    let results = tempfile::tempdir().unwrap();
    let mut command = Command::new("unshare");
    command.args(["--net", "--", "sh", "-c", "ip link set lo up && exec \"$@\"", "sh", ANALYZER, "trace", "-o"]);
    command.arg(results.path().join("results")).args(args);
    command.env_remove("SUDO_UID").env_remove("SUDO_GID");
    (command, results)
}

/// Runs `analyzer trace` to its end.
pub(crate) fn trace(args: &[&str]) -> Run {
    let (mut command, results) = isolated(args);
    Run { output: command.output().unwrap(), results }
}

impl Run {
    /// What an already ended command left.
    pub(crate) fn of(output: Output, results: TempDir) -> Self {
        Self { output, results }
    }

    pub(crate) fn status(&self) -> Option<i32> {
        self.output.status.code()
    }

    pub(crate) fn stderr(&self) -> String {
        String::from_utf8_lossy(&self.output.stderr).into_owned()
    }

    pub(crate) fn stdout(&self) -> String {
        String::from_utf8_lossy(&self.output.stdout).into_owned()
    }

    /// Whether anything at all is left in or of the results folder.
    pub(crate) fn left_anything(&self) -> bool {
        self.results.path().read_dir().unwrap().next().is_some()
    }

    /// The only recording of the run.
    pub(crate) fn recording(&self) -> Recording {
        let found = store::find(self.results.path(), &mut Vec::new());
        assert_eq!(found.len(), 1, "{found:?}\n{}", self.stderr());
        store::read(&found[0]).unwrap()
    }
}

/// Calls that returned, of one system call in one group.
pub(crate) fn calls(group: &Group, name: &str) -> u64 {
    group.syscall(name).map_or(0, |row| row.calls)
}

/// The group `client`, which must have lost nothing.
pub(crate) fn lossless_client(recording: &Recording) -> &Group {
    let client = recording.group("client").unwrap();
    assert_eq!(client.loss.total(), 0, "{:?}", client.loss);
    client
}
