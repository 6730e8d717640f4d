//! The server of a run: started by us or there already, until it is known to listen.

use std::{
    io,
    net::SocketAddr,
    process::{Command, ExitStatus, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, anyhow};

use super::{
    lookout::{Lookout, holders_of_named_ports},
    outcome::{Interrupted, describe},
    spec::label_of,
};
use crate::{
    advice::Advise as _,
    events::{Event, Events},
    kernel::netns::Netns,
    process::{
        capture::Capture,
        family::{argv_of, command_of, family_of, is_asleep},
        identity::User,
        launch::{Launched, Start, find_program, launch, not_executed},
        orphans::{self, orphans},
        search,
    },
    say::say,
};

/// How often the kernel is asked whether the target listens.
const ASK_EVERY: Duration = Duration::from_millis(2);

/// After this a user is told what takes so long.
const SILENCE: Duration = Duration::from_secs(1);

/// How long a target may take to end by itself.
const PATIENCE: Duration = Duration::from_secs(3);

/// Processes that are traced as `server`.
pub(crate) struct Target {
    pub(crate) label: String,
    pub(crate) argv: Vec<String>,
    pub(crate) pids: Vec<u32>,
    /// `pids` as their own pid namespaces number them; empty when the numbers are the same.
    pub(crate) inner_pids: Vec<u32>,
    pub(crate) listeners: Vec<SocketAddr>,
    /// Only of a target that we started.
    started: Option<Started>,
    /// Further processes may join it at any time: its end is not the end of those that are there.
    open_ended: bool,
}

/// A target that we will not leave behind.
struct Started {
    launched: Launched,
    output: Capture,
    /// It ended well and left others to serve: they are ours now.
    in_background: bool,
    stopped: bool,
}

impl Started {
    /// The processes to trace.
    fn pids(&self) -> Vec<u32> {
        if self.in_background { orphans(&[self.launched.pid]) } else { vec![self.launched.pid] }
    }

    /// Ends it, and those of `pids` that are ours since it went to the background.
    fn stop(&mut self, pids: &[u32]) {
        if self.stopped {
            return;
        }
        self.stopped = true;
        if self.in_background {
            // Asked anew: the number of one that has ended may be someone else's by now.
            let ours: Vec<u32> = self.pids().into_iter().filter(|pid| pids.contains(pid)).collect();
            orphans::end(&ours, PATIENCE);
        }
        self.launched.stop(PATIENCE);
    }
}

impl Target {
    /// Starts a command line and waits until it, or a child of it, listens.
    ///
    /// # Errors
    /// When it cannot be started, ends, or does not listen in time: it is stopped then.
    pub(crate) fn start(argv: &[String], user: Option<&User>, timeout: Duration, events: &Events) -> Result<Self> {
        let label = label_of(argv);
        let program = argv.first().and_then(|name| find_program(name));
        let program = program
            .ok_or_else(|| anyhow!("target `{}` is neither beside `analyzer` nor on PATH", argv.join(" ")))
            .hint("give its path, as in --target ./server")?;
        let lookout = Lookout::begin()?;
        let (reader, writer) = io::pipe().context("failed to make a pipe")?;
        let mut command = Command::new(&program);
        command.args(&argv[1..]).stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer);
        if let Some(user) = user {
            user.apply(&mut command);
        }
        let to_queue = events.sender.clone();
        let for_user = user.cloned();
        let launched = launch(command, Start::Detached, move |status| {
            let status = status.map_err(|error| not_executed(&program, for_user.as_ref(), &error));
            let _ = to_queue.send(Event::TargetEnded(status));
        });
        let output = Capture::of(reader);
        let Ok(launched) = launched else {
            return Err(not_started(events, &label));
        };
        let mut target = Self {
            label,
            argv: argv.to_vec(),
            pids: vec![launched.pid],
            inner_pids: Vec::new(),
            listeners: Vec::new(),
            started: Some(Started { launched, output, in_background: false, stopped: false }),
            open_ended: false,
        };
        target.await_listening(&lookout, timeout, events)?;
        Ok(target)
    }

    /// Takes processes that run already.
    ///
    /// # Errors
    /// When one of them does not exist.
    pub(crate) fn attach(pids: &[u32], events: &Events, netns: &Netns) -> Result<Self> {
        let first = pids.first().copied().unwrap_or_default();
        let label = command_of(first).unwrap_or_else(|| format!("pid{first}"));
        let target = Self::of_running(label, pids, netns)?;
        target.follow(events)?;
        Ok(target)
    }

    /// Takes processes that are told by their name or control group; others may join them.
    ///
    /// # Errors
    /// When the kernel does not list their listeners.
    pub(crate) fn matching(label: String, pids: &[u32], netns: &Netns) -> Result<Self> {
        let mut target = Self::of_running(label, pids, netns)?;
        target.open_ended = true;
        Ok(target)
    }

    fn of_running(label: String, pids: &[u32], netns: &Netns) -> Result<Self> {
        let mut target = Self {
            label,
            argv: pids.first().map(|&pid| argv_of(pid)).unwrap_or_default(),
            pids: pids.to_vec(),
            inner_pids: Vec::new(),
            listeners: Vec::new(),
            started: None,
            open_ended: false,
        };
        let inner: Vec<u32> = pids.iter().map(|&pid| search::inner(pid)).collect();
        if inner != pids {
            target.inner_pids = inner;
        }
        let family = target.family();
        target.listeners = netns.within(|| Lookout::begin()?.all_of(&family))?;
        Ok(target)
    }

    /// The processes and their descendants that exist now.
    pub(crate) fn family(&self) -> Vec<u32> {
        let mut family: Vec<u32> = self.pids.iter().flat_map(|&pid| family_of(pid)).collect();
        family.sort_unstable();
        family.dedup();
        family
    }

    /// What it printed, if we started it.
    pub(crate) fn output(&self) -> String {
        self.started.as_ref().map(|started| started.output.text()).unwrap_or_default()
    }

    /// Stops what we started; leaves alone what we did not.
    pub(crate) fn stop(&mut self) {
        if let Some(started) = &mut self.started {
            started.stop(&self.pids);
        }
    }

    /// What became of a target that ended before it listened: gone to the background, or gone.
    ///
    /// # Errors
    /// When nothing is left of it.
    fn ended(&mut self, status: Result<ExitStatus, String>) -> Result<()> {
        if let Some(started) = self.started.as_mut().filter(|_| status.as_ref().is_ok_and(ExitStatus::success)) {
            started.in_background = true;
            self.pids = started.pids();
            if !self.pids.is_empty() {
                return Ok(());
            }
        }
        Err(self.ended_early(status))
    }

    fn await_listening(&mut self, lookout: &Lookout, timeout: Duration, events: &Events) -> Result<()> {
        let deadline = Instant::now() + timeout;
        let patient_until = Instant::now() + SILENCE;
        let mut said = false;
        let mut before = (Vec::new(), false);
        loop {
            match events.receiver.recv_timeout(ASK_EVERY) {
                Ok(Event::TargetEnded(status)) => self.ended(status)?,
                Ok(Event::Interrupted(signal)) => return Err(Interrupted(signal).into()),
                _ => {}
            }
            if let Some(started) = self.started.as_ref().filter(|started| started.in_background) {
                self.pids = started.pids();
            }
            // The same twice: a server with several listeners may still be opening them. And at rest: one that listens and
            // works on may be about to go to the background, where others serve. Some servers never rest.
            let at_rest = self.pids.iter().all(|&pid| is_asleep(pid)) || Instant::now() > patient_until;
            let now = (lookout.new_of(&self.family())?, at_rest);
            if !now.0.is_empty() && at_rest && now == before {
                self.listeners = now.0;
                return self.follow(events);
            }
            before = now;
            if !said && Instant::now() > patient_until {
                say(format_args!("waiting until `{}` listens, {timeout:?} at most", self.label));
                said = true;
            }
            if Instant::now() > deadline {
                let error = format!("target `{}` runs but does not listen on TCP after {timeout:?}", self.label);
                return Err(with_output(error, &self.output())).hint(
                    "give it longer with --ready-timeout 60s, or trace it without waiting: analyzer trace -p PID",
                );
            }
        }
    }

    /// Processes that are not our children by birth: each reports its end as [`Event::AttachedEnded`].
    pub(crate) fn followed(&self) -> &[u32] {
        let ours_by_birth = self.started.as_ref().is_some_and(|started| !started.in_background);
        if ours_by_birth || self.open_ended { &[] } else { &self.pids }
    }

    fn follow(&self, events: &Events) -> Result<()> {
        for &pid in self.followed() {
            events
                .follow(pid)
                .with_context(|| format!("failed to find process {pid}"))
                .hint("`ps -e` lists the processes; a thread's id is not enough")?;
        }
        Ok(())
    }

    fn ended_early(&self, status: Result<ExitStatus, String>) -> anyhow::Error {
        let how = match status {
            Ok(status) => format!("target `{}` ended before it listened ({})", self.label, describe(status)),
            Err(error) => error,
        };
        // The reader thread may be a moment behind the end of the process.
        std::thread::sleep(Duration::from_millis(20));
        let output = self.output();
        let holders = holders_of_named_ports(&self.argv, &output);
        let error = with_output(how, &output);
        if holders.is_empty() { error } else { crate::advice::advised(error, holders.join("; ")) }
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        self.stop();
    }
}

/// The error with what the target had to say itself.
fn with_output(error: String, output: &str) -> anyhow::Error {
    if output.is_empty() { anyhow!(error) } else { anyhow!("{error}; it said:\n{}", indented(output)) }
}

fn indented(text: &str) -> String {
    const LINES: usize = 20;
    let lines: Vec<&str> = text.lines().collect();
    let from = lines.len().saturating_sub(LINES);
    lines[from..].iter().map(|line| format!("    {line}")).collect::<Vec<_>>().join("\n")
}

fn not_started(events: &Events, label: &str) -> anyhow::Error {
    match events.receiver.recv_timeout(Duration::from_secs(1)) {
        Ok(Event::TargetEnded(Err(error))) => anyhow!(error),
        _ => anyhow!("failed to start target `{label}`"),
    }
}
