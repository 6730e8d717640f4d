//! Follows the TCP connections of one network namespace, each end by itself.
//!
//! | program | hook | does |
//! |---|---|---|
//! | `inet_sock_set_state` | tp_btf | counts each pair of states, begins a connection and moves it on |
//! | `tcp_destroy_sock` | tp_btf | sends the connection's record to user space |
//! | `tcp_retransmit_skb`, `tcp_retransmit_synack` | tp_btf | count what is sent again |
//! | `tcp_send_reset`, `tcp_receive_reset` | tp_btf | note resets |
//! | `sk_data_ready` | tp_btf, since Linux 6.2 | the first byte; which listener a new connection came from |
//! | `kfree_skb` | tp_btf | final ACKs that a full accept queue dropped, where the kernel tells |
//! | `accepted` | called by `sys_exit` of the system-call probes | the moment of accept's return, and the owner |
//! | `task_newtask` | tp_btf | marks the children of marked threads |
//!
//! Key: the socket's address, from its birth to `tcp_destroy_sock`. Cost: `scripts/bench-tcp-overhead`.
//! Misses: `TIME_WAIT`, which is not a state of these sockets (one that enters it goes to `CLOSE` here); what
//! [`probes::tcp::Counter`] counts as let go or lost; accept's return in processes that are not traced.
#![no_std]
#![no_main]
#![allow(missing_docs, unreachable_pub, reason = "the program macro makes public wrappers")]

mod life;
mod maps;
mod process;
mod socket;
mod table;

use aya_ebpf::{bindings::BPF_NOEXIST, cty::c_void, macros::btf_tracepoint, programs::BtfTracePointContext};
use probes::{
    ABSENT,
    kernel::{
        atomic,
        member::{self, current_task},
    },
    tcp::{Counter, Listener, UNTRACED, flag, state},
};

use crate::{
    maps::{
        DROP_NAMES_SOCKET, FDT_FD, FILE_PRIVATE_DATA, FILES_FDT, LISTENERS, MARKS, MPTCP_FIRST, NEWBORN,
        REASON_LISTEN_OVERFLOW, REASON_TCP_FLAGS, SOCK_FLAGS, SOCKET_SK, TASK_FILES, TCP_BYTES_RECEIVED,
        TCP_COPIED_SEQ, TCP_RCV_NXT, count,
    },
    socket::{Sock, peek},
};

#[unsafe(link_section = "license")]
#[unsafe(no_mangle)]
static LICENSE: [u8; 13] = *b"Dual MIT/GPL\0";

#[btf_tracepoint(function = "inet_sock_set_state")]
fn inet_sock_set_state(ctx: BtfTracePointContext) -> i32 {
    let Some(sock) = Sock::of_interest(ctx.arg(0)) else { return 0 };
    let (old, new): (u32, u32) = (ctx.arg(1), ctx.arg(2));
    // First: reading the clock waits for every load before it, and the one of the record is mostly from far away.
    let now = life::now();
    match (old, new) {
        (_, state::SYN_SENT) => life::connecting(sock, old, now),
        (state::LISTEN, state::SYN_RECV) => life::accepting(sock, now),
        (state::LISTEN, _) | (_, state::LISTEN) => life::changed(old, new),
        _ => life::moved(sock, old, new, now),
    }
    0
}

#[btf_tracepoint(function = "tcp_destroy_sock")]
fn tcp_destroy_sock(ctx: BtfTracePointContext) -> i32 {
    if let Some(sock) = Sock::of_interest(ctx.arg(0)) {
        life::end(sock.key());
    }
    0
}

#[btf_tracepoint(function = "tcp_retransmit_skb")]
fn tcp_retransmit_skb(ctx: BtfTracePointContext) -> i32 {
    let Some(sock) = Sock::of_interest(ctx.arg(0)) else { return 0 };
    let is_syn = sock.state() == state::SYN_SENT;
    count(if is_syn { Counter::SynRetransmit } else { Counter::DataRetransmit });
    if let Some(connection) = life::of(sock) {
        if is_syn {
            connection.syn_retransmits += 1;
        } else {
            connection.retransmits += 1;
        }
    }
    0
}

#[btf_tracepoint(function = "tcp_retransmit_synack")]
fn tcp_retransmit_synack(ctx: BtfTracePointContext) -> i32 {
    if let Some(listener) = Sock::of_interest(ctx.arg(0)) {
        count(Counter::SynAckRetransmit);
        if let Some(listener) = listener_of(listener) {
            atomic::add(&mut listener.syn_ack_retransmits, 1);
        }
    }
    0
}

