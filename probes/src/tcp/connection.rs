//! What is kept of one end of a connection, in the kernel's map and in the record at its end.

/// Bytes of an address: IPv4 ones are mapped into IPv6.
pub const ADDRESS_BYTES: usize = 16;

/// Bytes of a command's name (v6.18 `TASK_COMM_LEN`).
pub const COMM_BYTES: usize = 16;

/// Value of [`Connection::group`] for a process that is not traced; else it is the group's number and one.
pub const UNTRACED: u32 = 0;

/// What happened to a connection, one bit each.
pub mod flag {
    /// It was there before the start: what its state was since, and which end it is, is not known.
    pub const BEFORE_START: u32 = 1;
    /// This end connected.
    pub const ACTIVE: u32 = 2;
    /// A reset came.
    pub const RESET_RECEIVED: u32 = 4;
    /// A reset was sent.
    pub const RESET_SENT: u32 = 8;
    /// That reset was no answer to a segment: a close with linger 0 or with unread data, or the kernel's giving up.
    pub const RESET_BY_CLOSE: u32 = 16;
    /// The other end's FIN had come when it went to `CLOSE`.
    pub const FIN_RECEIVED: u32 = 32;
    /// Not one segment was sent.
    pub const NOTHING_SENT: u32 = 64;
}

/// One end of a connection.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Connection {
    /// Socket cookie, which is never used again; socket pointers are within microseconds.
    pub cookie: u64,
    /// Cookie of the listener it came from; 0 when not known.
    pub listener: u64,
    /// `CLOCK_MONOTONIC` when it entered each state, by the state's number; 0 when it did not, or before the start.
    pub entered_ns: [u64; 12],
    /// When accept returned it to a traced process; 0 when that was not seen.
    pub accepted_ns: u64,
    /// When the first byte for its reader came in; 0 when that was not seen.
    pub first_byte_ns: u64,
    /// Bytes received, and the FIN as one.
    pub received_bytes: u64,
    /// Bytes sent, those sent again counted once.
    pub sent_bytes: u64,
    /// Address of this end.
    pub source: [u8; ADDRESS_BYTES],
    /// Address of the other end.
    pub destination: [u8; ADDRESS_BYTES],
    /// Command name of the process `tgid`, filled with zeroes.
    pub comm: [u8; COMM_BYTES],
    /// The process that connected or accepted, by the initial pid namespace; 0 when not known.
    pub tgid: u32,
    /// [`UNTRACED`], or the group's number and one.
    pub group: u32,
    /// Bits of [`flag`].
    pub flags: u32,
    /// `sk_err` when it went to `CLOSE`.
    pub error: u32,
    /// SYNs sent again.
    pub syn_retransmits: u32,
    /// SYN-ACKs sent again.
    pub syn_ack_retransmits: u32,
    /// Other segments sent again.
    pub retransmits: u32,
    /// SYN-ACK sent to ACK received, in us; 0 when the kernel did not measure it.
    pub handshake_us: u32,
    /// Connections that waited in the accept queue before this one.
    pub queue_before: u32,
    /// Port of this end.
    pub source_port: u16,
    /// Port of the other end.
    pub destination_port: u16,
}

impl Connection {
    /// Nothing known.
    pub const EMPTY: Self = Self {
        cookie: 0,
        listener: 0,
        entered_ns: [0; 12],
        accepted_ns: 0,
        first_byte_ns: 0,
        received_bytes: 0,
        sent_bytes: 0,
        source: [0; ADDRESS_BYTES],
        destination: [0; ADDRESS_BYTES],
        comm: [0; COMM_BYTES],
        tgid: 0,
        group: UNTRACED,
        flags: 0,
        error: 0,
        syn_retransmits: 0,
        syn_ack_retransmits: 0,
        retransmits: 0,
        handshake_us: 0,
        queue_before: 0,
        source_port: 0,
        destination_port: 0,
    };
}
