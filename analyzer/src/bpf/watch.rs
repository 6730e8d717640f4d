//! The probes of `watch` in the kernel: what polling cannot see of listeners, in all network namespaces.

use anyhow::{Context as _, Result};
use aya::{
    Ebpf, EbpfLoader,
    maps::{HashMap, MapData, MapError, PerCpuArray},
};
use probes::{
    ABSENT, prebuilt,
    watch::{LOST, ListenerEvents, NetnsEvents},
};
use reports::histogram::{Histogram, KERNEL};
use syscalls::Sysno;

use super::{
    Value,
    loading::{self, KernelTypes, Off},
    sum,
};

/// What each hook is there for, as said when it is off.
const HOOKS: [(&str, &str); 5] = [
    (AT_ACK, "drops at the final ACK apart: they count twice, and handshake segments put aside once"),
    (QUEUED, ACCEPT_WAIT),
    (RETURNED, ACCEPT_WAIT),
    ("tcp_retransmit_skb", RETRANSMITS),
    (SYN_ACKS, RETRANSMITS),
];
const AT_ACK: &str = "kfree_skb";
const QUEUED: &str = "inet_sock_set_state";
const RETURNED: &str = "sys_exit";
const SYN_ACKS: &str = "tcp_retransmit_synack";
const ACCEPT_WAIT: &str = "accept-queue wait, backlog as asked for";
const RETRANSMITS: &str = "SYN and SYN-ACK retransmits apart";

/// Globals of the object and the members whose offsets they are.
const OFFSETS: [(&str, &str); 14] = [
    ("SOCK_STATE", "sock.__sk_common.skc_state"),
    ("SOCK_PROTOCOL", "sock.sk_protocol"),
    ("SOCK_NET", "sock.__sk_common.skc_net.net"),
    ("SOCK_COOKIE", "sock.__sk_common.skc_cookie"),
    ("NET_INUM", "net.ns.inum"),
    ("REGS_NR", "pt_regs.orig_ax"),
    ("REGS_ARG1", "pt_regs.di"),
    ("REGS_ARG2", "pt_regs.si"),
    ("TASK_FILES", "task_struct.files"),
    ("FILES_FDT", "files_struct.fdt"),
    ("FDT_FD", "fdtable.fd"),
    ("FDT_MAX_FDS", "fdtable.max_fds"),
    ("FILE_PRIVATE", "file.private_data"),
    ("SOCKET_SK", "socket.sk"),
];

/// The loaded and attached probes; each works without the others. Dropping them detaches everything.
pub(crate) struct WatchProbes {
    ebpf: Ebpf,
    hooks: Vec<(&'static str, &'static str, Option<Off>)>,
}

/// What was seen of one listener since the probes were attached.
#[derive(Clone, Debug, Default)]
pub(crate) struct ListenerSeen {
    /// `None` when that hook is off.
    pub(crate) dropped_at_ack: Option<u64>,
    pub(crate) discarded: Option<u64>,
    pub(crate) syn_ack_retransmits: Option<u64>,
    /// Backlog of the last `listen` that was seen.
    pub(crate) asked: Option<u32>,
    /// Waits in the accept queue, in ns.
    pub(crate) waits: Option<Histogram>,
}

impl WatchProbes {
    /// Loads and attaches what this kernel has.
    ///
    /// # Errors
    /// When the object's maps cannot be made or the kernel's structures are not as known.
    pub(crate) fn attach() -> Result<Self> {
        let types = KernelTypes::read()?;
        let offsets = OFFSETS.map(|(global, member)| types.offset(member).map(|offset| (global, offset)));
        let offsets = offsets.into_iter().collect::<Result<Vec<_>>>()?;
        let mptcp_first = types.offset_if_any("mptcp_sock.first");
        let status = types.offset_if_any("task_struct.thread_info.status");
        let reason = |name| types.own.enumerator("skb_drop_reason", name);
        let overflow = reason("SKB_DROP_REASON_TCP_LISTEN_OVERFLOW");
        let not_specified = reason("SKB_DROP_REASON_NOT_SPECIFIED").unwrap_or(ABSENT);
        let numbers = [("NR_ACCEPT", Sysno::accept), ("NR_ACCEPT4", Sysno::accept4), ("NR_LISTEN", Sysno::listen)];
        let numbers = numbers.map(|(global, number)| (global, number as u32));
        let mut loader = EbpfLoader::new();
        let listen_overflow = overflow.unwrap_or(ABSENT);
        loader.btf(Some(&types.aya)).override_global("LISTEN_OVERFLOW", &listen_overflow, true);
        loader.override_global("NOT_SPECIFIED", &not_specified, true);
        loader.override_global("MPTCP_FIRST", &mptcp_first, true).override_global("TASK_STATUS", &status, true);
        for (global, number) in offsets.iter().chain(&numbers) {
            loader.override_global(global, number, true);
        }
        let mut ebpf = loader.load(prebuilt::WATCH).map_err(loading::object_refused)?;
        let mut attach = |hook: &str| {
            if hook == AT_ACK && overflow.is_none() {
                return Err(Off::NoHook);
            }
            loading::load_tracepoint(&mut ebpf, hook, &types)?;
            loading::tracepoint(&mut ebpf, hook).attach().map(drop).map_err(Off::Refused)
        };
        let hooks = HOOKS.map(|(hook, without)| (hook, without, attach(hook).err())).into();
        Ok(Self { ebpf, hooks })
    }

