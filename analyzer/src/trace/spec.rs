//! What a run was asked to do, checked. Touches nothing but the user database.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::{Result, anyhow};

use super::print::Output;
use crate::{
    advice::{advised, wrong_usage},
    bpf::syscalls::{Match, ProbeOptions},
    cli::{By, Format, TraceArgs},
    kernel::calls::Selection,
    process::identity::User,
};

/// The processes whose calls go into the group `server`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TargetSpec {
    /// No server: the workload alone.
    None,
    /// A command line to start.
    Start(Vec<String>),
    /// Processes that run already.
    Attach(Vec<u32>),
    /// Processes of this name, now and later.
    Command(String),
    /// Processes in this control group, now and later.
    Cgroup(PathBuf),
}

/// Longest label of a run's folder: with its time it has to be a file name.
const LABEL_CHARS: usize = 100;

/// A run, as asked for.
#[derive(Clone, Debug)]
pub(crate) struct TraceSpec {
    pub(crate) target: TargetSpec,
    pub(crate) workload: Vec<String>,
    pub(crate) duration: Option<Duration>,
    pub(crate) selection: Selection,
    pub(crate) user: Option<User>,
    pub(crate) ready_timeout: Duration,
    pub(crate) count_only: bool,
    pub(crate) on_cpu: bool,
    pub(crate) by: Option<By>,
    pub(crate) show: Output,
    /// Length of an interval of the series; chosen by the run's length when `None`.
    pub(crate) interval: Option<Duration>,
    /// Follow TCP connections.
    pub(crate) tcp: bool,
    /// File for a line about each connection.
    pub(crate) connections: Option<PathBuf>,
}

impl TraceSpec {
    /// Checks the arguments.
    ///
    /// # Errors
    /// For what cannot be meant, with exit status 2.
    pub(crate) fn new(args: &TraceArgs) -> Result<Self> {
        let target = match &args.target {
            Some(line) => TargetSpec::Start(split(line)?),
            None => running(args)?,
        };
        if target == TargetSpec::None && args.workload.is_empty() {
            let error = wrong_usage(anyhow!(
                "nothing to trace: neither a target (--target, -p, --comm, --cgroup) nor a workload"
            ));
            return Err(advised(error, "sudo analyzer trace --target echo-epoll-lt -- bench --mode short"));
        }
        let selection = Selection::parse(&args.calls).map_err(|unknown| {
            let hint = unknown.hint();
            advised(wrong_usage(unknown.into()), hint)
        })?;
        let user = args.user.as_deref().map(User::named).transpose()?;
        Ok(Self {
            target,
            workload: args.workload.clone(),
            duration: args.duration,
            selection,
            user,
            ready_timeout: args.ready_timeout,
            count_only: args.count_only,
            on_cpu: !args.no_on_cpu,
            by: args.by,
            show: show(args),
            interval: args.interval,
            tcp: !args.no_tcp,
            connections: args.connections.clone(),
        })
    }

    /// What the system-call probes are to do.
    pub(crate) fn probe_options(&self, matching: Match) -> ProbeOptions {
        ProbeOptions {
            selection: self.selection.clone(),
            count_only: self.count_only,
            on_cpu: self.on_cpu,
            split: self.by.is_some(),
            matching,
        }
    }

    /// Name of the run's folder after its time: target and mode, or workload.
    ///
    /// `name_of` names a process that runs already.
    pub(crate) fn folder_label(&self, name_of: impl Fn(u32) -> Option<String>) -> String {
        let target = match &self.target {
            TargetSpec::None => None,
            TargetSpec::Start(argv) => Some(label_of(argv)),
            TargetSpec::Command(name) => Some(name.clone()),
            TargetSpec::Cgroup(path) => path.file_name().map(|name| name.to_string_lossy().into_owned()),
            TargetSpec::Attach(pids) => pids.first().map(|&pid| name_of(pid).unwrap_or_else(|| format!("pid{pid}"))),
        };
        let workload = self.mode().or_else(|| (!self.workload.is_empty()).then(|| label_of(&self.workload)));
        let parts = target.into_iter().chain(workload).collect::<Vec<_>>();
        let label = parts.join("-");
        let clipped = label.chars().take(LABEL_CHARS);
        clipped.map(|c| if c.is_alphanumeric() || "._-".contains(c) { c } else { '_' }).collect()
    }

    /// Mode of our own load generator.
    fn mode(&self) -> Option<String> {
        (label_of(&self.workload) == "bench").then_some(())?;
        let mut words = self.workload.iter();
        while let Some(word) = words.next() {
            if word == "--mode" {
                return words.next().cloned();
            }
            if let Some(mode) = word.strip_prefix("--mode=") {
                return Some(mode.to_owned());
            }
            if word.starts_with("--requests-per-connection") {
                return Some("reconnect".to_owned());
            }
        }
        Some("short".to_owned())
    }
}

