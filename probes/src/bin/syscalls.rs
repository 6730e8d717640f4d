//! Counts and times the system calls of traced threads.
//!
//! | program | hook | does |
//! |---|---|---|
//! | `sys_enter`, `sys_exit` | tp_btf | time each call, add it to the row of its group and number |
//! | `task_newtask` | tp_btf | marks the children of traced threads |
//! | `sched_process_exit` | tp_btf | counts calls whose thread ended inside |
//! | `adopt` | iter/task, once | marks the other threads of a process whose first one is marked |
//! | `in_flight` | iter/task, once | lists the calls that have not returned |
//!
//! Key: the thread itself (task storage): it is traced exactly while it has a [`Thread`]. That is filter and
//! in-flight record in one look-up, right under migration, preemption and exec from any thread.
//! Cost: a traced call, a third more than two clock reads alone; a call of any other process, less than those
//! (`scripts/bench-overhead`).
//! Misses: what `Counter` counts, and `io_uring` operations, which are not system calls.
//!
//! Counters are plain read-modify-write on per-CPU memory: tracing programs run with preemption off.
#![no_std]
#![no_main]
#![allow(missing_docs, unreachable_pub, reason = "the program macro makes public wrappers")]

use aya_ebpf::{
    Global,
    cty::c_void,
    helpers::{
        bpf_ktime_get_ns,
        generated::{bpf_seq_write, bpf_task_pt_regs},
    },
    macros::{btf_tracepoint, map},
    maps::{PerCpuArray, ProgramArray},
    programs::BtfTracePointContext,
};
use aya_log_ebpf::debug;
use probes::{
    ABSENT, bucket,
    kernel::{
        counting::add_one,
        member::{self, Offset, current_task},
        task_storage::TaskStorage,
    },
    syscalls::{
        COUNTERS, Counter, GROUPS, InFlight, SELECTION_WORDS, SYSCALLS, SyscallStat, Thread, UNKNOWN_NR, counter_index,
        phase, stat_index,
    },
};

#[unsafe(link_section = "license")]
#[unsafe(no_mangle)]
static LICENSE: [u8; 13] = *b"Dual MIT/GPL\0";

#[unsafe(link_section = ".maps")]
#[unsafe(no_mangle)]
static THREADS: TaskStorage<Thread> = TaskStorage::new();

#[map]
static STATS: PerCpuArray<SyscallStat> = PerCpuArray::with_max_entries(GROUPS * SYSCALLS, 0);

#[map]
static COUNTS: PerCpuArray<u64> = PerCpuArray::with_max_entries(GROUPS * COUNTERS, 0);

/// Goes on with the descriptor that accept returned: the TCP probes' `accepted`, nothing while they are off.
#[map]
static ACCEPTED: ProgramArray = ProgramArray::with_max_entries(1, 0);

/// Numbers of `accept` and `accept4`.
#[unsafe(no_mangle)]
static NR_ACCEPT: Global<u32> = Global::new(UNKNOWN_NR);
#[unsafe(no_mangle)]
static NR_ACCEPT4: Global<u32> = Global::new(UNKNOWN_NR);

/// Count only the calls in `SELECTION`.
#[unsafe(no_mangle)]
static SELECTIVE: Global<u32> = Global::new(0);

/// One bit per system call.
#[unsafe(no_mangle)]
static SELECTION: Global<[u64; SELECTION_WORDS]> = Global::new([0; SELECTION_WORDS]);

/// Number of `execve`, with which a held thread begins to count.
#[unsafe(no_mangle)]
static NR_EXECVE: Global<u32> = Global::new(0);

#[unsafe(no_mangle)]
static TASK_PID: Offset = Offset::new(ABSENT);
#[unsafe(no_mangle)]
static TASK_GROUP_LEADER: Offset = Offset::new(ABSENT);
#[unsafe(no_mangle)]
static TASK_TGID: Offset = Offset::new(ABSENT);
/// `task_struct.thread_info.status`, whose bit 1 (`TS_COMPAT`) says that an x86 call came through the 32-bit ABI.
#[unsafe(no_mangle)]
static TASK_STATUS: Offset = Offset::new(ABSENT);

/// `task_struct.on_cpu`: not 0 while the thread runs.
#[unsafe(no_mangle)]
static TASK_ON_CPU: Offset = Offset::new(ABSENT);
/// `pt_regs.orig_ax`: number of the system call in progress, negative outside one. Absent where the kernel has no
/// `bpf_task_pt_regs` (before 5.15).
#[unsafe(no_mangle)]
static REGS_NR: Offset = Offset::new(ABSENT);

const TS_COMPAT: u32 = 2;
/// `CLONE_THREAD`: the new thread belongs to its maker's process.
const CLONE_THREAD: u64 = 0x1_0000;

#[inline(always)]
fn count(group: u32, counter: Counter) {
    add_one(&COUNTS, counter_index(group, counter));
}

