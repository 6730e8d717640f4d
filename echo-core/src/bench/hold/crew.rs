//! The parts as processes: started, told, listened to, and ended with this one, whatever way it ends.

use std::{
    env,
    io::{self, BufRead as _, BufReader, Write as _},
    os::unix::process::CommandExt as _,
    process::{Child, ChildStdin, Stdio},
    sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    thread,
    time::Duration,
};

use serde::Serialize;

use super::{
    message::{Command, Message},
    part::Role,
};
use crate::Error;

/// Enough for a reader of lines.
const READER_STACK_BYTES: usize = 64 << 10;

/// Processes, each known by its place, and what they say.
#[derive(Debug)]
pub(super) struct Crew {
    parts: Vec<Part>,
    sender: Sender<(usize, Option<Message>)>,
    receiver: Receiver<(usize, Option<Message>)>,
}

#[derive(Debug)]
struct Part {
    role: Role,
    process: Child,
    commands: Option<ChildStdin>,
    has_ended: bool,
}

impl Crew {
    pub(super) fn new() -> Self {
        let (sender, receiver) = channel();
        Self { parts: Vec::new(), sender, receiver }
    }

    /// Starts one more, and tells it what it is to do.
    ///
    /// # Errors
    /// When the process cannot be started.
    pub(super) fn add(&mut self, role: Role, spec: &impl Serialize) -> Result<(), Error> {
        self.start(role, spec).map_err(|source| Error::System { action: "start a part of the run", source })
    }

    fn start(&mut self, role: Role, spec: &impl Serialize) -> io::Result<()> {
        let mut line = serde_json::to_vec(spec)?;
        line.push(b'\n');
        let mut command = std::process::Command::new(env::current_exe()?);
        command.args(["--hold-part", role.name()]).stdin(Stdio::piped()).stdout(Stdio::piped());
        // A group of its own: Ctrl-C is for the first process, which ends the parts in order.
        let mut process = command.process_group(0).spawn()?;
        let (commands, messages) = (process.stdin.take(), process.stdout.take());
        let place = self.parts.len();
        self.parts.push(Part { role, process, commands, has_ended: false });
        if let Some(messages) = messages {
            let sender = self.sender.clone();
            let listen = move || {
                for line in BufReader::new(messages).lines().map_while(Result::ok) {
                    let Ok(message) = serde_json::from_str(&line) else { break };
                    // The receiver goes with the run.
                    let _ = sender.send((place, Some(message)));
                }
                let _ = sender.send((place, None));
            };
            thread::Builder::new().stack_size(READER_STACK_BYTES).spawn(listen)?;
        }
        self.parts[place].commands.as_mut().map_or(Ok(()), |commands| commands.write_all(&line))
    }

    /// Tells all of a kind.
    pub(super) fn tell(&mut self, role: Role, command: Command) {
        for part in self.parts.iter_mut().filter(|part| part.role == role) {
            match (command.byte(), &mut part.commands) {
                // One that has gone is found out by its silence.
                (Some(byte), Some(commands)) => drop(commands.write_all(&[byte])),
                _ => part.commands = None,
            }
        }
    }

    /// What a part says next; nothing within `longest`.
    ///
    /// # Errors
    /// [`Error::PartEnded`] when one ends that was not told to.
    pub(super) fn hear(&mut self, longest: Duration) -> Result<Option<(usize, Message)>, Error> {
        match self.receiver.recv_timeout(longest) {
            Ok((place, Some(message))) => Ok(Some((place, message))),
            Ok((place, None)) => {
                let part = &mut self.parts[place];
                part.has_ended = true;
                if part.commands.is_some() { Err(Error::PartEnded { role: part.role.name() }) } else { Ok(None) }
            }
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => Ok(None),
        }
    }

    /// Process ids of a kind.
    pub(super) fn pids(&self, role: Role) -> impl Iterator<Item = u32> {
        self.parts.iter().filter(move |part| part.role == role).map(|part| part.process.id())
    }

    /// How many of a kind have not ended.
    pub(super) fn running(&self, role: Role) -> usize {
        self.parts.iter().filter(|part| part.role == role && !part.has_ended).count()
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        for part in &mut self.parts {
            part.commands = None;
            if !part.has_ended {
                let _ = part.process.kill();
            }
        }
        for part in &mut self.parts {
            let _ = part.process.wait();
        }
    }
}
