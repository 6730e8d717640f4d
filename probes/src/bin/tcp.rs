//! Counts TCP state changes and retransmits in one network namespace.
//!
//! | program | hook | counts |
//! |---|---|---|
//! | `inet_sock_set_state` | tp_btf | each pair of old and new state |
//! | `tcp_retransmit_skb` | tp_btf | retransmitted SYNs and data segments |
//! | `tcp_retransmit_synack` | tp_btf | retransmitted SYN-ACKs |
//!
//! Key: none, one array for the namespace. Cost: some 20 ns an event, for every socket of the host.
//! Misses: `TIME_WAIT`, which is not a state of these sockets (a socket that enters it goes to `CLOSE` here).
#![no_std]
#![no_main]
#![allow(missing_docs, unreachable_pub, reason = "the program macro makes public wrappers")]

use aya_ebpf::{
    Global,
    cty::c_void,
    macros::{btf_tracepoint, map},
    maps::PerCpuArray,
    programs::BtfTracePointContext,
};
use probes::{
    ABSENT,
    kernel::{
        counting::add_one,
        member::{self, Offset},
    },
    tcp::{RETRANSMITS, Retransmit, STATES, SYN_SENT, transition_index},
};

#[unsafe(link_section = "license")]
#[unsafe(no_mangle)]
static LICENSE: [u8; 13] = *b"Dual MIT/GPL\0";

#[map]
static TRANSITIONS: PerCpuArray<u64> = PerCpuArray::with_max_entries(STATES * STATES, 0);

#[map]
static RETRANSMITTED: PerCpuArray<u64> = PerCpuArray::with_max_entries(RETRANSMITS, 0);

/// Inode of the network namespace that is counted.
#[unsafe(no_mangle)]
static NETNS: Global<u32> = Global::new(0);

#[unsafe(no_mangle)]
static SOCK_STATE: Offset = Offset::new(ABSENT);
#[unsafe(no_mangle)]
static SOCK_PROTOCOL: Offset = Offset::new(ABSENT);
#[unsafe(no_mangle)]
static SOCK_NET: Offset = Offset::new(ABSENT);
#[unsafe(no_mangle)]
static NET_INUM: Offset = Offset::new(ABSENT);

const IPPROTO_TCP: u16 = 6;

#[inline(always)]
fn is_in_namespace(sock: *const c_void) -> bool {
    // SAFETY: BTF pointers, the offsets are from the kernel's BTF.
    unsafe {
        let net: *const c_void = member::read(sock, &SOCK_NET);
        !net.is_null() && member::read::<u32>(net, &NET_INUM) == NETNS.load()
    }
}

#[btf_tracepoint(function = "inet_sock_set_state")]
fn inet_sock_set_state(ctx: BtfTracePointContext) -> i32 {
    let sock: *const c_void = ctx.arg(0);
    // MPTCP and other protocols' sockets come this way too.
    // SAFETY: a BTF pointer, the offset is from the kernel's BTF.
    if unsafe { member::read::<u16>(sock, &SOCK_PROTOCOL) } == IPPROTO_TCP && is_in_namespace(sock) {
        add_one(&TRANSITIONS, transition_index(ctx.arg(1), ctx.arg(2)));
    }
    0
}

#[btf_tracepoint(function = "tcp_retransmit_skb")]
fn tcp_retransmit_skb(ctx: BtfTracePointContext) -> i32 {
    let sock: *const c_void = ctx.arg(0);
    if is_in_namespace(sock) {
        // SAFETY: a BTF pointer, the offset is from the kernel's BTF.
        let state: u8 = unsafe { member::read(sock, &SOCK_STATE) };
        let kind = if state == SYN_SENT { Retransmit::Syn } else { Retransmit::Data };
        add_one(&RETRANSMITTED, kind as u32);
    }
    0
}

#[btf_tracepoint(function = "tcp_retransmit_synack")]
fn tcp_retransmit_synack(ctx: BtfTracePointContext) -> i32 {
    if is_in_namespace(ctx.arg(0)) {
        add_one(&RETRANSMITTED, Retransmit::SynAck as u32);
    }
    0
}
