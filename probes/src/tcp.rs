//! Value types of the maps in `src/bin/tcp.rs`.

/// TCP states have numbers below this (v6.18 `include/net/tcp_states.h`).
pub const STATES: u32 = 16;

/// `TCP_SYN_SENT`.
pub const SYN_SENT: u8 = 2;

/// Place of a state change in the per-CPU array of counts.
#[inline(always)]
#[must_use]
pub const fn transition_index(old: u32, new: u32) -> u32 {
    (old % STATES) * STATES + new % STATES
}

/// Retransmitted segments by kind.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retransmit {
    /// A client's SYN.
    Syn,
    /// A listener's SYN-ACK.
    SynAck,
    /// Anything later in a connection's life.
    Data,
}

/// Number of [`Retransmit`] kinds.
pub const RETRANSMITS: u32 = 3;
