//! `--connections FILE`: one JSON object on a line for each end of a connection, written while the run goes on.

use std::{
    collections::BTreeMap,
    fs::{File, OpenOptions},
    io::{self, BufWriter, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result};
use probes::tcp::{Connection, flag};
use reports::recording::{Outcome, Side};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use serde::Serialize;

use super::connection::{Closing, End};
use crate::{advice::Advise as _, bpf::tcp::state_name, process::identity::Caller, say::say};

/// A file that is written until that fails; the run goes on without it.
pub(crate) struct ConnectionLines {
    path: PathBuf,
    /// `None` after a failure.
    out: Option<BufWriter<File>>,
    written: u64,
}

/// One end of a connection. Times are in ns; one that is not known is absent.
#[derive(Serialize)]
struct Line {
    /// As `ss -e` shows it after `sk:`.
    cookie: String,
    side: Side,
    group: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pid: Option<u32>,
    #[serde(skip_serializing_if = "String::is_empty")]
    command: String,
    source: String,
    destination: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    listener: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    outcome: Option<Outcome>,
    /// `CLOCK_MONOTONIC` of the first state that was seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    began_ns: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    connect_ns: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    accept_wait_ns: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    first_byte_ns: Option<u64>,
    /// From established to closed.
    #[serde(skip_serializing_if = "Option::is_none")]
    duration_ns: Option<u64>,
    received_bytes: u64,
    sent_bytes: u64,
    syn_retransmits: u32,
    syn_ack_retransmits: u32,
    retransmits: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    closed: Option<&'static str>,
    reset_received: bool,
    reset_sent: bool,
    /// Time in each state that it has left, by the state's name.
    states_ns: BTreeMap<String, u64>,
}

impl Line {
    fn of(connection: &Connection, now: u64) -> Self {
        let end = End(connection);
        Self {
            cookie: format!("{:x}", connection.cookie),
            side: end.side(),
            group: end.group(),
            pid: Some(connection.tgid).filter(|&tgid| tgid > 0),
            command: end.command(),
            source: end.source().to_string(),
            destination: end.destination().to_string(),
            listener: Some(connection.listener).filter(|&cookie| cookie > 0).map(|cookie| format!("{cookie:x}")),
            outcome: end.outcome(),
            began_ns: end.began(),
            connect_ns: end.outcome().and_then(|_| end.connect_ns(now)),
            accept_wait_ns: end.accept_wait_ns(),
            first_byte_ns: end.first_byte_ns(),
            duration_ns: end.duration_ns(),
            received_bytes: end.received_bytes(),
            sent_bytes: connection.sent_bytes,
            syn_retransmits: connection.syn_retransmits,
            syn_ack_retransmits: connection.syn_ack_retransmits,
            retransmits: connection.retransmits,
            closed: end.closing().map(|closing| match closing {
                Closing::ByItself => "by-itself",
                Closing::ByPeer => "by-peer",
                Closing::Simultaneous => "simultaneously",
                Closing::WithoutFin => "without-fin",
            }),
            reset_received: end.has(flag::RESET_RECEIVED),
            reset_sent: end.has(flag::RESET_SENT),
            states_ns: end.states().map(|(state, ns)| (state_name(state), ns)).collect(),
        }
    }
}

impl ConnectionLines {
    /// Makes the file, or takes one that is there, such as a pipe.
    ///
    /// # Errors
    /// When it cannot be written to.
    pub(crate) fn create(path: &Path) -> Result<Self> {
        let unopened = || format!("failed to open `{}` for the connections", path.display());
        let no_reader = |error: &io::Error| error.raw_os_error() == Some(libc::ENXIO);
        // A pipe that nobody reads would be waited for without a word.
        let file = OpenOptions::new().write(true).create(true).truncate(true).custom_flags(libc::O_NONBLOCK).open(path);
        let advice = match &file {
            Err(error) if no_reader(error) => "nobody reads that pipe: start its reader first",
            _ => "name another file with --connections FILE",
        };
        let file = file.with_context(unopened).hint(advice)?;
        // From here on a slow reader is waited for, by the thread that fetches records alone.
        let blocking = fcntl_getfl(&file)? - OFlags::NONBLOCK;
        fcntl_setfl(&file, blocking)?;
        if let Some(caller) = Caller::behind_sudo()
            && file.metadata()?.is_file()
        {
            caller.own(path)?;
        }
        Ok(Self { path: path.to_owned(), out: Some(BufWriter::with_capacity(1 << 16, file)), written: 0 })
    }

    /// One end of a connection; `now` is the end of the run for one that is still open.
    pub(crate) fn write(&mut self, connection: &Connection, now: u64) {
        let Some(out) = &mut self.out else { return };
        let line = serde_json::to_writer(&mut *out, &Line::of(connection, now)).map_err(io::Error::from);
        match line.and_then(|()| out.write_all(b"\n")) {
            Ok(()) => self.written += 1,
            Err(error) => self.give_up(&error),
        }
    }

    /// Lets the reader of a pipe see what there is.
    pub(crate) fn flush(&mut self) {
        if let Some(Err(error)) = self.out.as_mut().map(BufWriter::flush) {
            self.give_up(&error);
        }
    }

    fn give_up(&mut self, error: &io::Error) {
        say(format_args!(
            "failed to write to `{}` after about {} connections: {error}; the run goes on without it",
            self.path.display(),
            self.written
        ));
        // Its drop would try again.
        if let Some(out) = self.out.take() {
            drop(out.into_parts());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::connection::tests::end;
    use probes::tcp::state;

    fn sample() -> Connection {
        end(flag::ACTIVE, &[(state::SYN_SENT, 10), (state::ESTABLISHED, 30)])
    }

    #[test]
    fn a_line_has_what_is_known_and_leaves_out_what_is_not() {
        let line = serde_json::to_value(Line::of(&sample(), 100)).expect("serializable");
        assert_eq!((&line["connect_ns"], &line["outcome"]), (&20.into(), &"established".into()));
        assert_eq!(line["states_ns"]["SYN_SENT"], 20);
        assert!(line.get("duration_ns").is_none() && line.get("pid").is_none(), "{line}");
    }

    #[test]
    fn a_full_disk_ends_the_file_and_not_the_run() {
        let mut lines = ConnectionLines::create(Path::new("/dev/full")).expect("there");
        for _ in 0..1000 {
            lines.write(&sample(), 100);
        }
        lines.flush();
        assert!(lines.out.is_none());
        lines.write(&sample(), 100);
    }
}
