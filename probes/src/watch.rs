//! Value types of the maps in `src/bin/watch.rs`.

use crate::bucket::BUCKETS;

/// What the probes saw of one listener, by its socket cookie.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ListenerEvents {
    /// Segments dropped at the final ACK because the accept queue was full. Each moved the socket's drop counter by 2.
    pub dropped_at_ack: u64,
    /// Segments of handshakes that were answered or ignored, not refused: a SYN that came twice, the bare ACK that
    /// `TCP_DEFER_ACCEPT` does not wait for. Each moved the socket's drop counter by 1 all the same.
    pub discarded: u64,
    /// SYN-ACKs sent again.
    pub syn_ack_retransmits: u64,
    /// Connections whose wait in the accept queue was measured.
    pub waits: u64,
    /// Sum and largest of the waits.
    pub wait_total_ns: u64,
    /// Largest wait.
    pub wait_max_ns: u64,
    /// Backlog given to the last `listen` that was seen, plus one; 0 when none was.
    pub asked_plus_one: u64,
    /// Waits by bucket ([`crate::bucket::index_ns`]).
    pub buckets: [u32; BUCKETS],
}

/// What the probes saw of one network namespace, by its inode.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct NetnsEvents {
    /// SYNs sent again by clients.
    pub syn_retransmits: u64,
    /// SYN-ACKs sent again by listeners.
    pub syn_ack_retransmits: u64,
}

/// Listeners that are kept apart; those of the whole host count.
pub const LISTENERS: u32 = 4096;

/// Network namespaces that are kept apart.
pub const NAMESPACES: u32 = 1024;

/// Connections that may wait for accept at one time, over all listeners.
pub const WAITING: u32 = 1 << 18;

/// What was not counted.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lost {
    /// A listener, because the map was full.
    Listener,
    /// A namespace, because the map was full.
    Namespace,
    /// The start of a wait, because too many connections were waiting.
    WaitStart,
    /// A wait whose listener could not be found: its descriptor was closed or replaced while accept slept.
    Accept,
}

/// Number of [`Lost`] kinds.
pub const LOST: u32 = 4;
