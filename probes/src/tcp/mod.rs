//! Value types of the maps in `src/bin/tcp/`.

mod connection;
mod table;

pub use connection::{ADDRESS_BYTES, COMM_BYTES, Connection, UNTRACED, flag};
pub use table::{COLLIDED, DIRECT, direct_place};

/// TCP states have numbers below this (v6.18 `include/net/tcp_states.h`).
pub const STATES: u32 = 16;

/// The states that the programs tell apart, as the kernel numbers them.
pub mod state {
    /// `TCP_ESTABLISHED`.
    pub const ESTABLISHED: u32 = 1;
    /// `TCP_SYN_SENT`.
    pub const SYN_SENT: u32 = 2;
    /// `TCP_SYN_RECV`.
    pub const SYN_RECV: u32 = 3;
    /// `TCP_FIN_WAIT1`.
    pub const FIN_WAIT1: u32 = 4;
    /// `TCP_FIN_WAIT2`.
    pub const FIN_WAIT2: u32 = 5;
    /// `TCP_TIME_WAIT`, which full sockets never have.
    pub const TIME_WAIT: u32 = 6;
    /// `TCP_CLOSE`.
    pub const CLOSE: u32 = 7;
    /// `TCP_CLOSE_WAIT`.
    pub const CLOSE_WAIT: u32 = 8;
    /// `TCP_LAST_ACK`.
    pub const LAST_ACK: u32 = 9;
    /// `TCP_LISTEN`.
    pub const LISTEN: u32 = 10;
    /// `TCP_CLOSING`.
    pub const CLOSING: u32 = 11;
}

/// Place of a state change in the per-CPU array of counts.
#[inline(always)]
#[must_use]
pub const fn transition_index(old: u32, new: u32) -> u32 {
    (old % STATES) * STATES + new % STATES
}

/// What is counted in one array for the whole namespace.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counter {
    /// A client's SYN sent again.
    SynRetransmit,
    /// A listener's SYN-ACK sent again.
    SynAckRetransmit,
    /// Anything sent again later in a connection's life.
    DataRetransmit,
    /// Connections that found no place in the table.
    LetGo,
    /// Ends of connections for which the ring buffer had no place.
    RecordLost,
}

/// Number of [`Counter`]s.
pub const COUNTERS: u32 = 5;

/// What happened to a listener and names no connection.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Listener {
    /// Segments for it that were dropped with an event and counted in its `sk_drops`: that counts an attempt dropped at
    /// the final ACK a second time, and a bare ACK while accept is deferred, which is no attempt dropped.
    pub dropped_segments: u64,
    /// Final ACKs that found the accept queue full.
    pub final_ack_drops: u64,
    /// SYN-ACKs sent again.
    pub syn_ack_retransmits: u64,
}
