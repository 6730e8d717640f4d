//! The TCP probes in the kernel: every connection's life in one network namespace.

mod collector;
mod offsets;
mod states;
mod transitions;

use std::{collections::BTreeMap, io, os::fd::BorrowedFd};

use anyhow::{Context as _, Result};
use aya::{
    Ebpf, EbpfLoader,
    maps::{Array, HashMap, PerCpuArray, RingBuf},
    programs::{ProgramFd, tp_btf::BtfTracePointLinkId},
};
use probes::{
    prebuilt,
    tcp::{Connection, Counter, Listener, STATES, transition_index},
};
use reports::recording::{Probe, Retransmits};

pub(crate) use collector::Sink;
pub(crate) use states::name as state_name;
pub(crate) use transitions::Transitions;

use self::{collector::Collector, offsets::Globals};
use super::{
    Value,
    loading::{self, KernelTypes, Off},
    sum, task_storage,
};

const STATE_CHANGES: &str = "inet_sock_set_state";
const FIRST_BYTE: &str = "sk_data_ready";
const DROPS: &str = "kfree_skb";
const RETRANSMITS: [&str; 2] = ["tcp_retransmit_skb", "tcp_retransmit_synack"];

/// Hooks in the order of attaching: what ends a connection before what begins one.
const HOOKS: [&str; 9] = [
    "task_newtask",
    "tcp_destroy_sock",
    RETRANSMITS[0],
    RETRANSMITS[1],
    "tcp_send_reset",
    "tcp_receive_reset",
    DROPS,
    FIRST_BYTE,
    STATE_CHANGES,
];

/// Called by the system-call probes, not attached.
const ACCEPTED: &str = "accepted";

/// The loaded probes; each works without the others. Dropping them detaches everything.
pub(crate) struct TcpProbes<S> {
    ebpf: Ebpf,
    hooks: Vec<Hook>,
    has_accepted: bool,
    tells_overflow: bool,
    collector: Option<Collector<S>>,
}

struct Hook {
    name: &'static str,
    off: Option<Off>,
    link: Option<BtfTracePointLinkId>,
}

/// What the kernel has counted, when the probes have stopped.
pub(crate) struct Counted {
    /// State changes of which no record tells; `None` when that hook is off.
    pub(crate) transitions: Option<Transitions>,
    /// Segments sent again; `None` when a hook is off.
    pub(crate) retransmits: Option<Retransmits>,
    /// Connections that have not ended, or whose socket is not destroyed yet.
    pub(crate) open: Vec<Connection>,
    /// Listeners in trouble, by cookie.
    pub(crate) listeners: BTreeMap<u64, Listener>,
    /// `listeners` have what was dropped at the final ACK.
    pub(crate) tells_final_ack_drops: bool,
    pub(crate) tells_first_byte: bool,
    /// Connections for which there was no place.
    pub(crate) let_go: u64,
    /// Records for which there was no place.
    pub(crate) lost: u64,
}

impl<S> TcpProbes<S> {
    /// The loaded object, for what is told of every object.
    pub(crate) fn object(&self) -> &Ebpf {
        &self.ebpf
    }
}

