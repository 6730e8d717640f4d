//! Time off the CPU within a system call.

use aya_ebpf::{cty::c_void, helpers::bpf_ktime_get_ns, macros::btf_tracepoint, programs::BtfTracePointContext};

use crate::maps::THREADS;

/// Runs at every context switch of the host, for whoever leaves and whoever comes.
#[btf_tracepoint(function = "sched_switch")]
fn sched_switch(ctx: BtfTracePointContext) -> i32 {
    let leaving: *mut c_void = ctx.arg(1);
    if let Some(thread) = THREADS.get(leaving)
        && thread.entered_ns != 0
    {
        // SAFETY: takes nothing, returns a number.
        thread.left_cpu_ns = unsafe { bpf_ktime_get_ns() };
    }
    let coming: *mut c_void = ctx.arg(2);
    if let Some(thread) = THREADS.get(coming)
        && thread.left_cpu_ns != 0
    {
        // SAFETY: takes nothing, returns a number.
        let now_ns = unsafe { bpf_ktime_get_ns() };
        thread.off_cpu_ns += now_ns.saturating_sub(thread.left_cpu_ns);
        thread.left_cpu_ns = 0;
    }
    0
}
