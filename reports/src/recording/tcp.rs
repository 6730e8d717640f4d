//! TCP in the network namespace of a run: the kernel's counters, and what the probes saw of each connection.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::histogram::Histogram;

/// TCP in one network namespace, from the kernel's own counters and from the TCP probes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tcp {
    /// Inode of the network namespace.
    pub netns: u64,
    /// How far each counter of `/proc/net/snmp` (Tcp) and `/proc/net/netstat` (`TcpExt`) moved; absent means it did not.
    pub counters: BTreeMap<String, i64>,
    /// Sockets in `TIME_WAIT` before and after.
    pub time_wait: (u64, u64),
    /// State changes counted by `inet_sock_set_state`; `None` when that probe is off.
    pub transitions: Option<Vec<Transition>>,
    /// Retransmitted segments counted by the probes; `None` when they are off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retransmits: Option<Retransmits>,
    /// Connections that were followed one by one; `None` where that is off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tracked: Option<Tracked>,
    /// Attempts to connect, by who, where to, and outcome.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub connects: Vec<Connects>,
    /// Listening sockets of the namespace.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub listeners: Vec<ListenerQueue>,
    /// Time that followed connections spent in each state.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub states: Vec<StateTime>,
    /// Who ended connections, and how; one row for each side.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub closes: Vec<Closes>,
    /// Whole lives of the followed connections that ended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lifetimes: Vec<Lifetimes>,
    /// Peers with whom most connections were made.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub peers: Vec<Peer>,
    /// Local ports taken towards each destination, at the end of the run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ports: Vec<PortUse>,
}

/// How often sockets went from one state to another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Transition {
    /// State before, in the kernel's spelling.
    pub from: String,
    /// State after.
    pub to: String,
    /// Times.
    pub count: u64,
}

/// Retransmitted segments by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Retransmits {
    /// SYNs.
    pub syn: u64,
    /// SYN-ACKs.
    pub syn_ack: u64,
    /// Segments of established or closing connections.
    pub data: u64,
    /// Tail-loss probes (TcpExt.TCPLossProbes), where the kernel tells: in `data` unless they sent something new.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tail_loss_probes: Option<u64>,
}

/// How many connections were followed one by one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tracked {
    /// Ends of connections followed from their first state.
    pub from_birth: u64,
    /// Ends that were there before the start; only what they did since is known.
    pub before_start: u64,
    /// Still open at the end.
    pub open: u64,
    /// Ends not followed because too many were: `transitions` has them, nothing else does.
    pub let_go: u64,
    /// Followed ends whose record did not reach us because it was not fetched in time.
    #[serde(default)]
    pub lost: u64,
}

/// Which end of a connection a socket is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    /// The end that connected.
    Active,
    /// The end that accepted.
    Passive,
    /// It was there before the start.
    Unknown,
}

/// How an attempt to connect came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// The three-way handshake was done.
    Established,
    /// Answered by a reset.
    Refused,
    /// Broken by a reset otherwise.
    Reset,
    /// Broken by an ICMP error, such as no route to the host.
    Unreachable,
    /// The kernel gave up sending SYNs.
    TimedOut,
    /// Closed by its owner before an answer.
    Cancelled,
    /// Nothing was sent: no free local port (EADDRNOTAVAIL), no memory, or no way out.
    NotSent,
    /// No answer yet at the end of the run.
    InProgress,
}

/// Attempts to connect with one outcome.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Connects {
    /// `server`, `client`, or `other` for processes that were not traced.
    pub group: String,
    /// Address and port.
    pub destination: String,
    /// How they came out.
    pub outcome: Outcome,
    /// SYN_SENT to the outcome (or to the end of the run), in ns: the network's time. Its count is the number of attempts.
    pub latency: Histogram,
    /// SYNs that were sent again.
    pub syn_retransmits: u64,
    /// From established to the first byte received, in ns; `None` when that probe is off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_byte: Option<Histogram>,
}

