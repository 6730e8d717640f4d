//! The life of one end of a connection: begun, moved on, ended.

use aya_ebpf::{bindings::BPF_RB_NO_WAKEUP, helpers::bpf_ktime_get_ns};
use probes::{
    kernel::counting::add_one_interruptibly,
    tcp::{Connection, Counter, flag, state, transition_index},
};

use crate::{
    maps::{
        COUNTS, ENDED, INET_SPORT, NEWBORN, SOCK_ACK_BACKLOG, SOCK_DPORT, SOCK_ERR, SOCK_FLAGS, SOCK_NUM,
        TCP_BYTES_RECEIVED, TCP_BYTES_RETRANS, TCP_BYTES_SENT, TCP_SEGS_OUT, TCP_SRTT_US, TCP_TOTAL_RETRANS,
        TRANSITIONS, count,
    },
    process,
    socket::Sock,
    table,
};

/// Bit of `sk_flags` that is set when the other end's FIN has come (v6.18 `SOCK_DONE`, set by `tcp_fin`).
const SOCK_DONE: u64 = 1 << 1;

#[inline(always)]
pub fn now() -> u64 {
    // SAFETY: takes nothing, returns a number.
    unsafe { bpf_ktime_get_ns() }
}

/// The socket's connection; one that is met for the first time was there before the start, and is followed from now on.
#[inline(always)]
pub fn of(sock: Sock) -> Option<&'static mut Connection> {
    if let Some(known) = table::find(sock.key()) {
        return Some(known);
    }
    // In `CLOSE` it has ended already: what comes after `tcp_destroy_sock` begins nothing.
    if matches!(sock.state(), state::LISTEN | state::TIME_WAIT | state::CLOSE) || sock.state() > state::CLOSING {
        return None;
    }
    // Once connections were let go it could as well be one of them.
    if COUNTS.get(Counter::LetGo as u32).is_none_or(|&let_go| let_go > 0) {
        return None;
    }
    let connection = begin(sock)?;
    connection.flags = flag::BEFORE_START;
    addresses(sock, connection);
    Some(connection)
}

/// `connect()` of the process that runs now. The local port is not chosen yet.
#[inline(always)]
pub fn connecting(sock: Sock, old: u32, now: u64) {
    // The same socket may connect once more.
    end(sock.key());
    let Some(connection) = begin(sock) else { return changed(old, state::SYN_SENT) };
    connection.flags = flag::ACTIVE;
    enter(connection, old, state::SYN_SENT, now);
    connection.destination_port = u16::from_be(sock.read(&SOCK_DPORT));
    sock.destination(&mut connection.destination);
    process::own(connection);
}

/// A listener made this socket from the final ACK of a handshake. Whoever is current has nothing to do with it.
#[inline(always)]
pub fn accepting(sock: Sock, now: u64) {
    let Some(connection) = begin(sock) else { return changed(state::LISTEN, state::SYN_RECV) };
    enter(connection, state::LISTEN, state::SYN_RECV, now);
    // A copy of the listener's, made before this one was queued (v6.18 sk_clone).
    connection.queue_before = sock.read(&SOCK_ACK_BACKLOG);
    if let Some(newborn) = NEWBORN.get_ptr_mut(0) {
        // SAFETY: per-CPU memory, and what runs until the listener is woken is this.
        unsafe { *newborn = sock.key() }
    }
}

/// A record for a socket, with nothing in it but the name.
#[inline(always)]
fn begin(sock: Sock) -> Option<&'static mut Connection> {
    let Some(connection) = table::take(sock.key()) else {
        count(Counter::LetGo);
        return None;
    };
    connection.cookie = sock.cookie();
    Some(connection)
}

/// Whoever reads the record counts the changes of state in it; what it cannot take is counted here.
#[inline(always)]
fn enter(connection: &mut Connection, old: u32, new: u32, now: u64) {
    if !connection.enter(old, new, now) {
        changed(old, new);
    }
}

/// Counts a change of state of which no record tells.
#[inline(never)]
pub fn changed(old: u32, new: u32) {
    add_one_interruptibly(&TRANSITIONS, transition_index(old, new));
}

/// Into another state.
#[inline(always)]
pub fn moved(sock: Sock, old: u32, new: u32, now: u64) {
    let Some(connection) = of(sock) else { return changed(old, new) };
    enter(connection, old, new, now);
    match new {
        state::ESTABLISHED => established(sock, connection),
        state::CLOSE => closed(sock, connection),
        // Only close() and shutdown() lead here.
        state::FIN_WAIT1 | state::LAST_ACK if connection.tgid == 0 => process::own(connection),
        _ => {}
    }
}

#[inline(always)]
fn established(sock: Sock, connection: &mut Connection) {
    addresses(sock, connection);
    if connection.flags & flag::ACTIVE != 0 {
        return;
    }
    let Some(tcp) = sock.tcp() else { return };
    // Before a connection has sent anything of its own these are the handshake's (v6.18 tcp_check_req).
    connection.syn_ack_retransmits = tcp.read::<u32>(&TCP_TOTAL_RETRANS);
    connection.handshake_us = tcp.read::<u32>(&TCP_SRTT_US) >> 3;
}

#[inline(always)]
fn addresses(sock: Sock, connection: &mut Connection) {
    connection.source_port = sock.read(&SOCK_NUM);
    connection.destination_port = u16::from_be(sock.read(&SOCK_DPORT));
    sock.source(&mut connection.source);
    sock.destination(&mut connection.destination);
}

/// Now, because a disconnect clears these figures before the socket is destroyed.
#[inline(always)]
fn closed(sock: Sock, connection: &mut Connection) {
    connection.error = sock.read::<u32>(&SOCK_ERR);
    if sock.read::<u64>(&SOCK_FLAGS) & SOCK_DONE != 0 {
        connection.flags |= flag::FIN_RECEIVED;
    }
    let Some(tcp) = sock.tcp() else { return };
    if connection.source_port == 0 {
        // `skc_num` is 0 by now.
        connection.source_port = u16::from_be(tcp.read(&INET_SPORT));
        sock.source(&mut connection.source);
    }
    connection.received_bytes = tcp.read(&TCP_BYTES_RECEIVED);
    connection.sent_bytes = tcp.read::<u64>(&TCP_BYTES_SENT).wrapping_sub(tcp.read(&TCP_BYTES_RETRANS));
    if tcp.read::<u32>(&TCP_SEGS_OUT) == 0 {
        connection.flags |= flag::NOTHING_SENT;
    }
}

/// Sends the record of a connection to user space and forgets it.
#[inline(always)]
pub fn end(key: u64) {
    let Some(connection) = table::find(key) else { return };
    if ENDED.output::<Connection>(&*connection, u64::from(BPF_RB_NO_WAKEUP)).is_err() {
        lost(connection);
    }
    table::release(key);
}

/// A record for which there was no place: its changes of state are still counted.
#[inline(never)]
fn lost(connection: &Connection) {
    count(Counter::RecordLost);
    // Linux 6.1 refuses loops as LLVM lays this one out.
    macro_rules! count_changes_into {
        ($($new:literal)*) => { $(
            if let Some((old, new)) = connection.change_into($new) {
                changed(old, new);
            }
        )* };
    }
    count_changes_into!(1 2 3 4 5 6 7 8 9 10 11);
}

/// For whoever has no [`Sock`], only its address.
#[inline(always)]
pub fn accepted(key: u64) -> bool {
    let Some(connection) = table::find(key) else { return false };
    connection.accepted_ns = now();
    process::own(connection);
    true
}
