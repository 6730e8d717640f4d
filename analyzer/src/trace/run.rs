//! One run from beginning to end. What can fail does so before the server is started, where possible.

use anyhow::{Context as _, Result, anyhow};
use jiff::Timestamp;
use probes::syscalls::{CLIENT, SERVER};
use procfs::process::Process;
use reports::recording::Recording;

use super::{
    assemble::Parts,
    ending::{end_leftovers, end_workload},
    folder::RunFolder,
    outcome::{End, Interrupted, after_signal},
    print::{self, Output},
    session::{Instruments, Limits},
    spec::TraceSpec,
    target::Target,
    wanted::Wanted,
    workload::{self, Workload},
};
use crate::{
    advice::advised,
    bpf::{loading::KernelTypes, syscalls::SyscallProbes},
    cli::TraceArgs,
    events::Events,
    kernel::netns::Netns,
    process::{
        family::command_of,
        launch::{not_executed, set_signal_dispositions},
        orphans::keep_orphans,
    },
    say::{hint, say},
    tcp::{ConnectionLines, TcpTrace},
};

/// Exit status when tracing itself failed.
pub(crate) const FAILED: u8 = 125;

/// Runs `analyzer trace`; returns the exit status.
///
/// # Errors
/// When nothing could be traced, or the recording could not be written.
pub(crate) fn run(args: &TraceArgs) -> Result<u8> {
    let spec = TraceSpec::new(args)?;
    trace(&spec, args).or_else(|error| match error.downcast_ref() {
        Some(&Interrupted(signal)) => {
            say(error);
            Ok(after_signal(signal))
        }
        None => Err(error),
    })
}

fn trace(spec: &TraceSpec, args: &TraceArgs) -> Result<u8> {
    let workload_program = workload::find(&spec.workload);
    if workload_program.is_none() && !spec.workload.is_empty() {
        say(format_args!("workload `{}` is neither beside `analyzer` nor on PATH", spec.workload[0]));
        hint("give its path, as in -- ./client");
        return Ok(127);
    }
    check_privileges()?;
    let wanted = Wanted::find(&spec.target)?;
    let mut instruments = instruments(spec, &wanted)?;
    let started = Timestamp::now();
    let events = Events::listen()?;
    let mut folder = RunFolder::create(&args.output, started, &spec.folder_label(command_of))?;
    set_signal_dispositions();
    keep_orphans().context("failed to become the reaper of what we start")?;
    let mut target = match &wanted {
        Wanted::Nothing => None,
        Wanted::Start(command) => Some(Target::start(command, spec.user.as_ref(), spec.ready_timeout, &events)?),
        Wanted::Running(pids) => Some(Target::attach(pids, &events, &instruments.netns)?),
        Wanted::Matching { label, pids, .. } => Some(Target::matching(label.clone(), pids, &instruments.netns)?),
    };
    if spec.show != Output::Path {
        print::announce(target.as_ref());
    }
    let mut workload = workload_program.clone().map(|program| Workload::hold(program, spec, &events)).transpose()?;
    let held = workload.as_mut().map(|workload| &mut workload.process);
    let mut start = instruments.begin(target.as_ref(), held, spec.interval)?;
    let limits = Limits {
        duration: spec.duration,
        followed: target.as_ref().map_or(0, |target| target.followed().len()),
        has_workload: workload.is_some(),
    };
    let finish = instruments.until_end(&mut start, &events, limits)?;
    let tcp = instruments.tcp_since(&start)?;
    if let Some(workload) = &mut workload {
        end_workload(&mut workload.process, &finish.end);
        let target = target.as_ref().map(|target| target.pids.as_slice()).unwrap_or_default();
        end_leftovers(&[target, &[workload.process.pid]].concat(), &finish.end);
    }
    if let Some(target) = &mut target {
        target.stop();
    }
    let status = finish.end.status(workload.is_some());
    if let End::NotExecuted(error) = &finish.end {
        let program = workload_program.unwrap_or_default();
        say(not_executed(&program, spec.user.as_ref(), error));
        return Ok(status);
    }
    let bench = workload.as_mut().map(Workload::results).unwrap_or_default();
    let counts = |group| instruments.syscalls.read(group);
    let parts = Parts {
        spec,
        started,
        start,
        finish,
        server: target.as_ref().map(|target| counts(SERVER).map(|counts| (target, counts))).transpose()?,
        client: workload.as_ref().map(|workload| counts(CLIENT).map(|counts| (workload, counts))).transpose()?,
        tcp,
        bench,
    };
    let recording = parts.into_recording();
    // From here on a signal ends us as it does any program: whoever reads our output may be slow.
    drop(events);
    finish_with(&recording, &mut folder, &spec.show)?;
    Ok(status)
}

/// Writes first, since printing may wait for a reader; prints all the same when the disk is full.
fn finish_with(recording: &Recording, folder: &mut RunFolder, show: &Output) -> Result<()> {
    let written = folder.write(recording);
    let printed = print::recording(recording, show);
    let printed = printed.and(print::written(&written?, show));
    // A reader that has seen enough (`| head`) is no failure of the run.
    match printed {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(error).context("failed to print the result")
        }
        _ => Ok(()),
    }
}

/// Loads all programs; nothing is attached yet.
fn instruments(spec: &TraceSpec, wanted: &Wanted) -> Result<Instruments> {
    let types = KernelTypes::read()?;
    let syscalls = SyscallProbes::load(&types, spec.probe_options(wanted.matching()))?;
    let netns = Netns::of(wanted.first())?;
    let lines = spec.connections.as_deref().map(ConnectionLines::create).transpose()?;
    let tcp = spec.tcp.then(|| TcpTrace::load(&types, &netns, lines)).transpose()?;
    Ok(Instruments { syscalls, tcp, netns })
}

/// Says in one line what is missing before anything is started.
fn check_privileges() -> Result<()> {
    const CAP_SYS_ADMIN: u64 = 1 << 21;
    const CAP_PERFMON: u64 = 1 << 38;
    const CAP_BPF: u64 = 1 << 39;
    let effective = Process::myself().and_then(|process| process.status()).map_or(0, |status| status.capeff);
    if effective & CAP_SYS_ADMIN != 0 || effective & (CAP_PERFMON | CAP_BPF) == CAP_PERFMON | CAP_BPF {
        return Ok(());
    }
    let words = std::env::args_os().map(|word| shell_words::quote(&word.to_string_lossy()).into_owned());
    let words = words.collect::<Vec<_>>();
    Err(advised(anyhow!("tracing needs root (or CAP_BPF and CAP_PERFMON)"), format!("sudo {}", words.join(" "))))
}
