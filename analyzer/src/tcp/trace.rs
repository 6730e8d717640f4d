//! TCP over one run: from the attach of the probes to what goes into the recording.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    os::fd::BorrowedFd,
};

use anyhow::{Result, anyhow};
use aya::{Ebpf, programs::ProgramFd};
use probes::tcp::Connection;
use reports::{
    counters::KernelCounters,
    recording::{Probe, Retransmits, Tcp, Tracked},
};

use super::{ConnectionLines, fold::Fold, listeners::Joined, ports};
use crate::{
    advice::hint_of,
    bpf::{
        loading::KernelTypes,
        tcp::{Sink, TcpProbes},
    },
    kernel::netns::Netns,
    say::{hint, say},
    sockets::{
        listeners::{Listener, ListenerQuery},
        owners::owners_of,
    },
};

/// Tail-loss probes among the retransmits.
const TAIL_LOSS_PROBES: &str = "TcpExt.TCPLossProbes";

/// The probes, and what was noted at the start.
pub(crate) struct TcpTrace {
    probes: TcpProbes<Taking>,
    /// Given to the thread that fetches records, when that starts.
    lines: Option<ConnectionLines>,
    before: Vec<Listener>,
    /// Owners of listeners by inode.
    owners: BTreeMap<u32, String>,
}

/// Takes the records of ended connections.
struct Taking {
    fold: Fold,
    lines: Option<ConnectionLines>,
}

impl Taking {
    fn take(&mut self, connection: &Connection, now: u64) {
        self.fold.add(connection, now);
        if let Some(lines) = &mut self.lines {
            lines.write(connection, now);
        }
    }
}

impl Sink for Taking {
    fn ended(&mut self, connection: &Connection) {
        // Whatever has ended needs no end of the run.
        self.take(connection, 0);
    }

    fn pause(&mut self) {
        if let Some(lines) = &mut self.lines {
            lines.flush();
        }
    }
}

impl TcpTrace {
    /// Loads the probes; nothing is attached yet.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub(crate) fn load(types: &KernelTypes, netns: &Netns, lines: Option<ConnectionLines>) -> Result<Self> {
        let inode = u32::try_from(netns.inode).map_err(|_| anyhow!("bug: a namespace's inode beyond 32 bits"))?;
        let probes = TcpProbes::load(types, inode)?;
        Ok(Self { probes, lines, before: Vec::new(), owners: BTreeMap::new() })
    }

    /// The loaded object, for what is told of every object.
    pub(crate) fn object(&self) -> &Ebpf {
        self.probes.object()
    }

    /// The program to which the system-call probes hand accept's returns.
    pub(crate) fn accepted(&mut self) -> Option<&ProgramFd> {
        self.probes.accepted()
    }

    /// Attaches the probes and notes the listeners, as far as the kernel lists them.
    ///
    /// # Errors
    /// When the records of the probes cannot be fetched.
    pub(crate) fn attach(&mut self, netns: &Netns) -> Result<Vec<Probe>> {
        self.before = listeners(netns).unwrap_or_else(|error| {
            say(format_args!("no limits, drops and owners of listeners: {error:#}"));
            if let Some(remedy) = hint_of(&error) {
                hint(remedy);
            }
            Vec::new()
        });
        self.name_owners();
        self.probes.attach(Taking { fold: Fold::default(), lines: self.lines.take() })
    }

    /// Says which group a process belongs to, by its first thread.
    ///
    /// # Errors
    /// When the process has ended, or memory is short.
    pub(crate) fn mark(&self, pidfd: BorrowedFd<'_>, group: u32) -> io::Result<()> {
        self.probes.mark(pidfd, group)
    }

    /// Stops the probes and adds everything up; `counters` are those at the start and `now_ns` is the probes' clock.
    ///
    /// # Errors
    /// When something cannot be read.
    pub(crate) fn finish(&mut self, netns: &Netns, counters: &KernelCounters, now_ns: u64) -> Result<Tcp> {
        let after = netns.counters()?;
        let (counted, mut taking) = self.probes.finish()?;
        // What failed at the start was said then.
        let listeners = listeners(netns).unwrap_or_default();
        for connection in &counted.open {
            taking.take(connection, now_ns);
        }
        taking.pause();
        let known = std::mem::replace(&mut self.before, listeners);
        self.name_owners();
        let folded = taking.fold.finish(counted.tells_first_byte);
        let moved = after.moved_since(counters);
        let tail_loss_probes = moved.get(TAIL_LOSS_PROBES).and_then(|&n| u64::try_from(n).ok()).unwrap_or(0);
        let joined = Joined {
            before: &known,
            after: &self.before,
            accepts: folded.accepts,
            trouble: &counted.listeners,
            owners: &self.owners,
            tells_final_ack_drops: counted.tells_final_ack_drops,
            tells_first_byte: counted.tells_first_byte,
        };
        Ok(Tcp {
            netns: netns.inode,
            counters: moved,
            time_wait: (counters.time_wait, after.time_wait),
            retransmits: counted
                .retransmits
                .map(|seen| Retransmits { tail_loss_probes: Some(tail_loss_probes), ..seen }),
            tracked: counted.transitions.as_ref().map(|_| Tracked {
                let_go: counted.let_go,
                lost: counted.lost,
                ..folded.tracked
            }),
            transitions: counted.transitions.map(|untold| untold.with(&folded.transitions).into_rows()),
            connects: folded.connects,
            listeners: joined.into_rows(),
            states: folded.states,
            closes: folded.closes,
            lifetimes: folded.lifetimes,
            peers: folded.peers,
            ports: netns.within(ports::in_use)?,
        })
    }

    /// Looks for the owners of the listeners in `before` that are not known yet.
    fn name_owners(&mut self) {
        let inodes: BTreeSet<u32> = self.before.iter().map(|listener| listener.inode).collect();
        let unknown: BTreeSet<u32> = inodes.into_iter().filter(|inode| !self.owners.contains_key(inode)).collect();
        if !unknown.is_empty() {
            let found = owners_of(&unknown).into_iter();
            self.owners.extend(found.map(|(inode, owner)| (inode, format!("{}/{}", owner.pid, owner.command))));
        }
    }
}

fn listeners(netns: &Netns) -> Result<Vec<Listener>> {
    netns.within(|| ListenerQuery::open()?.listeners())
}
