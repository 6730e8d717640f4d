//! What polling cannot see of listeners, for `analyzer watch`, in every network namespace of the host.
//!
//! | program | hook | does |
//! |---|---|---|
//! | `kfree_skb` | tp_btf | counts what a listener dropped, or only put aside, at the final ACK of a handshake |
//! | `inet_sock_set_state` | tp_btf | notes when a connection comes into an accept queue |
//! | `sys_exit` | tp_btf | at accept's return, adds the wait to the listener's; at listen's, notes the backlog asked for |
//! | `tcp_retransmit_skb`, `tcp_retransmit_synack` | tp_btf | count SYNs and SYN-ACKs sent again |
//!
//! Key: a listener by its socket cookie, a waiting connection by its address until it is accepted or closed.
//! Cost: `sys_exit` is there for every system call of the host, some 30 ns each; the others are rare events.
//! Misses: a SYN dropped because the accept queue or the SYN queue is full, which fires no event that names its
//! listener; connections that waited already when it was attached; accepts by `io_uring`; what [`Lost`] counts.
#![no_std]
#![no_main]
#![allow(missing_docs, unreachable_pub, reason = "the program macro makes public wrappers")]

use core::hint::black_box;

use aya_ebpf::{
    Global,
    bindings::BPF_F_NO_PREALLOC,
    cty::c_void,
    helpers::{bpf_ktime_get_ns, generated::bpf_get_socket_cookie},
    macros::{btf_tracepoint, map},
    maps::{Array, HashMap, PerCpuArray},
    programs::BtfTracePointContext,
};
use probes::{
    ABSENT, bucket,
    kernel::{
        atomic::{add, add_u32},
        counting::add_one,
        descriptors::{Way, read_at, sock_of},
        member::{self, Offset, current_task},
    },
    tcp::state,
    watch::{LISTENERS, LOST, ListenerEvents, Lost, NAMESPACES, NetnsEvents, WAITING},
};

#[unsafe(link_section = "license")]
#[unsafe(no_mangle)]
static LICENSE: [u8; 13] = *b"Dual MIT/GPL\0";

#[map]
static LISTENER_EVENTS: HashMap<u64, ListenerEvents> = HashMap::with_max_entries(LISTENERS, BPF_F_NO_PREALLOC);

/// A listener's first entry is copied from here: it is too large for a program's stack.
#[map]
static NOTHING_YET: Array<ListenerEvents> = Array::with_max_entries(1, 0);

#[map]
static NETNS_EVENTS: HashMap<u32, NetnsEvents> = HashMap::with_max_entries(NAMESPACES, BPF_F_NO_PREALLOC);

/// When each connection came into an accept queue, by the address of its `struct sock`.
#[map]
static WAITING_SINCE: HashMap<u64, u64> = HashMap::with_max_entries(WAITING, BPF_F_NO_PREALLOC);

#[map]
static LOSSES: PerCpuArray<u64> = PerCpuArray::with_max_entries(LOST, 0);

/// `SKB_DROP_REASON_TCP_LISTEN_OVERFLOW`, whose number differs between kernels.
#[unsafe(no_mangle)]
static LISTEN_OVERFLOW: Global<u32> = Global::new(ABSENT);
/// `SKB_DROP_REASON_NOT_SPECIFIED`.
#[unsafe(no_mangle)]
static NOT_SPECIFIED: Global<u32> = Global::new(ABSENT);

#[unsafe(no_mangle)]
static NR_ACCEPT: Global<u32> = Global::new(ABSENT);
#[unsafe(no_mangle)]
static NR_ACCEPT4: Global<u32> = Global::new(ABSENT);
#[unsafe(no_mangle)]
static NR_LISTEN: Global<u32> = Global::new(ABSENT);

macro_rules! offsets {
    ($($name:ident),*) => {
        $(#[unsafe(no_mangle)]
        static $name: Offset = Offset::new(ABSENT);)*
    };
}
offsets!(SOCK_STATE, SOCK_PROTOCOL, SOCK_NET, SOCK_COOKIE, NET_INUM);
// `mptcp_sock.first`: the TCP socket below. Absent without MPTCP.
offsets!(MPTCP_FIRST);
offsets!(REGS_NR, REGS_ARG1, REGS_ARG2, TASK_STATUS);
offsets!(TASK_FILES, FILES_FDT, FDT_FD, FDT_MAX_FDS, FILE_PRIVATE, SOCKET_SK);

