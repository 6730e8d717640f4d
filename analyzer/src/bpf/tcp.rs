//! The TCP probes in the kernel: state changes and retransmits in one network namespace.

use anyhow::{Context as _, Result};
use aya::{Ebpf, EbpfLoader, maps::PerCpuArray};
use probes::{
    prebuilt,
    tcp::{Retransmit, STATES, transition_index},
};
use reports::recording::{Probe, Retransmits, Transition};

use super::{
    loading::{self, KernelTypes, Off},
    sum,
};

const STATE_CHANGES: &str = "inet_sock_set_state";
const RETRANSMITS: [&str; 2] = ["tcp_retransmit_skb", "tcp_retransmit_synack"];

/// Names by number (v6.18 include/net/tcp_states.h).
const STATE_NAMES: [&str; 13] = [
    "NONE",
    "ESTABLISHED",
    "SYN_SENT",
    "SYN_RECV",
    "FIN_WAIT1",
    "FIN_WAIT2",
    "TIME_WAIT",
    "CLOSE",
    "CLOSE_WAIT",
    "LAST_ACK",
    "LISTEN",
    "CLOSING",
    "NEW_SYN_RECV",
];

/// The loaded probes; each works without the others. Dropping them detaches everything.
pub(crate) struct TcpProbes {
    ebpf: Ebpf,
    hooks: Vec<(&'static str, Option<Off>)>,
}

impl TcpProbes {
    /// Loads what this kernel has; nothing is attached yet.
    ///
    /// # Errors
    /// When the object's maps cannot be made or the kernel's socket structures are not as known.
    pub(crate) fn load(types: &KernelTypes, netns: u32) -> Result<Self> {
        let offsets = [
            ("SOCK_STATE", types.offset("sock.__sk_common.skc_state")?),
            ("SOCK_PROTOCOL", types.offset("sock.sk_protocol")?),
            ("SOCK_NET", types.offset("sock.__sk_common.skc_net.net")?),
            ("NET_INUM", types.offset("net.ns.inum")?),
        ];
        let mut loader = EbpfLoader::new();
        loader.btf(Some(&types.aya)).override_global("NETNS", &netns, true);
        for (name, offset) in &offsets {
            loader.override_global(name, offset, true);
        }
        let mut ebpf = loader.load(prebuilt::TCP).map_err(loading::object_refused)?;
        let hooks = std::iter::once(STATE_CHANGES).chain(RETRANSMITS);
        let hooks = hooks.map(|hook| (hook, loading::load_tracepoint(&mut ebpf, hook, types).err())).collect();
        Ok(Self { ebpf, hooks })
    }

    /// Attaches what was loaded; a hook that fails is off and says why.
    pub(crate) fn attach(&mut self) -> Vec<Probe> {
        for (hook, off) in &mut self.hooks {
            if off.is_none() {
                *off = loading::tracepoint(&mut self.ebpf, hook).attach().err().map(Off::Refused);
            }
        }
        self.hooks.iter().map(|(hook, off)| loading::tracepoint_entry(hook, off.as_ref())).collect()
    }

    /// The loaded object, for what is told of every object.
    pub(crate) fn object(&self) -> &Ebpf {
        &self.ebpf
    }

    /// State changes so far; `None` when that hook is off.
    ///
    /// # Errors
    /// When the map cannot be read.
    pub(crate) fn transitions(&self) -> Result<Option<Vec<Transition>>> {
        if !self.is_on(STATE_CHANGES) {
            return Ok(None);
        }
        let counts = self.counts("TRANSITIONS")?;
        let mut transitions = Vec::new();
        for (old, new) in (0..STATES).flat_map(|old| (0..STATES).map(move |new| (old, new))) {
            let count = sum(&counts, transition_index(old, new))?;
            if count > 0 {
                transitions.push(Transition { from: state_name(old), to: state_name(new), count });
            }
        }
        Ok(Some(transitions))
    }

    /// Retransmits so far; `None` when a hook is off.
    ///
    /// # Errors
    /// When the map cannot be read.
    pub(crate) fn retransmits(&self) -> Result<Option<Retransmits>> {
        if !RETRANSMITS.iter().all(|hook| self.is_on(hook)) {
            return Ok(None);
        }
        let counts = self.counts("RETRANSMITTED")?;
        let of = |kind: Retransmit| sum(&counts, kind as u32);
        Ok(Some(Retransmits {
            syn: of(Retransmit::Syn)?,
            syn_ack: of(Retransmit::SynAck)?,
            data: of(Retransmit::Data)?,
            tail_loss_probes: None,
        }))
    }

    fn is_on(&self, hook: &str) -> bool {
        self.hooks.iter().any(|(name, off)| *name == hook && off.is_none())
    }

    fn counts(&self, map: &str) -> Result<PerCpuArray<&aya::maps::MapData, u64>> {
        Ok(PerCpuArray::try_from(self.ebpf.map(map).with_context(|| format!("bug: no map `{map}`"))?)?)
    }
}

fn state_name(state: u32) -> String {
    STATE_NAMES.get(state as usize).map_or_else(|| format!("state_{state}"), |&name| name.to_owned())
}