#[inline(always)]
fn stat(thread: &Thread) -> Option<&'static mut SyscallStat> {
    // SAFETY: per-CPU memory that lives as long as the map, and preemption is off.
    STATS.get_ptr_mut(stat_index(thread.group, thread.nr)).map(|stat| unsafe { &mut *stat })
}

#[inline(always)]
fn is_selected(nr: u32) -> bool {
    if SELECTIVE.load() == 0 {
        return true;
    }
    // Indexed by a shift of a bounded number: every access is within the eight words.
    let word = core::hint::black_box((nr / 64) as usize) & (SELECTION_WORDS - 1);
    // SAFETY: `word` is masked to the array's length.
    let bits = unsafe { core::ptr::read_volatile(core::ptr::from_ref(&SELECTION).cast::<u64>().add(word)) };
    bits >> (nr % 64) & 1 == 1
}

#[inline(always)]
fn is_foreign_abi(task: *const c_void) -> bool {
    // SAFETY: a BTF pointer, the offset is from the kernel's BTF.
    TASK_STATUS.load() != ABSENT && unsafe { member::read::<u32>(task, &TASK_STATUS) } & TS_COMPAT != 0
}

#[btf_tracepoint(function = "sys_enter")]
fn sys_enter(ctx: BtfTracePointContext) -> i32 {
    // Asked for once: where returns are slow (retpolines, safe RET) every helper call tells.
    let task = current_task();
    let Some(thread) = THREADS.get(task) else { return 0 };
    let nr: u64 = ctx.arg(1);
    if thread.phase == phase::HELD && nr != u64::from(NR_EXECVE.load()) {
        return 0;
    }
    if is_foreign_abi(task) {
        count(thread.group, Counter::ForeignAbi);
        thread.phase = phase::OUTLYING;
        return 0;
    }
    if nr >= u64::from(SYSCALLS) {
        debug!(&ctx, "system call number {} is outside the table", nr);
        count(thread.group, Counter::NumberOutOfRange);
        thread.phase = phase::OUTLYING;
        return 0;
    }
    thread.nr = nr as u32;
    if !is_selected(nr as u32) {
        thread.phase = phase::UNSELECTED;
        return 0;
    }
    // SAFETY: takes nothing, returns a number. Last, so that our own work above is not in the latency.
    thread.entered_ns = unsafe { bpf_ktime_get_ns() };
    0
}

#[btf_tracepoint(function = "sys_exit")]
fn sys_exit(ctx: BtfTracePointContext) -> i32 {
    let Some(thread) = THREADS.get(current_task()) else { return 0 };
    let is_known = thread.entered_ns != 0 || matches!(thread.phase, phase::UNSELECTED | phase::ADOPTED);
    let nr = thread.nr;
    if thread.entered_ns == 0 {
        exit_without_start(thread);
    } else {
        // SAFETY: takes nothing, returns a number.
        let latency_ns = unsafe { bpf_ktime_get_ns() }.saturating_sub(thread.entered_ns);
        thread.entered_ns = 0;
        thread.phase = phase::OUTSIDE;
        if let Some(stat) = stat(thread) {
            add(stat, latency_ns, ctx.arg(1));
        }
    }
    if is_known && (nr == NR_ACCEPT4.load() || nr == NR_ACCEPT.load()) && ctx.arg::<i64>(1) >= 0 {
        // SAFETY: the context is this program's own; on success the call does not return.
        unsafe { ACCEPTED.tail_call(&ctx, 0) };
    }
    0
}

#[inline(always)]
fn exit_without_start(thread: &mut Thread) {
    match thread.phase {
        phase::HELD => return,
        phase::ADOPTED => {
            if thread.nr == UNKNOWN_NR {
                count(thread.group, Counter::BegunBefore);
            } else if is_selected(thread.nr)
                && let Some(stat) = stat(thread)
            {
                stat.begun_before += 1;
            }
        }
        phase::OUTSIDE => count(thread.group, Counter::ExitWithoutEnter),
        _ => {}
    }
    thread.phase = phase::OUTSIDE;
}

#[inline(always)]
fn add(stat: &mut SyscallStat, latency_ns: u64, returned: i64) {
    stat.calls += 1;
    stat.total_ns += latency_ns;
    if latency_ns > stat.max_ns {
        stat.max_ns = latency_ns;
    }
    if !latency_ns > stat.min_complement_ns {
        stat.min_complement_ns = !latency_ns;
    }
    // Error numbers are -4095..=-1 (v6.18 include/linux/err.h); -516..=-512 never reach user space.
    if (-4095..0).contains(&returned) {
        if (-516..=-512).contains(&returned) {
            stat.restarted += 1;
        } else {
            stat.errors += 1;
        }
    }
    // Without the black box LLVM proves the bound, deletes the check, and the verifier misses it.
    let index = core::hint::black_box(bucket::index_ns(latency_ns)) as usize;
    if let Some(bucket) = stat.buckets.get_mut(index) {
        *bucket = bucket.saturating_add(1);
    }
}