const TCP_LISTEN: u8 = 10;
const TCP_CLOSE: u32 = 7;
const IPPROTO_TCP: u16 = 6;
const IPPROTO_MPTCP: u16 = 262;
/// `TS_COMPAT`: the call came through the 32-bit ABI, whose numbers mean other calls.
const TS_COMPAT: u32 = 2;

#[inline(always)]
fn listener_events(cookie: u64) -> Option<&'static mut ListenerEvents> {
    let found = || LISTENER_EVENTS.get_ptr_mut(&cookie);
    let entry = found().or_else(|| {
        // Another CPU may be first: then its entry is the one that is found.
        let _ = LISTENER_EVENTS.insert(&cookie, NOTHING_YET.get(0)?, 1);
        found()
    });
    if entry.is_none() {
        add_one(&LOSSES, Lost::Listener as u32);
    }
    // SAFETY: map memory; members that several CPUs may change are only ever changed by atomic instructions.
    entry.map(|events| unsafe { &mut *events })
}

#[inline(always)]
fn netns_events(net: u32) -> Option<&'static mut NetnsEvents> {
    let found = || NETNS_EVENTS.get_ptr_mut(&net);
    let entry = found().or_else(|| {
        let _ = NETNS_EVENTS.insert(&net, &NetnsEvents::default(), 1);
        found()
    });
    if entry.is_none() {
        add_one(&LOSSES, Lost::Namespace as u32);
    }
    // SAFETY: as above.
    entry.map(|events| unsafe { &mut *events })
}

/// Inode of a socket's network namespace.
#[inline(always)]
fn netns_of(sock: *const c_void) -> Option<u32> {
    // SAFETY: BTF pointers, the offsets are from the kernel's BTF.
    unsafe {
        let net: *const c_void = member::read(sock, &SOCK_NET);
        if net.is_null() { None } else { Some(member::read(net, &NET_INUM)) }
    }
}

#[btf_tracepoint(function = "kfree_skb")]
fn kfree_skb(ctx: BtfTracePointContext) -> i32 {
    let reason: u32 = ctx.arg(2);
    let is_overflow = reason == LISTEN_OVERFLOW.load();
    if !is_overflow && reason != NOT_SPECIFIED.load() {
        return 0;
    }
    let listener: *mut c_void = ctx.arg(3);
    // SAFETY: a BTF pointer that is not null, the offset is from the kernel's BTF.
    if listener.is_null() || unsafe { member::read::<u8>(listener, &SOCK_STATE) } != TCP_LISTEN {
        return 0;
    }
    // SAFETY: as above.
    let cookie = unsafe { bpf_get_socket_cookie(listener) };
    if let Some(events) = listener_events(cookie) {
        // Of a listener, only `tcp_check_req` gives up a segment without a reason (v6.18 `tcp_v4_rcv`).
        add(if is_overflow { &mut events.dropped_at_ack } else { &mut events.discarded }, 1);
    }
    0
}

#[btf_tracepoint(function = "inet_sock_set_state")]
fn inet_sock_set_state(ctx: BtfTracePointContext) -> i32 {
    let sock: *mut c_void = ctx.arg(0);
    let (old, new): (u32, u32) = (ctx.arg(1), ctx.arg(2));
    let address = sock as u64;
    if new == u32::from(TCP_LISTEN) {
        // Gives the socket its cookie now: later there may be no way to ask for one.
        // SAFETY: a BTF pointer.
        unsafe { bpf_get_socket_cookie(sock) };
    } else if new == TCP_CLOSE {
        let _ = WAITING_SINCE.remove(&address);
    } else if old == u32::from(TCP_LISTEN) && new == state::SYN_RECV {
        // The new connection's socket, just made of the listener's at the final ACK. Its place in the queue is next.
        // SAFETY: a BTF pointer, the offset is from the kernel's BTF; the clock takes nothing.
        let (protocol, now) = unsafe { (member::read::<u16>(sock, &SOCK_PROTOCOL), bpf_ktime_get_ns()) };
        if protocol == IPPROTO_TCP && WAITING_SINCE.insert(&address, &now, 0).is_err() {
            add_one(&LOSSES, Lost::WaitStart as u32);
        }
    }
    0
}