#[btf_tracepoint(function = "kfree_skb")]
fn kfree_skb(ctx: BtfTracePointContext) -> i32 {
    // Pruned where the argument is not there.
    if DROP_NAMES_SOCKET.load() == 0 {
        return 0;
    }
    let reason: u32 = ctx.arg(2);
    // A stray segment that a listener answers with a reset is not in `sk_drops` (v6.18 tcp_v4_do_rcv).
    if reason == REASON_TCP_FLAGS.load() {
        return 0;
    }
    let Some(sock) = Sock::of_interest(ctx.arg(3)).filter(|sock| sock.state() == state::LISTEN) else { return 0 };
    if let Some(listener) = listener_of(sock) {
        atomic::add(&mut listener.dropped_segments, 1);
        if reason == REASON_LISTEN_OVERFLOW.load() {
            atomic::add(&mut listener.final_ack_drops, 1);
        }
    }
    0
}

/// What is kept of a listener in trouble; several CPUs may count for one at the same time.
#[inline(always)]
fn listener_of(sock: Sock) -> Option<&'static mut Listener> {
    let cookie = sock.cookie();
    if LISTENERS.get_ptr_mut(&cookie).is_none() {
        let _ = LISTENERS.insert(&cookie, &Listener::default(), u64::from(BPF_NOEXIST));
    }
    // SAFETY: the value stays as long as the program runs.
    LISTENERS.get_ptr_mut(&cookie).map(|listener| unsafe { &mut *listener })
}

#[btf_tracepoint(function = "tcp_receive_reset")]
fn tcp_receive_reset(ctx: BtfTracePointContext) -> i32 {
    if let Some(connection) = Sock::of_interest(ctx.arg(0)).and_then(life::of) {
        connection.flags |= flag::RESET_RECEIVED;
    }
    0
}

#[btf_tracepoint(function = "tcp_send_reset")]
fn tcp_send_reset(ctx: BtfTracePointContext) -> i32 {
    // Null where no socket asked for the segment that is answered.
    if let Some(connection) = Sock::of_interest(ctx.arg(0)).and_then(life::of) {
        connection.flags |= flag::RESET_SENT;
        if ctx.arg::<*const c_void>(1).is_null() {
            connection.flags |= flag::RESET_BY_CLOSE;
        }
    }
    0
}

#[btf_tracepoint(function = "sk_data_ready")]
fn sk_data_ready(ctx: BtfTracePointContext) -> i32 {
    let Some(sock) = Sock::of_interest(ctx.arg(0)) else { return 0 };
    if sock.state() == state::LISTEN {
        from_listener(sock);
    } else if is_first_data(sock)
        && let Some(connection) = table::find(sock.key())
        && connection.first_byte_ns == 0
    {
        connection.first_byte_ns = life::now();
    }
    0
}

/// A listener is woken in the same breath in which its connection was made.
#[inline(always)]
fn from_listener(listener: Sock) {
    let Some(newborn) = NEWBORN.get_ptr_mut(0) else { return };
    // SAFETY: per-CPU memory.
    let key = unsafe { core::mem::take(&mut *newborn) };
    if let Some(connection) = table::find(key) {
        connection.listener = listener.cookie();
    }
}

/// Something has come, and nothing was read yet. Told without a look into the map: this hook is on the way of all data.
#[inline(always)]
fn is_first_data(sock: Sock) -> bool {
    let Some(tcp) = sock.tcp() else { return false };
    let received: u64 = tcp.read(&TCP_BYTES_RECEIVED);
    let unread = tcp.read::<u32>(&TCP_RCV_NXT).wrapping_sub(tcp.read(&TCP_COPIED_SEQ));
    // A FIN counts as a byte.
    let fin = sock.read::<u64>(&SOCK_FLAGS) >> 1 & 1;
    unread == received as u32 && received > fin
}

/// The system-call probes go on here when accept has returned a descriptor to a traced thread.
#[btf_tracepoint(function = "sys_exit")]
fn accepted(ctx: BtfTracePointContext) -> i32 {
    let descriptor: i64 = ctx.arg(1);
    let task = current_task();
    // SAFETY: BTF pointers, the offsets are from the kernel's BTF.
    let table = unsafe {
        let files: *const c_void = member::read(task, &TASK_FILES);
        peek(files as u64, FILES_FDT.load())
    };
    let file = peek(peek(table, FDT_FD.load()), (descriptor as u32).wrapping_mul(8));
    let sock = peek(peek(file, FILE_PRIVATE_DATA.load()), SOCKET_SK.load());
    if !life::accepted(sock) && MPTCP_FIRST.load() != ABSENT {
        // Of an MPTCP connection the first subflow was followed. What is read from another socket is no key.
        life::accepted(peek(sock, MPTCP_FIRST.load()));
    }
    0
}

#[btf_tracepoint(function = "task_newtask")]
fn task_newtask(ctx: BtfTracePointContext) -> i32 {
    let group = process::group_of(current_task());
    if group != UNTRACED
        && let Some(mark) = MARKS.get_or_create(ctx.arg(0))
    {
        *mark = group;
    }
    0
}