    /// What cannot be told because a hook is off, each once, with the reason.
    pub(crate) fn missing(&self) -> Vec<String> {
        let off = |(hook, without, off): &(&str, &str, Option<Off>)| {
            off.as_ref().map(|off| format!("{without} (`{hook}` is off: {})", off.reason()))
        };
        self.hooks.iter().filter_map(off).collect()
    }

    /// What was seen of a listener, by its socket cookie.
    ///
    /// # Errors
    /// When the map cannot be read.
    pub(crate) fn listener(&self, cookie: u64) -> Result<ListenerSeen> {
        let events = self.value::<ListenerEvents, u64>("LISTENER_EVENTS", cookie)?;
        let count = |hook, of: fn(&ListenerEvents) -> u64| self.is_on(hook).then(|| events.as_ref().map_or(0, of));
        let times_waits = self.is_on(QUEUED) && self.is_on(RETURNED);
        Ok(ListenerSeen {
            dropped_at_ack: count(AT_ACK, |events| events.dropped_at_ack),
            discarded: count(AT_ACK, |events| events.discarded),
            syn_ack_retransmits: count(SYN_ACKS, |events| events.syn_ack_retransmits),
            asked: events.and_then(|events| u32::try_from(events.asked_plus_one.checked_sub(1)?).ok()),
            waits: times_waits.then(|| events.as_ref().map_or_else(|| Histogram::new(KERNEL), waits)),
        })
    }

    /// SYNs and SYN-ACKs sent again in a network namespace; `None` when a hook is off.
    ///
    /// # Errors
    /// When the map cannot be read.
    pub(crate) fn retransmits(&self, netns: u64) -> Result<Option<NetnsEvents>> {
        if !self.is_on("tcp_retransmit_skb") || !self.is_on(SYN_ACKS) {
            return Ok(None);
        }
        let netns = u32::try_from(netns).context("bug: a namespace's inode has 32 bits")?;
        Ok(Some(self.value("NETNS_EVENTS", netns)?.unwrap_or_default()))
    }

    /// Forgets a listener that is closed.
    pub(crate) fn forget(&mut self, cookie: u64) {
        if let Some(map) = self.ebpf.map_mut("LISTENER_EVENTS")
            && let Ok(mut map) = HashMap::<_, u64, Value<ListenerEvents>>::try_from(map)
        {
            // There may be no entry.
            let _ = map.remove(&cookie);
        }
    }

    /// Events that were not counted, for any reason.
    ///
    /// # Errors
    /// When the map cannot be read.
    pub(crate) fn lost(&self) -> Result<u64> {
        let counts = PerCpuArray::<&MapData, u64>::try_from(self.ebpf.map("LOSSES").context("bug: no map `LOSSES`")?)?;
        (0..LOST).map(|kind| sum(&counts, kind)).sum()
    }

    fn is_on(&self, hook: &str) -> bool {
        self.hooks.iter().any(|(name, _, off)| *name == hook && off.is_none())
    }

    fn value<T: Copy + 'static, K: aya::Pod>(&self, map: &str, key: K) -> Result<Option<T>> {
        let map = self.ebpf.map(map).with_context(|| format!("bug: no map `{map}`"))?;
        match HashMap::<_, K, Value<T>>::try_from(map)?.get(&key, 0) {
            Ok(value) => Ok(Some(value.0)),
            Err(MapError::KeyNotFound) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

fn waits(events: &ListenerEvents) -> Histogram {
    let counts: Vec<u64> = events.buckets.iter().copied().map(u64::from).collect();
    // The smallest is not kept: the lower end of the lowest bucket stands for it.
    Histogram::from_parts(KERNEL, events.waits, events.wait_total_ns, 0, events.wait_max_ns, counts)
}
