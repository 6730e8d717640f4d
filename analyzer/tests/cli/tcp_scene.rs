//! Runs in a network namespace with settings of their own, beside what the kernel itself has counted there.

use std::{path::Path, process::Command};

use reports::recording::{Connects, ListenerQueue, Outcome, Tcp};
use serde_json::Value;

use crate::support::{ANALYZER, Run, built};

/// A run, and the kernel's counters in its namespace afterwards: those of the run alone, since it was new.
pub(crate) struct Scene {
    pub(crate) run: Run,
    pub(crate) tcp: Tcp,
    /// Lines of `--connections`.
    pub(crate) lines: Vec<Value>,
    counters: String,
}

/// Traces in a new namespace after `setup`, a piece of shell. `target` and `load` are command lines that begin with the
/// name of a fixture program; without a target there is only the load.
pub(crate) fn scene(setup: &str, target: &str, load: &str) -> Scene {
    let target = command_line(target);
    let load = command_line(load);
    let mut args = if target.is_empty() { Vec::new() } else { vec!["--target", &target] };
    args.push("--");
    args.extend(load.split(' '));
    scene_of(setup, &args)
}

/// The same with all of the analyzer's arguments.
pub(crate) fn scene_of(setup: &str, args: &[&str]) -> Scene {
    let folder = tempfile::tempdir().unwrap();
    let (lines, counters) = (folder.path().join("connections"), folder.path().join("counters"));
    let script = format!(
        "ip link set lo up || exit 99\n{setup}\n\"$@\"; status=$?\ncat /proc/net/snmp /proc/net/netstat > {}; exit $status",
        counters.display()
    );
    let mut command = Command::new("unshare");
    command.args(["--net", "--", "sh", "-c", &script, "sh", ANALYZER, "trace", "-o"]);
    command.arg(folder.path().join("results")).arg("--connections").arg(&lines).args(args);
    command.env_remove("SUDO_UID").env_remove("SUDO_GID");
    let output = command.output().unwrap();
    let (lines, counters) = (read_lines(&lines), std::fs::read_to_string(&counters).unwrap_or_default());
    let run = Run::of(output, folder);
    assert_eq!(run.status(), Some(0), "{}", run.stderr());
    let tcp = run.recording().tcp.unwrap();
    Scene { run, tcp, lines, counters }
}

/// A command line whose first word names a fixture program.
pub(crate) fn command_line(words: &str) -> String {
    let Some((program, words)) = words.split_once(' ') else { return String::new() };
    format!("{} {words}", built(&format!("examples/{program}")).display())
}

/// Sets `net.ipv4` settings in the shell before the run.
pub(crate) fn ipv4(settings: &[(&str, &str)]) -> String {
    let set = |(name, value): &(&str, &str)| format!("echo '{value}' > /proc/sys/net/ipv4/{name} || exit 98\n");
    settings.iter().map(set).collect()
}

fn read_lines(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

impl Scene {
    /// A counter of the kernel's after the run, such as `TcpExt.TW`.
    pub(crate) fn kernel(&self, name: &str) -> u64 {
        kernel_counter(&self.counters, name)
    }

    pub(crate) fn listener(&self, port: u16) -> &ListenerQueue {
        let [only] = self.listeners(port)[..] else { panic!("{:?}", self.tcp.listeners) };
        only
    }

    pub(crate) fn listeners(&self, port: u16) -> Vec<&ListenerQueue> {
        let port = format!(":{port}");
        self.tcp.listeners.iter().filter(|row| row.address.ends_with(&port)).collect()
    }

    /// Attempts with an outcome, wherever to.
    pub(crate) fn attempts(&self, outcome: Outcome) -> u64 {
        let rows = self.tcp.connects.iter().filter(|row| row.outcome == outcome);
        rows.map(|row: &Connects| row.latency.count()).sum()
    }

    /// Every connection was followed, and from its birth.
    pub(crate) fn assert_all_followed(&self) {
        let tracked = self.tcp.tracked.unwrap();
        assert_eq!((tracked.let_go, tracked.lost, tracked.before_start), (0, 0, 0), "{tracked:?}");
        assert_eq!(tracked.from_birth, self.lines.len() as u64);
    }
}

/// One of the kernel's TCP counters, such as `TcpExt.ListenDrops`, in the text of `snmp` and `netstat`.
pub(crate) fn kernel_counter<N: std::str::FromStr<Err: std::fmt::Debug>>(text: &str, name: &str) -> N {
    let (section, name) = name.split_once('.').unwrap();
    let prefix = format!("{section}: ");
    let mut lines = text.lines().filter_map(|line| line.strip_prefix(&prefix));
    let (names, numbers) = (lines.next().unwrap(), lines.next().unwrap());
    let at = names.split_whitespace().position(|word| word == name).unwrap();
    numbers.split_whitespace().nth(at).unwrap().parse().unwrap()
}
