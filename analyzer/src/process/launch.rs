//! Starting a program: found as users expect, held before its exec when asked, stopped with its process group.

use std::{
    env, io,
    io::{Read as _, Write as _},
    os::{
        fd::{AsFd as _, AsRawFd as _, BorrowedFd, OwnedFd},
        unix::{fs::PermissionsExt as _, process::CommandExt as _},
    },
    path::{Path, PathBuf},
    process::{Command, ExitStatus},
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, kill_process_group, pidfd_open, pidfd_send_signal,
    set_parent_process_death_signal, test_kill_process_group, waitpgid,
};

use super::identity::User;

/// Finds a program: a name with a slash as it is, others beside our own binary, then on PATH.
pub(crate) fn find_program(name: &str) -> Option<PathBuf> {
    if name.contains('/') {
        return Some(PathBuf::from(name));
    }
    let beside = env::current_exe().ok().and_then(|path| path.parent().map(|folder| folder.join(name)));
    let on_path = env::var_os("PATH").unwrap_or_default();
    let on_path = env::split_paths(&on_path).map(|folder| folder.join(name)).collect::<Vec<_>>();
    beside.into_iter().chain(on_path).find(|path| {
        path.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
    })
}

/// Why a program could not be executed, with the file that was found for it and the user it was for.
pub(crate) fn not_executed(program: &Path, user: Option<&User>, error: &io::Error) -> String {
    let user = user.map(|user| format!(" as user `{}`", user.name())).unwrap_or_default();
    format!("failed to execute `{}`{user}: {error}", program.display())
}

/// How a program is started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Start {
    /// At once, in a process group of its own so that a Ctrl-C at the terminal does not reach it.
    Detached,
    /// Waits before its exec until [`Launched::release`].
    Held,
}

/// A program that we started and will not leave behind.
pub(crate) struct Launched {
    pub(crate) pid: u32,
    pidfd: OwnedFd,
    gate: Option<io::PipeWriter>,
    start: Start,
    ended: mpsc::Receiver<()>,
}

/// Sets what we do about signals that a caller may have ignored, or that would end us without a word.
pub(crate) fn set_signal_dispositions() {
    // SAFETY: neither is a handler. Ends of children are ours to take; a file that may not grow is an error like any.
    unsafe {
        libc::signal(libc::SIGCHLD, libc::SIG_DFL);
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
    }
}

/// Starts `command` on a thread that also waits for it; `on_end` is called there with how it ended, or with why
/// it could not be executed.
///
/// # Errors
/// When the process cannot be made.
pub(crate) fn launch(
    mut command: Command,
    start: Start,
    on_end: impl FnOnce(io::Result<ExitStatus>) + Send + 'static,
) -> io::Result<Launched> {
    let (mut pid_reader, pid_writer) = io::pipe()?;
    let (gate_reader, gate_writer) = io::pipe()?;
    let gate_in_child = gate_writer.as_raw_fd();
    let held = start == Start::Held;
    if !held {
        command.process_group(0);
    }
    let before_exec = move || {
        // The tracer's end, however it comes, must not leave the program behind.
        set_parent_process_death_signal(Some(Signal::TERM))?;
        // SAFETY: the default is what a program expects; we ignore it, to be told by an error instead.
        unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_DFL) };
        // SAFETY: our copy of the gate's writing end; without this the gate could never read its end.
        unsafe { libc::close(gate_in_child) };
        (&pid_writer).write_all(&std::process::id().to_ne_bytes())?;
        if held && (&gate_reader).read(&mut [0])? == 0 {
            return Err(io::Error::from_raw_os_error(libc::ECANCELED));
        }
        Ok(())
    };
    // SAFETY: only system calls between fork and exec, no allocation and no lock.
    unsafe { command.pre_exec(before_exec) };
    let (opened, is_open) = mpsc::channel::<()>();
    let (end, ended) = mpsc::channel();
    let waiter = move || {
        let child = command.spawn();
        drop(command);
        // Not reaped before the pidfd is open: the pid cannot name another process.
        let _ = is_open.recv();
        let status = child.and_then(|mut child| child.wait());
        drop(end);
        on_end(status);
    };
    thread::Builder::new().name("waiter".to_owned()).spawn(waiter)?;
    let mut pid = [0; 4];
    pid_reader.read_exact(&mut pid).map_err(|_| io::Error::other("the process ended before its exec"))?;
    let pid = u32::from_ne_bytes(pid);
    let pidfd = pidfd_of(pid)?;
    drop(opened);
    Ok(Launched { pid, pidfd, gate: held.then_some(gate_writer), start, ended })
}

/// Names a process whatever becomes of its number.
///
/// # Errors
/// `ESRCH` when there is no such process, `EINVAL` for the id of a thread that is not its first.
pub(crate) fn pidfd_of(pid: u32) -> io::Result<OwnedFd> {
    Ok(pidfd_open(pid_of(pid)?, PidfdFlags::empty())?)
}

