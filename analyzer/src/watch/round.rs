//! What is shown at one time: the one thing that all renderers get, and the form of `--json`.

use std::{collections::VecDeque, net::SocketAddr};

use serde::Serialize;

/// One interval of everything that is watched.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Round {
    /// When it ended, in UTC.
    pub(crate) time: String,
    /// Its length.
    pub(crate) interval_s: f64,
    /// Time since the start of watch.
    pub(crate) elapsed_s: f64,
    pub(crate) namespaces: Vec<NetnsRound>,
    /// What cannot be told here, and why.
    pub(crate) missing: Vec<String>,
    /// Events that the probes could not count; `None` without probes.
    pub(crate) lost: Option<u64>,
}

/// One network namespace.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct NetnsRound {
    /// Its inode, as `readlink /proc/PID/ns/net` shows it.
    pub(crate) netns: u64,
    /// How it was named on the command line, or a process in it.
    pub(crate) name: Option<String>,
    pub(crate) listeners: Vec<Row>,
    pub(crate) groups: Vec<Group>,
    pub(crate) host: Host,
}

/// One listening socket.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Row {
    pub(crate) address: SocketAddr,
    /// As `ss -e` shows it after `sk:`.
    pub(crate) cookie: u64,
    pub(crate) netns: u64,
    pub(crate) owner: Option<String>,
    /// Place in the namespace's `groups`, when several sockets share the address.
    pub(crate) group: Option<usize>,
    /// Connections that wait for accept.
    pub(crate) queue: u32,
    /// Most that were seen waiting since the start.
    pub(crate) high: u32,
    /// Backlog given to `listen`, when that was seen.
    pub(crate) asked: Option<u32>,
    /// Backlog in force, at most `somaxconn`.
    pub(crate) limit: u32,
    /// Share of what the queue can hold, which is one more than the limit.
    pub(crate) fill: f64,
    /// Connection attempts dropped since the start, and how they divide up.
    pub(crate) drops: u64,
    pub(crate) drops_per_s: f64,
    pub(crate) causes: Causes,
    /// The socket's own drop counter: since it was made.
    pub(crate) drops_ever: u32,
    /// Segments of half-open connections that were answered or ignored, not refused, since the start: in the socket's
    /// own counter, not in the drops. `None` without the probes, when they are in both.
    pub(crate) put_aside: Option<u64>,
    /// SYN cookies sent since the start; `None` when there are others in the namespace that may have sent them.
    pub(crate) cookies: Option<u64>,
    pub(crate) syn_ack_retransmits: Option<u64>,
    /// Time from the end of the handshake to accept's return; `None` without the probes.
    pub(crate) accept_wait: Option<Waits>,
    /// Closed since; shown on because it dropped connections.
    pub(crate) gone: bool,
    #[serde(skip)]
    pub(crate) recent: Recent,
}

/// Why connection attempts were dropped. The sum is [`Row::drops`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Causes {
    /// The accept queue was full when the SYN came.
    pub(crate) accept_queue_at_syn: u64,
    /// The accept queue was full when the final ACK came; `None` without the probes, where it is among the others.
    pub(crate) accept_queue_at_ack: Option<u64>,
    /// The SYN queue was full and no cookie was sent.
    pub(crate) syn_queue: u64,
    /// Another cause, or one that cannot be told.
    pub(crate) other: u64,
}

/// Waits in the accept queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Waits {
    pub(crate) since_start: Wait,
    /// Over the last [`super::waits::WINDOW`] intervals.
    pub(crate) recent: Wait,
}

/// A distribution in short. Percentiles need enough samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Wait {
    pub(crate) count: u64,
    pub(crate) p50_ns: Option<u64>,
    pub(crate) p90_ns: Option<u64>,
    pub(crate) p99_ns: Option<u64>,
    pub(crate) max_ns: Option<u64>,
}

/// The last intervals, oldest first: most that waited, and drops.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recent {
    pub(crate) queue: VecDeque<u64>,
    pub(crate) drops: VecDeque<u64>,
}

/// Sockets that share an address.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Group {
    pub(crate) address: SocketAddr,
    pub(crate) netns: u64,
    pub(crate) members: usize,
    pub(crate) queue: u64,
    pub(crate) limit: u64,
    pub(crate) fill: f64,
    pub(crate) drops: u64,
    pub(crate) drops_per_s: f64,
    /// Members that hold as many connections as they can, and so lose what is steered to them.
    pub(crate) full: usize,
}

/// A counter of a namespace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Count {
    pub(crate) since_start: i64,
    pub(crate) per_s: f64,
}

/// The TCP of one namespace as a whole.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Host {
    pub(crate) listen_overflows: Count,
    pub(crate) listen_drops: Count,
    /// `TCPReqQFullDrop`.
    pub(crate) syn_queue_drops: Count,
    /// `TCPReqQFullDoCookies`.
    pub(crate) cookies: Count,
    /// `TCPSynRetrans`: SYNs and SYN-ACKs.
    pub(crate) handshake_retransmits: Count,
    /// Apart; `None` without the probes.
    pub(crate) syn_retransmits: Option<Count>,
    pub(crate) syn_ack_retransmits: Option<Count>,
    /// Sockets in `TIME_WAIT` now, and how many came to be.
    pub(crate) time_wait: u64,
    pub(crate) time_wait_made: Count,
    /// Ports for outgoing connections, and how many sockets there are that could hold one.
    pub(crate) port_range: Option<(u16, u16)>,
    pub(crate) ports_at_most: u64,
    /// Limit of what `listen` may ask for.
    pub(crate) somaxconn: Option<u64>,
    /// Of the whole machine.
    pub(crate) orphans: u64,
    pub(crate) max_orphans: Option<u64>,
    pub(crate) memory_pages: u64,
    /// From here on TCP saves memory.
    pub(crate) memory_pressure_pages: Option<u64>,
    pub(crate) memory_pressures: Count,
}

impl Round {
    /// Leaves out what is on other ports; no ports leave everything.
    pub(crate) fn keep_ports(&mut self, ports: &[u16]) {
        let wanted = |address: SocketAddr| ports.is_empty() || ports.contains(&address.port());
        for netns in &mut self.namespaces {
            netns.listeners.retain(|row| wanted(row.address));
            netns.groups.retain(|group| wanted(group.address));
        }
    }
}

impl Host {
    /// Number of ports for outgoing connections to one destination from one source.
    pub(crate) fn ports(&self) -> Option<u64> {
        self.port_range.map(|(low, high)| u64::from(high.saturating_sub(low)) + 1)
    }
}

/// Share of what an accept queue can hold: one more than its limit.
pub(crate) fn fill(queue: u64, limit: u64, sockets: u64) -> f64 {
    queue as f64 / (limit + sockets).max(1) as f64
}
