//! What the process that was started and its parts say to each other: commands one way, lines of JSON the other. Does not
//! act on them.

use std::{
    collections::BTreeMap,
    io::{self, BufRead as _, Write as _, stdin, stdout},
    net::{Ipv4Addr, SocketAddr},
};

use reports::{histogram::Histogram, hold::FirstFailure};
use rustix::io::Errno;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::Error;

/// What a connecting part is to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ConnectSpec {
    pub(super) server: SocketAddr,
    /// Local addresses, one after the other; none: the kernel chooses.
    pub(super) sources: Vec<Ipv4Addr>,
    pub(super) connections: u32,
    /// Connects in flight.
    pub(super) at_once: u32,
    pub(super) timeout_ns: u64,
}

/// What an accepting part is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SinkSpec {
    pub(super) connections: u32,
}

/// What a part says.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Message {
    /// It waits for [`Command::Go`]; a sink listens, and says where.
    Ready(Option<SocketAddr>),
    /// So many connections it has.
    Has(u32),
    /// It opens no more.
    Opened(Opened),
    /// It ends; so many connections had ended before.
    Ended { lost: u32 },
}

/// What a connecting part has done.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Opened {
    pub(super) count: u32,
    pub(super) failed: BTreeMap<String, u64>,
    pub(super) first_failure: Option<FirstFailure>,
    /// Just before the first connect, and when the last was established.
    pub(super) first_ns: u64,
    pub(super) last_ns: u64,
    pub(super) connect: Histogram,
}

/// What a part is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Command {
    /// Open them.
    Go,
    /// Open no more.
    Stop,
    /// The pipe has ended: so does the part.
    End,
}

impl Command {
    /// The byte on the pipe; an end has none.
    pub(super) fn byte(self) -> Option<u8> {
        match self {
            Self::Go => Some(b'g'),
            Self::Stop => Some(b's'),
            Self::End => None,
        }
    }

    /// The next one; waits for it unless the pipe was found readable.
    ///
    /// # Errors
    /// When the pipe cannot be read.
    pub(super) fn receive() -> Result<Self, Error> {
        let mut byte = [0];
        loop {
            match rustix::io::read(stdin(), &mut byte) {
                Err(Errno::INTR) => {}
                Err(errno) => return Err(Error::system("read a command")(errno)),
                Ok(0) => return Ok(Self::End),
                Ok(_) if byte[0] == b'g' => return Ok(Self::Go),
                Ok(_) => return Ok(Self::Stop),
            }
        }
    }
}

/// The first line on the pipe.
///
/// # Errors
/// When it is not what it should be: nobody types it.
pub(super) fn receive_spec<S: DeserializeOwned>() -> Result<S, Error> {
    let mut line = String::new();
    let read = stdin().lock().read_line(&mut line).and_then(|_| Ok(serde_json::from_str(&line)?));
    read.map_err(|source| Error::System { action: "read what this part of a run is to do", source })
}

/// One line to the process that started this part.
///
/// # Errors
/// When that has gone.
pub(super) fn send(message: &Message) -> Result<(), Error> {
    let write = || -> io::Result<()> {
        let mut line = serde_json::to_vec(message)?;
        line.push(b'\n');
        stdout().lock().write_all(&line).and_then(|()| stdout().flush())
    };
    write().map_err(|source| Error::System { action: "report to the process that started this part", source })
}
