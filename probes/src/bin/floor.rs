//! The least that a latency tracer on these hooks can cost: not part of the tool, but what its cost is compared with.
//!
//! | program | hook | does |
//! |---|---|---|
//! | `sys_enter`, `sys_exit` | tp_btf | nothing, or with `CLOCK` read the clock once each |
//!
//! Key: none; runs for every process. Cost: that is the question. Misses: everything.
#![no_std]
#![no_main]
#![allow(missing_docs, unreachable_pub, reason = "the program macro makes public wrappers")]

use aya_ebpf::{Global, helpers::bpf_ktime_get_ns, macros::btf_tracepoint, programs::BtfTracePointContext};
use probes as _;

#[unsafe(link_section = "license")]
#[unsafe(no_mangle)]
static LICENSE: [u8; 13] = *b"Dual MIT/GPL\0";

/// Read the clock.
#[unsafe(no_mangle)]
static CLOCK: Global<u32> = Global::new(0);

#[inline(always)]
fn read_clock() -> i32 {
    if CLOCK.load() != 0 {
        // SAFETY: takes nothing, returns a number.
        core::hint::black_box(unsafe { bpf_ktime_get_ns() });
    }
    0
}

#[btf_tracepoint(function = "sys_enter")]
fn sys_enter(_ctx: BtfTracePointContext) -> i32 {
    read_clock()
}

#[btf_tracepoint(function = "sys_exit")]
fn sys_exit(_ctx: BtfTracePointContext) -> i32 {
    read_clock()
}