#[btf_tracepoint(function = "task_newtask")]
fn task_newtask(ctx: BtfTracePointContext) -> i32 {
    let Some(parent) = THREADS.get(current_task()) else { return 0 };
    let group = parent.group;
    let child: *mut c_void = ctx.arg(0);
    let Some(thread) = THREADS.get_or_create(child) else {
        debug!(&ctx, "no storage for a new thread");
        count(group, Counter::StorageFailed);
        return 0;
    };
    thread.group = group;
    thread.phase = phase::STARTING;
    let flags: u64 = ctx.arg(1);
    count(group, if flags & CLONE_THREAD == 0 { Counter::FollowedProcesses } else { Counter::FollowedThreads });
    0
}

#[btf_tracepoint(function = "sched_process_exit")]
fn sched_process_exit(_ctx: BtfTracePointContext) -> i32 {
    let Some(thread) = THREADS.get(current_task()) else { return 0 };
    if thread.entered_ns != 0 {
        thread.entered_ns = 0;
        if let Some(stat) = stat(thread) {
            stat.unreturned += 1;
        }
    }
    0
}

/// Context of an iter/task program (v6.18 kernel/bpf/task_iter.c `bpf_iter__task`).
#[repr(C)]
struct TaskIteration {
    meta: *const IterationMeta,
    task: *mut c_void,
}

/// v6.18 include/linux/bpf.h `bpf_iter_meta`.
#[repr(C)]
struct IterationMeta {
    seq: *mut c_void,
}

/// Number of the call that a thread is inside, [`UNKNOWN_NR`] when it is in none or that cannot be told.
#[inline(always)]
fn call_in_progress(task: *mut c_void) -> u32 {
    if REGS_NR.load() == ABSENT {
        return UNKNOWN_NR;
    }
    // SAFETY: a BTF pointer, the offset is from the kernel's BTF.
    let on_cpu: i32 = unsafe { member::read(task, &TASK_ON_CPU) };
    // What a running thread has saved may be of an earlier call.
    if on_cpu != 0 || is_foreign_abi(task) {
        return UNKNOWN_NR;
    }
    // SAFETY: the helper takes a task and returns a BTF pointer to its saved registers.
    let nr: i64 = unsafe { member::read(bpf_task_pt_regs(task.cast()) as *const c_void, &REGS_NR) };
    if (0..i64::from(SYSCALLS)).contains(&nr) { nr as u32 } else { UNKNOWN_NR }
}

/// Marks the thread it is shown when its process's first thread is marked and it is not, and notes the call it is inside.
///
/// User space marks those first threads by pidfd: so ids, and whose pid namespace they are from, play no part.
#[unsafe(no_mangle)]
#[unsafe(link_section = "iter/task")]
extern "C" fn adopt(ctx: *mut c_void) -> i32 {
    // SAFETY: the kernel passes this context to iter/task programs.
    let task = unsafe { (*ctx.cast::<TaskIteration>()).task };
    if task.is_null() {
        return 0;
    }
    // SAFETY: a BTF pointer, the offset is from the kernel's BTF.
    let leader: *mut c_void = unsafe { member::read(task, &TASK_GROUP_LEADER) };
    if leader.is_null() {
        return 0;
    }
    let Some(first) = THREADS.get(leader) else { return 0 };
    let group = first.group;
    if let Some(known) = THREADS.get(task) {
        if known.phase == phase::ADOPTED && known.entered_ns == 0 && known.nr == UNKNOWN_NR {
            known.nr = call_in_progress(task);
        }
        return 0;
    }
    let Some(thread) = THREADS.get_or_create(task) else {
        count(group, Counter::StorageFailed);
        return 0;
    };
    thread.group = group;
    thread.nr = call_in_progress(task);
    thread.phase = phase::ADOPTED;
    count(group, Counter::Adopted);
    0
}

/// Writes an [`InFlight`] for the thread it is shown when that is inside a counted call.
#[unsafe(no_mangle)]
#[unsafe(link_section = "iter/task")]
extern "C" fn in_flight(ctx: *mut c_void) -> i32 {
    let ctx = ctx.cast::<TaskIteration>();
    // SAFETY: the kernel passes this context to iter/task programs.
    let (meta, task) = unsafe { ((*ctx).meta, (*ctx).task) };
    if task.is_null() {
        return 0;
    }
    let Some(thread) = THREADS.get(task) else { return 0 };
    let begun_before = thread.phase == phase::ADOPTED && thread.nr != UNKNOWN_NR && is_selected(thread.nr);
    if thread.entered_ns == 0 && !begun_before {
        return 0;
    }
    // SAFETY: BTF pointers, the offsets are from the kernel's BTF.
    let (tid, tgid) = unsafe { (member::read(task, &TASK_PID), member::read(task, &TASK_TGID)) };
    let call = InFlight { entered_ns: thread.entered_ns, nr: thread.nr, group: thread.group, tid, tgid };
    // SAFETY: `seq` is the iterator's own file, and the helper copies the bytes.
    unsafe {
        bpf_seq_write((*meta).seq.cast(), core::ptr::from_ref(&call).cast(), size_of::<InFlight>() as u32);
    }
    0
}
