//! One life of a worker process, as its master sees it. Does not decide when to begin another.

use std::{
    env,
    io::{self, Read},
    os::fd::{AsFd, BorrowedFd},
    process::{Child, ChildStdout, Command, ExitStatus, Stdio},
    time::Instant,
};

use rustix::process::{Pid, Signal, kill_process};

use super::super::{listener::Listener, totals::Totals};

/// A worker that runs.
#[derive(Debug)]
pub(super) struct Life {
    child: Child,
    stdout: ChildStdout,
    printed: Vec<u8>,
    pub(super) began: Instant,
}

/// How a worker ended.
#[derive(Debug)]
pub(super) struct End {
    pub(super) pid: u32,
    pub(super) status: ExitStatus,
    /// Missing if it was killed, or broke.
    pub(super) totals: Option<Totals>,
}

impl Life {
    /// Starts this program again, as worker `index` over `listener`.
    pub(super) fn begin(index: usize, listener: &Listener) -> io::Result<Self> {
        let socket = listener.as_fd().try_clone_to_owned()?;
        let mut child = Command::new(env::current_exe()?)
            .args(env::args_os().skip(1))
            .arg("--worker")
            .arg(index.to_string())
            .stdin(Stdio::from(socket))
            .stdout(Stdio::piped())
            .spawn()?;
        let stdout = child.stdout.take().expect("bug: it was to be a pipe");
        Ok(Self { child, stdout, printed: Vec::new(), began: Instant::now() })
    }

    /// Takes what it printed; true when it has ended.
    pub(super) fn read(&mut self) -> io::Result<bool> {
        let mut chunk = [0; 4096];
        let length = self.stdout.read(&mut chunk)?;
        self.printed.extend_from_slice(&chunk[..length]);
        Ok(length == 0)
    }

    /// Waits for the end of one that has closed its pipe.
    pub(super) fn end(mut self) -> io::Result<End> {
        let status = self.child.wait()?;
        let totals = self.printed.split(|&byte| byte == b'\n').nth(1);
        let totals = totals.and_then(|line| serde_json::from_slice(line).ok()).filter(|_| status.success());
        Ok(End { pid: self.child.id(), status, totals })
    }

    /// Whether it serves, and knows what to do when it is asked to end.
    pub(super) fn is_ready(&self) -> bool {
        self.printed.contains(&b'\n')
    }

    /// Asks it to answer what has come, and to end.
    pub(super) fn ask_to_end(&self) {
        // Fails only when it has ended already, which its pipe tells.
        let _ = kill_process(Pid::from_child(&self.child), Signal::TERM);
    }

    /// Ends it at once.
    pub(super) fn kill(&mut self) {
        let _ = self.child.kill();
    }
}

impl AsFd for Life {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stdout.as_fd()
    }
}