impl<S: Sink> TcpProbes<S> {
    /// Loads what this kernel has; nothing is attached yet.
    ///
    /// # Errors
    /// When the object's maps cannot be made or the kernel's socket structures are not as known.
    pub(crate) fn load(types: &KernelTypes, netns: u32) -> Result<Self> {
        let globals = Globals::of(types, netns)?;
        let mut loader = EbpfLoader::new();
        loader.btf(Some(&types.aya)).allow_unsupported_maps();
        globals.set(&mut loader);
        let mut ebpf = loader.load(prebuilt::TCP).map_err(loading::object_refused)?;
        let mut load = |name: &'static str| {
            let off = if name == DROPS && !globals.drops_name_socket {
                Some(Off::NotTold("which socket a dropped segment was for"))
            } else {
                loading::load_tracepoint(&mut ebpf, name, types).err()
            };
            Hook { name, off, link: None }
        };
        let hooks = HOOKS.map(&mut load).into();
        let has_accepted = loading::load_tracepoint_as(&mut ebpf, ACCEPTED, "sys_exit", types).is_ok();
        let tells_overflow = globals.tells_overflow;
        Ok(Self { ebpf, hooks, has_accepted, tells_overflow, collector: None })
    }

    /// The program that goes on where accept has returned to a traced thread.
    pub(crate) fn accepted(&mut self) -> Option<&ProgramFd> {
        self.has_accepted.then(|| loading::tracepoint(&mut self.ebpf, ACCEPTED).fd().ok()).flatten()
    }

    /// Attaches what was loaded, and starts to hand ended connections to `sink`. A hook that fails is off and says why.
    ///
    /// # Errors
    /// When the records cannot be fetched.
    pub(crate) fn attach(&mut self, sink: S) -> Result<Vec<Probe>> {
        let records = self.ebpf.take_map("ENDED").context("bug: no map `ENDED`")?;
        self.collector = Some(Collector::start(RingBuf::try_from(records)?, sink)?);
        for hook in self.hooks.iter_mut().filter(|hook| hook.off.is_none()) {
            match loading::tracepoint(&mut self.ebpf, hook.name).attach() {
                Ok(link) => hook.link = Some(link),
                Err(error) => hook.off = Some(Off::Refused(error)),
            }
        }
        Ok(self.hooks.iter().map(|hook| loading::tracepoint_entry(hook.name, hook.off.as_ref())).collect())
    }

    /// Says which group a process belongs to, by its first thread.
    ///
    /// # Errors
    /// When the process has ended, or memory is short.
    pub(crate) fn mark(&self, pidfd: BorrowedFd<'_>, group: u32) -> io::Result<()> {
        let map = self.ebpf.map("MARKS").ok_or_else(|| io::Error::other("bug: no map `MARKS`"))?;
        task_storage::add(map, pidfd, &(group + 1)).map(drop)
    }

    /// Detaches everything, fetches the last records, reads what was counted.
    ///
    /// # Errors
    /// When a map cannot be read.
    pub(crate) fn finish(&mut self) -> Result<(Counted, S)> {
        let collector = self.collector.take().context("bug: the TCP probes were not attached")?;
        // What begins a connection first, so that none is begun that cannot end.
        for hook in self.hooks.iter_mut().rev() {
            if let Some(link) = hook.link.take() {
                loading::tracepoint(&mut self.ebpf, hook.name).detach(link)?;
            }
        }
        let sink = collector.finish()?;
        Ok((self.counted()?, sink))
    }

    fn counted(&self) -> Result<Counted> {
        let listeners = HashMap::<_, u64, Value<Listener>>::try_from(self.map("LISTENERS")?)?;
        let listeners = listeners.iter().map(|entry| entry.map(|(cookie, value)| (cookie, value.0)));
        Ok(Counted {
            transitions: self.transitions()?,
            retransmits: self.retransmits()?,
            open: self.open()?,
            listeners: listeners.collect::<Result<_, _>>()?,
            tells_final_ack_drops: self.tells_overflow && self.is_on(DROPS),
            tells_first_byte: self.is_on(FIRST_BYTE),
            let_go: self.count(Counter::LetGo)?,
            lost: self.count(Counter::RecordLost)?,
        })
    }

    fn open(&self) -> Result<Vec<Connection>> {
        let direct = Array::<_, Value<Connection>>::try_from(self.map("DIRECT")?)?;
        let collided = HashMap::<_, u64, Value<Connection>>::try_from(self.map("COLLIDED")?)?;
        let direct = direct.iter().map(|entry| Ok(entry?.0));
        let collided = collided.iter().map(|entry| Ok(entry?.1.0));
        // A place that is free belongs to no socket.
        direct.chain(collided).filter(|entry| entry.as_ref().map_or(true, |one: &Connection| one.socket != 0)).collect()
    }

    /// The changes of state of which no record tells.
    fn transitions(&self) -> Result<Option<Transitions>> {
        if !self.is_on(STATE_CHANGES) {
            return Ok(None);
        }
        let counts = PerCpuArray::try_from(self.map("TRANSITIONS")?)?;
        let mut transitions = Transitions::default();
        for (old, new) in (0..STATES).flat_map(|old| (0..STATES).map(move |new| (old, new))) {
            transitions.add(old, new, sum(&counts, transition_index(old, new))?);
        }
        Ok(Some(transitions))
    }

    fn retransmits(&self) -> Result<Option<Retransmits>> {
        if !RETRANSMITS.iter().all(|hook| self.is_on(hook)) {
            return Ok(None);
        }
        Ok(Some(Retransmits {
            syn: self.count(Counter::SynRetransmit)?,
            syn_ack: self.count(Counter::SynAckRetransmit)?,
            data: self.count(Counter::DataRetransmit)?,
            tail_loss_probes: None,
        }))
    }

    fn is_on(&self, hook: &str) -> bool {
        self.hooks.iter().any(|known| known.name == hook && known.off.is_none())
    }

    fn count(&self, counter: Counter) -> Result<u64> {
        Ok(Array::try_from(self.map("COUNTS")?)?.get(&(counter as u32), 0)?)
    }

    fn map(&self, name: &str) -> Result<&aya::maps::Map> {
        self.ebpf.map(name).with_context(|| format!("bug: no map `{name}`"))
    }
}