/// Short name of a command line: the program's file name.
pub(crate) fn label_of(argv: &[String]) -> String {
    let program = argv.first().map(Path::new).and_then(Path::file_name);
    program.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// What is printed at the end.
fn show(args: &TraceArgs) -> Output {
    match args.format {
        _ if args.quiet => Output::Path,
        Format::Json => Output::Json,
        Format::Strace => Output::Strace,
        Format::Table => Output::Table(args.view.view()),
    }
}

/// Which running processes are meant.
fn running(args: &TraceArgs) -> Result<TargetSpec> {
    if let Some(name) = &args.comm {
        if name.is_empty() {
            return Err(advised(wrong_usage(anyhow!("--comm is empty")), "`ps -e -o comm` lists the names"));
        }
        return Ok(TargetSpec::Command(name.clone()));
    }
    if let Some(path) = &args.cgroup {
        return Ok(TargetSpec::Cgroup(path.clone()));
    }
    if args.pid.is_empty() { Ok(TargetSpec::None) } else { Ok(TargetSpec::Attach(pids(&args.pid)?)) }
}

/// Process ids as people have them: separated by commas, by spaces (`pidof`), or given one by one.
fn pids(words: &[String]) -> Result<Vec<u32>> {
    let separate = |word: &str| word.split([',', ' ', '\n']).map(str::to_owned).collect::<Vec<_>>();
    let words = words.iter().flat_map(|word| separate(word)).filter(|word| !word.is_empty());
    let pids: Vec<u32> = words
        .map(|word| word.parse().map_err(|_| wrong_usage(anyhow!("-p: `{word}` is not a process id"))))
        .collect::<Result<_>>()?;
    if pids.is_empty() {
        return Err(advised(wrong_usage(anyhow!("-p: no process id")), "does the program run? `pidof nginx` says"));
    }
    Ok(pids)
}

fn split(line: &str) -> Result<Vec<String>> {
    let words = shell_words::split(line)
        .map_err(|error| wrong_usage(anyhow!("--target `{line}`: {error}")))
        .map_err(|error| advised(error, "quote it as for a shell: --target 'python3 -m http.server 8000'"))?;
    if words.is_empty() {
        return Err(wrong_usage(anyhow!("--target is empty")));
    }
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::{Cli, Command};
    use clap::Parser as _;

    fn spec(line: &str) -> Result<TraceSpec> {
        let words = shell_words::split(line).expect("valid test");
        let Command::Trace(args) = Cli::parse_from(words).command else { panic!("not trace") };
        TraceSpec::new(&args)
    }

    #[test]
    fn a_folder_is_named_after_target_and_mode() {
        let label = |line| spec(line).expect("valid").folder_label(|pid| (pid == 12).then(|| "nginx".to_owned()));
        assert_eq!(label("analyzer trace --target echo-epoll-lt -- bench --mode long"), "echo-epoll-lt-long");
        assert_eq!(label("analyzer trace --target '/x/y/srv -p 1' -- bench"), "srv-short");
        assert_eq!(label("analyzer trace --target a -- bench --requests-per-connection 10"), "a-reconnect");
        assert_eq!(label("analyzer trace --target a -- /usr/bin/ab -n 1"), "a-ab");
        assert_eq!(label("analyzer trace -p 12 13"), "nginx");
        assert_eq!(label("analyzer trace -p 14"), "pid14");
        assert_eq!(label("analyzer trace -- './we ird/na;me'"), "na_me");
    }

    #[test]
    fn a_quoted_target_is_split_as_a_shell_would() {
        let spec = spec("analyzer trace --target \"srv --name 'a b'\" -d 1s").expect("valid");
        assert_eq!(spec.target, TargetSpec::Start(vec!["srv".into(), "--name".into(), "a b".into()]));
    }

    #[test]
    fn process_ids_come_as_pidof_or_people_write_them() {
        for line in ["-p 12,13", "-p 12 13", "-p '12 13\n'", "-p 12 -p 13"] {
            let spec = spec(&format!("analyzer trace {line}")).expect(line);
            assert_eq!(spec.target, TargetSpec::Attach(vec![12, 13]), "{line}");
        }
    }

    #[test]
    fn what_cannot_be_meant_is_wrong_usage() {
        for line in [
            "analyzer trace",
            "analyzer trace --target ''",
            "analyzer trace --target \"a 'b\"",
            "analyzer trace -e conect -- true",
            "analyzer trace -p ''",
            "analyzer trace -p 12,x",
        ] {
            let error = spec(line).expect_err(line);
            assert!(crate::advice::is_wrong_usage(&error), "{line}: {error:#}");
        }
    }
}
