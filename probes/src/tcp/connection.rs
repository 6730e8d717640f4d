//! What is kept of one end of a connection, in the kernel's table and in the record at its end.

use super::STATES;

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

/// One end of a connection. What is touched together shares a cache line: most changes of state touch the first alone.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Connection {
    /// `struct sock *` while the connection is followed, by which its record is found; used again within microseconds.
    pub socket: u64,
    /// `CLOCK_MONOTONIC` when it entered each state, by the state's number less 1; 0 when it did not, or before the start.
    pub entered_ns: [u64; 11],
    /// From which state it came to each: four bits at four times the state's number.
    pub came_from: u64,
    /// When the first byte for its reader came in; 0 when that was not seen.
    pub first_byte_ns: u64,
    /// Bits of [`flag`].
    pub flags: u32,
    /// The process that connected or accepted, by the initial pid namespace; 0 when not known.
    pub tgid: u32,
    /// [`UNTRACED`], or the group's number and one.
    pub group: u32,
    /// Port of this end.
    pub source_port: u16,
    /// Port of the other end.
    pub destination_port: u16,
    /// Address of this end.
    pub source: [u8; ADDRESS_BYTES],
    /// Address of the other end.
    pub destination: [u8; ADDRESS_BYTES],
    /// Command name of the process `tgid`, filled with zeroes.
    pub comm: [u8; COMM_BYTES],
    /// Socket cookie, which is never used again.
    pub cookie: u64,
    /// Cookie of the listener it came from; 0 when not known.
    pub listener: u64,
    /// When accept returned it to a traced process; 0 when that was not seen.
    pub accepted_ns: u64,
    /// Bytes received, and the FIN as one.
    pub received_bytes: u64,
    /// Bytes sent, those sent again counted once.
    pub sent_bytes: u64,
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
    /// Nothing, up to whole cache lines.
    pub reserved: [u64; 2],
}

const _: () = assert!(
    size_of::<Connection>() == 256
        && core::mem::offset_of!(Connection, source) == 128
        && core::mem::offset_of!(Connection, destination) == 144
        && core::mem::offset_of!(Connection, comm) == 160
);

impl Connection {
    /// Nothing known.
    pub const EMPTY: Self = Self {
        socket: 0,
        entered_ns: [0; 11],
        came_from: 0,
        first_byte_ns: 0,
        flags: 0,
        tgid: 0,
        group: UNTRACED,
        source_port: 0,
        destination_port: 0,
        source: [0; ADDRESS_BYTES],
        destination: [0; ADDRESS_BYTES],
        comm: [0; COMM_BYTES],
        cookie: 0,
        listener: 0,
        accepted_ns: 0,
        received_bytes: 0,
        sent_bytes: 0,
        error: 0,
        syn_retransmits: 0,
        syn_ack_retransmits: 0,
        retransmits: 0,
        handshake_us: 0,
        queue_before: 0,
        reserved: [0; 2],
    };

    /// Notes a change of state. `false` where that tells nothing new: the state was entered before, or is none.
    #[inline(always)]
    #[must_use]
    pub fn enter(&mut self, old: u32, new: u32, now: u64) -> bool {
        // Without the black box LLVM proves more than the verifier can follow.
        let Some(entered) = self.entered_ns.get_mut(core::hint::black_box(new.wrapping_sub(1)) as usize) else {
            return false;
        };
        let is_first = *entered == 0;
        *entered = now;
        if is_first {
            self.came_from |= u64::from(old % STATES) << (4 * new % 64);
        }
        is_first
    }

    /// The change into a state, as the state before and this one; `None` when none is noted.
    #[inline(always)]
    #[must_use]
    pub fn change_into(&self, new: u32) -> Option<(u32, u32)> {
        let entered = *self.entered_ns.get(new.wrapping_sub(1) as usize)?;
        (entered > 0).then_some(((self.came_from >> (4 * new) & 15) as u32, new))
    }

    /// The changes of state that it has noted, by the states that they led into.
    pub fn changes(&self) -> impl Iterator<Item = (u32, u32)> {
        (1..STATES).filter_map(|new| self.change_into(new))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_change_is_either_noted_or_said_to_be_none() {
        let mut connection = Connection::EMPTY;
        let life = [(7, 2, true), (2, 1, true), (1, 8, true), (8, 9, true), (9, 8, false), (9, 7, true), (7, 0, false)];
        for (at, &(old, new, is_new)) in life.iter().enumerate() {
            assert_eq!(connection.enter(old, new, 100 + at as u64), is_new, "{old} to {new}");
        }
        assert!(!connection.enter(7, 12, 200) && !connection.enter(7, u32::MAX, 200));
        let mut noted = [(0, 0); 5];
        let count = connection.changes().zip(&mut noted).map(|(change, place)| *place = change).count();
        assert_eq!((count, noted), (5, [(2, 1), (7, 2), (9, 7), (1, 8), (8, 9)]));
        assert_eq!(connection.entered_ns[8 - 1], 104, "the last time counts");
    }
}
