//! Entry and return of system calls.

use core::hint::black_box;

use aya_ebpf::{
    bindings::BPF_NOEXIST,
    cty::c_void,
    helpers::{bpf_get_current_comm, bpf_get_current_pid_tgid, bpf_ktime_get_ns},
    macros::btf_tracepoint,
    programs::BtfTracePointContext,
};
use probes::{
    ABSENT, bucket,
    kernel::member::{self, current_task},
    syscalls::{Counter, NO_ROW, SplitKey, SplitStat, SyscallStat, Thread, phase, return_index},
};

use crate::{
    maps::{
        ACCEPTED, BY_THREAD, COUNT_ONLY, NR_EXECVE, ON_CPU, REGS_NR, SERIALS_GIVEN, SPLIT, TASK_RUN_DELAY, THREADS,
    },
    rows::{count, is_accept, is_selected, is_valued, key_of, plain, row_of, stat, uncounted},
};

/// Error numbers are -4095..=-1 (v6.18 include/linux/err.h).
const MAX_ERRNO: i64 = 4095;

#[inline(always)]
fn run_delay(task: *const c_void) -> u64 {
    if TASK_RUN_DELAY.load() == ABSENT {
        return 0;
    }
    // SAFETY: a BTF pointer, the offset is from the kernel's BTF.
    unsafe { member::read(task, &TASK_RUN_DELAY) }
}

#[btf_tracepoint(function = "sys_enter")]
fn sys_enter(ctx: BtfTracePointContext) -> i32 {
    // Asked for once: where returns are slow (retpolines, safe RET) every helper call tells.
    let task = current_task();
    let Some(thread) = THREADS.get(task) else { return 0 };
    let nr = ctx.arg::<u64>(1) as u32;
    if thread.phase == phase::HELD && nr != NR_EXECVE.load() {
        return 0;
    }
    let key = key_of(thread.group, task, nr);
    if !is_selected(&key) {
        thread.phase = phase::UNSELECTED;
        thread.row = uncounted(&key);
        return 0;
    }
    thread.row = row_of(&key);
    if ON_CPU.load() != 0 {
        thread.begin_on_cpu(run_delay(task));
    }
    // SAFETY: takes nothing, returns a number. Last, so that our own work above is not in the latency.
    thread.entered_ns = if COUNT_ONLY.load() != 0 { 1 } else { unsafe { bpf_ktime_get_ns() } };
    0
}

#[btf_tracepoint(function = "sys_exit")]
fn sys_exit(ctx: BtfTracePointContext) -> i32 {
    let task = current_task();
    let Some(thread) = THREADS.get(task) else { return 0 };
    let row = thread.row;
    let accepted = is_accept(row)
        && (thread.entered_ns != 0 || matches!(thread.phase, phase::UNSELECTED | phase::ADOPTED))
        && ctx.arg::<i64>(1) >= 0;
    if thread.entered_ns == 0 {
        exit_without_start(&ctx, task, thread);
    } else {
        add_call(&ctx, task, thread);
    }
    if accepted {
        // SAFETY: the context is this program's own; on success the call does not return.
        unsafe { ACCEPTED.tail_call(&ctx, 0) };
    }
    0
}

#[inline(always)]
fn add_call(ctx: &BtfTracePointContext, task: *mut c_void, thread: &mut Thread) {
    // SAFETY: takes nothing, returns a number.
    let now_ns = if COUNT_ONLY.load() != 0 { 1 } else { unsafe { bpf_ktime_get_ns() } };
    let latency_ns = now_ns.saturating_sub(thread.entered_ns);
    thread.entered_ns = 0;
    thread.phase = phase::OUTSIDE;
    let Some(stat) = stat(thread.row) else { return };
    let returned: i64 = ctx.arg(1);
    stat.calls += 1;
    add_return(stat, thread.row, returned);
    if COUNT_ONLY.load() == 0 {
        let index = add_latency(stat, latency_ns);
        if ON_CPU.load() != 0 {
            add_on_cpu(stat, task, thread, latency_ns, index);
        }
    }
    if BY_THREAD.load() != 0 {
        add_to_split(thread, latency_ns, (-MAX_ERRNO..0).contains(&returned) && !is_restart(returned));
    }
}

/// The kernel restarts the call or turns this into `EINTR`: user space never sees it.
#[inline(always)]
fn is_restart(returned: i64) -> bool {
    (-516..=-512).contains(&returned)
}

#[inline(always)]
fn add_return(stat: &mut SyscallStat, row: u32, returned: i64) {
    if (-MAX_ERRNO..0).contains(&returned) {
        if is_restart(returned) {
            stat.restarted += 1;
            return;
        }
        stat.errors += 1;
        let errno = black_box(-returned) as usize;
        if let Some(count) = stat.errnos.get_mut(errno) {
            *count = count.saturating_add(1);
        }
    } else if is_valued(row) && returned >= 0 {
        let value = returned as u64;
        stat.returned_sum += value;
        if value > stat.returned_max {
            stat.returned_max = value;
        }
        if !value > stat.returned_min_complement {
            stat.returned_min_complement = !value;
        }
        let index = black_box(return_index(value)) as usize;
        if let Some(bucket) = stat.returned.get_mut(index) {
            *bucket = bucket.saturating_add(1);
        }
    }
}