fn pid_of(pid: u32) -> io::Result<Pid> {
    i32::try_from(pid).ok().and_then(Pid::from_raw).ok_or_else(|| io::Error::from_raw_os_error(libc::ESRCH))
}

impl Launched {
    /// Names the process whatever becomes of its number.
    pub(crate) fn pidfd(&self) -> BorrowedFd<'_> {
        self.pidfd.as_fd()
    }

    /// Lets a held program go on to its exec.
    ///
    /// # Errors
    /// When it has ended meanwhile.
    pub(crate) fn release(&mut self) -> io::Result<()> {
        self.gate.take().map_or(Ok(()), |mut gate| gate.write_all(&[1]))
    }

    /// Sends a signal to the program alone; one that has ended is no error.
    pub(crate) fn signal(&self, signal: Signal) {
        let _ = pidfd_send_signal(&self.pidfd, signal);
    }

    /// Ends the program, and with it its process group if that is its own: by SIGTERM, after `patience` by SIGKILL.
    pub(crate) fn stop(&mut self, patience: Duration) {
        drop(self.gate.take());
        self.signal_all(Signal::TERM);
        let deadline = Instant::now() + patience;
        while !self.is_gone() && Instant::now() < deadline {
            self.ends_within(Duration::from_millis(10));
            thread::sleep(Duration::from_millis(2));
        }
        if !self.is_gone() {
            self.signal_all(Signal::KILL);
            self.ends_within(Duration::from_secs(1));
        }
    }

    fn signal_all(&self, signal: Signal) {
        match (self.start, pid_of(self.pid)) {
            (Start::Detached, Ok(group)) => drop(kill_process_group(group, signal)),
            _ => self.signal(signal),
        }
    }

    /// Whether the program itself, not its group, ends within this time or has ended.
    pub(crate) fn ends_within(&self, time: Duration) -> bool {
        matches!(self.ended.recv_timeout(time), Err(mpsc::RecvTimeoutError::Disconnected))
    }

    fn is_gone(&self) -> bool {
        self.ends_within(Duration::ZERO) && (self.start == Start::Held || pid_of(self.pid).is_ok_and(is_empty_group))
    }
}

/// Members that have come to us as orphans and have ended are buried on the way: until then the group is not empty.
fn is_empty_group(group: Pid) -> bool {
    while matches!(waitpgid(group, WaitOptions::NOHANG), Ok(Some(_))) {}
    test_kill_process_group(group).is_err()
}

impl Drop for Launched {
    fn drop(&mut self) {
        if !self.is_gone() {
            self.stop(Duration::from_secs(2));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt as _;

    fn start(program: &str, args: &[&str], start: Start) -> (Launched, mpsc::Receiver<io::Result<ExitStatus>>) {
        let (sender, receiver) = mpsc::channel();
        let mut command = Command::new(program);
        command.args(args);
        (launch(command, start, move |status| drop(sender.send(status))).expect("started"), receiver)
    }

    #[test]
    fn a_held_program_runs_only_after_its_release() {
        let (mut held, ended) = start("true", &[], Start::Held);
        assert!(ended.recv_timeout(Duration::from_millis(50)).is_err());
        let name = std::fs::read_to_string(format!("/proc/{}/comm", held.pid)).expect("alive");
        assert_ne!(name.trim(), "true");
        held.release().expect("alive");
        assert!(ended.recv_timeout(Duration::from_secs(5)).expect("ended").expect("executed").success());
    }

    #[test]
    fn a_held_program_that_is_dropped_never_runs() {
        let (held, ended) = start("true", &[], Start::Held);
        let pid = held.pid;
        drop(held);
        let end = ended.recv_timeout(Duration::from_secs(5)).expect("ended");
        assert!(!end.is_ok_and(|status| status.success()));
        assert!(!std::path::Path::new(&format!("/proc/{pid}")).exists());
    }

    #[test]
    fn a_program_that_cannot_be_executed_says_why() {
        let (mut held, ended) = start("/no/such/program", &[], Start::Held);
        held.release().expect("alive");
        let error = ended.recv_timeout(Duration::from_secs(5)).expect("ended").expect_err("not executed");
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn stopping_ends_the_whole_process_group_even_when_it_ignores_sigterm() {
        let (mut target, ended) = start("sh", &["-c", "trap '' TERM; sleep 30 & wait"], Start::Detached);
        thread::sleep(Duration::from_millis(100));
        target.stop(Duration::from_millis(200));
        assert_eq!(ended.recv_timeout(Duration::from_secs(5)).expect("ended").expect("executed").signal(), Some(9));
        let deadline = Instant::now() + Duration::from_secs(2);
        while !target.is_gone() && Instant::now() < deadline {
            thread::sleep(Duration::from_millis(5));
        }
        assert!(target.is_gone());
    }
}