/// One listening socket over a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListenerQueue {
    /// Address and port.
    pub address: String,
    /// Socket cookie, as `ss -e` shows it (`sk:`).
    pub cookie: u64,
    /// Process that holds it, as `PID/NAME`, when known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// It shares its address with others (`SO_REUSEPORT`).
    #[serde(default)]
    pub reuseport: bool,
    /// Backlog in force: it holds one more than this; `None` for a listener that came and went within the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// Most that waited at once, looked at whenever a connection came in.
    pub queue_high: u32,
    /// Attempts dropped during the run, retried ones counted again. From `sk_drops`, which counts more: those at the final
    /// ACK twice, and bare ACKs while accept is deferred. That is put right here unless the probe that sees it is off.
    /// `None` for a listener that was closed before the end, with which its counter went.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drops: Option<u64>,
    /// Of `drops`, those at the final ACK of the handshake; `None` when the probe is off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drops_at_final_ack: Option<u64>,
    /// Connections that came into its queue.
    pub established: u64,
    /// Of them, those that a traced process accepted: [`Self::accept_wait`] has as many values.
    #[serde(default)]
    pub accepted: u64,
    /// SYN-ACKs that were sent again.
    #[serde(default)]
    pub syn_ack_retransmits: u64,
    /// SYN-ACK sent to final ACK received as the kernel measures it, in ns but in steps of 1,000; without those whose
    /// SYN-ACK was sent again, and without SYN cookies.
    pub handshake: Histogram,
    /// Established to accept's return, in ns.
    pub accept_wait: Histogram,
    /// Accept's return to the first byte received, in ns; 0 when the byte was there first. `None` when that probe is off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_byte: Option<Histogram>,
}

/// Time in one state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StateTime {
    /// State, in the kernel's spelling.
    pub state: String,
    /// End of the connection.
    pub side: Side,
    /// Time in it, in ns, of connections that left it.
    pub time: Histogram,
}

/// How the followed ends of one side ended. Where both ends of a connection are in the namespace, each counts on its side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Closes {
    /// End of the connection.
    pub side: Side,
    /// It sent its FIN first.
    pub by_itself: u64,
    /// The other end sent its FIN first.
    pub by_peer: u64,
    /// Both at once (`CLOSING`).
    pub simultaneous: u64,
    /// Without a FIN: reset, timed out, or thrown away by the kernel.
    pub without_fin: u64,
    /// It received a reset, whatever had been before.
    pub resets_received: u64,
    /// It sent a reset, whatever had been before.
    pub resets_sent: u64,
    /// Of those sent, by a close with linger 0 or with unread data.
    pub aborted_by_close: u64,
    /// Went from `FIN_WAIT2` or `CLOSING` to `CLOSE` with the other end's FIN there: what `TIME_WAIT` needs.
    pub into_time_wait: u64,
}

/// Whole lives of connections on one side.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lifetimes {
    /// End of the connection.
    pub side: Side,
    /// Established to closed, in ns.
    pub duration: Histogram,
    /// Bytes received by each.
    pub received_bytes: Histogram,
    /// Bytes sent by each, those sent again counted once.
    pub sent_bytes: Histogram,
    /// Segments sent again, of all of them, SYNs and SYN-ACKs not counted.
    #[serde(default)]
    pub retransmits: u64,
}

/// One remote address, and how often it was used: the input for a keep-alive estimate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Peer {
    /// Our end: of an active one the peer is a server, of a passive one a client.
    pub side: Side,
    /// Address and port of a server, address alone of a client.
    pub address: String,
    /// Connections made with it.
    pub connections: u64,
    /// From the end of the latest connection before to the start of the next one, in ns (0 when they overlap).
    pub gap: Histogram,
}

/// Local ports towards one destination.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PortUse {
    /// Local address.
    pub source: String,
    /// Destination's address and port.
    pub destination: String,
    /// Ports taken, `TIME_WAIT` included.
    pub in_use: u32,
    /// Ports in `ip_local_port_range`.
    pub available: u32,
}

impl Tcp {
    /// How far a kernel counter moved, by a name such as `TcpExt.ListenOverflows`.
    #[must_use]
    pub fn counter(&self, name: &str) -> i64 {
        self.counters.get(name).copied().unwrap_or(0)
    }

    /// Times that sockets went from one state to another.
    #[must_use]
    pub fn transition(&self, from: &str, to: &str) -> u64 {
        let same = self.transitions.iter().flatten().filter(|change| change.from == from && change.to == to);
        same.fold(0, |total, change| total.saturating_add(change.count))
    }
}