/// Adds to the latencies; returns the bucket.
#[inline(always)]
pub fn add_latency(stat: &mut SyscallStat, latency_ns: u64) -> usize {
    stat.total_ns += latency_ns;
    if latency_ns > stat.max_ns {
        stat.max_ns = latency_ns;
    }
    if !latency_ns > stat.min_complement_ns {
        stat.min_complement_ns = !latency_ns;
    }
    // Without the black box LLVM proves the bound, deletes the check, and the verifier misses it.
    let index = black_box(bucket::index_ns(latency_ns)) as usize;
    if let Some(bucket) = stat.buckets.get_mut(index) {
        *bucket = bucket.saturating_add(1);
    }
    index
}

#[inline(always)]
fn add_on_cpu(stat: &mut SyscallStat, task: *const c_void, thread: &Thread, latency_ns: u64, wall_index: usize) {
    let mut on_cpu_ns = latency_ns;
    let mut index = wall_index;
    if thread.off_cpu_ns != 0 {
        let off_cpu_ns = thread.off_cpu_ns.min(latency_ns);
        on_cpu_ns -= off_cpu_ns;
        stat.off_cpu_ns += off_cpu_ns;
        // By the scheduler's clock, which may run a little ahead of ours.
        stat.runqueue_ns += run_delay(task).saturating_sub(thread.run_delay_ns).min(off_cpu_ns);
        index = black_box(bucket::index_ns(on_cpu_ns)) as usize;
    }
    if on_cpu_ns > stat.on_cpu_max_ns {
        stat.on_cpu_max_ns = on_cpu_ns;
    }
    if !on_cpu_ns > stat.on_cpu_min_complement_ns {
        stat.on_cpu_min_complement_ns = !on_cpu_ns;
    }
    if let Some(bucket) = stat.on_cpu.get_mut(black_box(index)) {
        *bucket = bucket.saturating_add(1);
    }
}

#[inline(never)]
fn exit_without_start(ctx: &BtfTracePointContext, task: *mut c_void, thread: &mut Thread) {
    match thread.phase {
        phase::HELD => return,
        phase::ADOPTED => {
            if let Some(stat) = stat(thread.row) {
                stat.begun_before += 1;
            } else if thread.row == NO_ROW {
                count(thread.group, Counter::BegunBefore);
            }
        }
        phase::OUTSIDE => denied(ctx, task, thread.group),
        _ => {}
    }
    thread.phase = phase::OUTSIDE;
}

/// seccomp refuses a call before `sys_enter`: its return is all there is (v6.18 kernel/entry/common.c).
#[inline(always)]
fn denied(ctx: &BtfTracePointContext, task: *mut c_void, group: u32) {
    let nr = if REGS_NR.load() == ABSENT {
        -1
    } else {
        let regs: *const c_void = ctx.arg(0);
        // SAFETY: a BTF pointer, the offset is from the kernel's BTF.
        unsafe { member::read::<i64>(regs, &REGS_NR) }
    };
    if nr < 0 {
        count(group, Counter::ExitWithoutEnter);
        return;
    }
    let key = key_of(group, task, nr as u32);
    if is_selected(&key)
        && let Some(stat) = stat(row_of(&key))
    {
        stat.denied += 1;
    }
}

/// Threads are told apart by serials of our own: the kernel's numbers are used again.
#[inline(always)]
fn add_to_split(thread: &mut Thread, latency_ns: u64, failed: bool) {
    if thread.serial == 0 {
        thread.serial = SERIALS_GIVEN.next() as u32 + 1;
    }
    let key = SplitKey { serial: thread.serial, row: plain(thread.row) };
    if SPLIT.get_ptr(&key).is_none() {
        let ids = bpf_get_current_pid_tgid();
        let stat = SplitStat {
            tgid: (ids >> 32) as u32,
            tid: ids as u32,
            command: bpf_get_current_comm().unwrap_or_default(),
            ..SplitStat::default()
        };
        // Only this thread makes this row; without room it is missed below.
        let _ = SPLIT.insert(key, stat, u64::from(BPF_NOEXIST));
    }
    let Some(stat) = SPLIT.get_ptr_mut(&key) else {
        count(thread.group, Counter::SplitFull);
        return;
    };
    // SAFETY: the map's memory, and only this thread writes this row.
    let stat = unsafe { &mut *stat };
    stat.calls += 1;
    stat.errors += u64::from(failed);
    stat.total_ns += latency_ns;
    if latency_ns > stat.max_ns {
        stat.max_ns = latency_ns;
    }
}
