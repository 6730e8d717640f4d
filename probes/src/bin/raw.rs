//! Every duration of one system call of one process, raw: not part of the tool, but what its percentiles are compared with.
//!
//! | program | hook | does |
//! |---|---|---|
//! | `sys_enter`, `sys_exit` | tp_btf | time the calls with number `NR` of the process in `PROCESS`, send each through a ring |
//!
//! Key: the thread's id. Cost: no object. Misses: calls when the ring is full, which `LOST` counts.
#![no_std]
#![no_main]
#![allow(missing_docs, unreachable_pub, reason = "the program macro makes public wrappers")]

use aya_ebpf::{
    Global,
    helpers::{bpf_get_current_pid_tgid, bpf_ktime_get_ns},
    macros::{btf_tracepoint, map},
    maps::{Array, HashMap, PerCpuArray, RingBuf},
    programs::BtfTracePointContext,
};
use probes::kernel::counting::add_one;

#[unsafe(link_section = "license")]
#[unsafe(no_mangle)]
static LICENSE: [u8; 13] = *b"Dual MIT/GPL\0";

#[unsafe(no_mangle)]
static NR: Global<u32> = Global::new(0);

#[map]
static PROCESS: Array<u32> = Array::with_max_entries(1, 0);
#[map]
static ENTERED: HashMap<u64, u64> = HashMap::with_max_entries(1024, 0);
#[map]
static DURATIONS: RingBuf = RingBuf::with_byte_size(1 << 22, 0);
#[map]
static LOST: PerCpuArray<u64> = PerCpuArray::with_max_entries(1, 0);

/// The current thread, if it is of the process.
#[inline(always)]
fn thread() -> Option<u64> {
    let ids = bpf_get_current_pid_tgid();
    (u64::from(*PROCESS.get(0)?) == ids >> 32).then_some(ids)
}

#[btf_tracepoint(function = "sys_enter")]
fn sys_enter(ctx: BtfTracePointContext) -> i32 {
    if ctx.arg::<u64>(1) == u64::from(NR.load())
        && let Some(thread) = thread()
    {
        // SAFETY: takes nothing, returns a number.
        let _ = ENTERED.insert(thread, unsafe { bpf_ktime_get_ns() }, 0);
    }
    0
}

#[btf_tracepoint(function = "sys_exit")]
fn sys_exit(_ctx: BtfTracePointContext) -> i32 {
    // SAFETY: takes nothing, returns a number.
    let now_ns = unsafe { bpf_ktime_get_ns() };
    let Some(thread) = thread() else { return 0 };
    let Some(entered) = ENTERED.get_ptr(&thread) else { return 0 };
    // SAFETY: the map's memory, and only this thread's.
    let duration_ns = now_ns - unsafe { *entered };
    let _ = ENTERED.remove(thread);
    match DURATIONS.reserve::<u64>(0) {
        Some(mut slot) => {
            slot.write(duration_ns);
            slot.submit(0);
        }
        None => add_one(&LOST, 0),
    }
    0
}