#[btf_tracepoint(function = "sys_exit")]
fn sys_exit(ctx: BtfTracePointContext) -> i32 {
    let regs: *const c_void = ctx.arg(0);
    // SAFETY: a BTF pointer, the offset is from the kernel's BTF.
    let nr = unsafe { member::read::<u64>(regs, &REGS_NR) } as u32;
    let returned: i64 = ctx.arg(1);
    if (nr != NR_ACCEPT4.load() && nr != NR_ACCEPT.load() && nr != NR_LISTEN.load()) || returned < 0 {
        return 0;
    }
    // SAFETY: as above.
    let (first, second): (u64, u64) = unsafe { (member::read(regs, &REGS_ARG1), member::read(regs, &REGS_ARG2)) };
    // SAFETY: as above.
    if TASK_STATUS.load() != ABSENT && unsafe { member::read::<u32>(current_task(), &TASK_STATUS) } & TS_COMPAT != 0 {
        return 0;
    }
    if nr == NR_LISTEN.load() {
        listened(first as u32, second as u32);
    } else {
        accepted(first as u32, returned as u32);
    }
    0
}

#[inline(always)]
fn tcp_sock(fd: u32) -> Option<u64> {
    let way = Way {
        task_files: TASK_FILES.load(),
        files_fdt: FILES_FDT.load(),
        fdt_fd: FDT_FD.load(),
        fdt_max_fds: FDT_MAX_FDS.load(),
        file_private: FILE_PRIVATE.load(),
        socket_sk: SOCKET_SK.load(),
    };
    let sock = sock_of(fd, &way)?;
    match read_at::<u16>(sock, SOCK_PROTOCOL.load())? {
        IPPROTO_TCP => Some(sock),
        IPPROTO_MPTCP if MPTCP_FIRST.load() != ABSENT => read_at(sock, MPTCP_FIRST.load()),
        _ => None,
    }
}

/// Cookie of a listening socket; 0 when nobody asked for it, and so nobody watches the socket.
#[inline(always)]
fn listener_cookie(fd: u32) -> Option<u64> {
    let sock = tcp_sock(fd)?;
    let state: u8 = read_at(sock, SOCK_STATE.load())?;
    if state == TCP_LISTEN { read_at(sock, SOCK_COOKIE.load()) } else { None }
}

#[inline(always)]
fn listened(fd: u32, backlog: u32) {
    if let Some(cookie) = listener_cookie(fd)
        && cookie != 0
        && let Some(events) = listener_events(cookie)
    {
        events.asked_plus_one = u64::from(backlog) + 1;
    }
}

#[inline(always)]
fn accepted(listener: u32, connection: u32) {
    // Sockets of other kinds are accepted too.
    let Some(sock) = tcp_sock(connection) else { return };
    // SAFETY: the value is copied at once.
    let Some(since) = (unsafe { WAITING_SINCE.get(&sock) }).copied() else { return };
    let _ = WAITING_SINCE.remove(&sock);
    // SAFETY: takes nothing, returns a number.
    let wait_ns = unsafe { bpf_ktime_get_ns() }.saturating_sub(since);
    match listener_cookie(listener) {
        None => add_one(&LOSSES, Lost::Accept as u32),
        Some(0) => {}
        Some(cookie) => {
            if let Some(events) = listener_events(cookie) {
                add_wait(events, wait_ns);
            }
        }
    }
}

#[inline(always)]
fn add_wait(events: &mut ListenerEvents, wait_ns: u64) {
    add(&mut events.waits, 1);
    add(&mut events.wait_total_ns, wait_ns);
    // Two CPUs at once may leave the smaller of two largest waits; the buckets have both.
    if wait_ns > events.wait_max_ns {
        events.wait_max_ns = wait_ns;
    }
    // Without the black box LLVM proves the bound, deletes the check, and the verifier misses it.
    let index = black_box(bucket::index_ns(wait_ns)) as usize;
    if let Some(bucket) = events.buckets.get_mut(index) {
        add_u32(bucket, 1);
    }
}

#[btf_tracepoint(function = "tcp_retransmit_skb")]
fn tcp_retransmit_skb(ctx: BtfTracePointContext) -> i32 {
    let sock: *const c_void = ctx.arg(0);
    // SAFETY: a BTF pointer, the offset is from the kernel's BTF.
    if u32::from(unsafe { member::read::<u8>(sock, &SOCK_STATE) }) == state::SYN_SENT
        && let Some(events) = netns_of(sock).and_then(netns_events)
    {
        add(&mut events.syn_retransmits, 1);
    }
    0
}

#[btf_tracepoint(function = "tcp_retransmit_synack")]
fn tcp_retransmit_synack(ctx: BtfTracePointContext) -> i32 {
    let listener: *mut c_void = ctx.arg(0);
    if let Some(events) = netns_of(listener).and_then(netns_events) {
        add(&mut events.syn_ack_retransmits, 1);
    }
    // SAFETY: a BTF pointer.
    if let Some(events) = listener_events(unsafe { bpf_get_socket_cookie(listener) }) {
        add(&mut events.syn_ack_retransmits, 1);
    }
    0
}
