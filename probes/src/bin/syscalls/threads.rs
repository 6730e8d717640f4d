//! Which threads are traced, from their birth or their first sight to their end.

use aya_ebpf::{
    cty::c_void,
    helpers::{
        bpf_get_current_comm,
        generated::{bpf_get_current_ancestor_cgroup_id, bpf_seq_write, bpf_task_pt_regs},
    },
    macros::btf_tracepoint,
    programs::BtfTracePointContext,
};
use aya_log_ebpf::debug;
use probes::{
    ABSENT,
    kernel::member::{self, current_task},
    syscalls::{Counter, InFlight, NO_ROW, SERVER, phase},
};

use crate::{
    maps::{
        CGROUP, CGROUP_LEVEL, COMMAND, HAS_TASK_REGS, MATCH_COMMAND, REGS_NR, TASK_GROUP_LEADER, TASK_ON_CPU, TASK_PID,
        TASK_TGID, THREADS,
    },
    rows::{count, is_counted, is_selected, key_of, plain, row_of, stat, uncounted},
};

/// `CLONE_THREAD`: the new thread belongs to its maker's process.
const CLONE_THREAD: u64 = 0x1_0000;

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

/// Marks a process that has just become what was asked for: by its new name, or by the cgroup it runs in.
#[btf_tracepoint(function = "sched_process_exec")]
fn sched_process_exec(_ctx: BtfTracePointContext) -> i32 {
    let task = current_task();
    if THREADS.get(task).is_some() || !(has_name() || is_in_cgroup()) {
        return 0;
    }
    let Some(thread) = THREADS.get_or_create(task) else {
        count(SERVER, Counter::StorageFailed);
        return 0;
    };
    thread.group = SERVER;
    // The execve it is inside began before it was ours.
    thread.phase = phase::UNSELECTED;
    count(SERVER, Counter::Matched);
    0
}

#[inline(always)]
fn has_name() -> bool {
    if MATCH_COMMAND.load() == 0 {
        return false;
    }
    let Ok(name) = bpf_get_current_comm() else { return false };
    let wanted = COMMAND.load();
    // SAFETY: 16 bytes are two numbers.
    let name: [u64; 2] = unsafe { core::mem::transmute(name) };
    name[0] == wanted[0] && name[1] == wanted[1]
}

#[inline(always)]
fn is_in_cgroup() -> bool {
    // SAFETY: takes and returns a number.
    CGROUP.load() != 0 && unsafe { bpf_get_current_ancestor_cgroup_id(CGROUP_LEVEL.load() as i32) } == CGROUP.load()
}

#[btf_tracepoint(function = "sched_process_exit")]
fn sched_process_exit(_ctx: BtfTracePointContext) -> i32 {
    let Some(thread) = THREADS.get(current_task()) else { return 0 };
    if thread.entered_ns != 0 {
        thread.entered_ns = 0;
        if let Some(stat) = stat(thread.row) {
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

/// Row of the call that a thread is inside, [`NO_ROW`] when it is in none, in one that is not counted, or that cannot
/// be told.
#[inline(always)]
fn call_in_progress(group: u32, task: *mut c_void) -> u32 {
    if REGS_NR.load() == ABSENT || HAS_TASK_REGS.load() == 0 {
        return NO_ROW;
    }
    // SAFETY: a BTF pointer, the offset is from the kernel's BTF.
    let on_cpu: i32 = unsafe { member::read(task, &TASK_ON_CPU) };
    // What a running thread has saved may be of an earlier call.
    if on_cpu != 0 {
        return NO_ROW;
    }
    // SAFETY: the helper takes a task and returns a BTF pointer to its saved registers.
    let nr: i64 = unsafe { member::read(bpf_task_pt_regs(task.cast()) as *const c_void, &REGS_NR) };
    if nr < 0 {
        return NO_ROW;
    }
    let key = key_of(group, task, nr as u32);
    if is_selected(&key) { row_of(&key) } else { uncounted(&key) }
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
        if known.phase == phase::ADOPTED && known.entered_ns == 0 && known.row == NO_ROW {
            known.row = call_in_progress(group, task);
        }
        return 0;
    }
    let Some(thread) = THREADS.get_or_create(task) else {
        count(group, Counter::StorageFailed);
        return 0;
    };
    thread.group = group;
    thread.row = call_in_progress(group, task);
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
    let begun_before = thread.phase == phase::ADOPTED && is_counted(thread.row);
    if thread.entered_ns == 0 && !begun_before {
        return 0;
    }
    // SAFETY: BTF pointers, the offsets are from the kernel's BTF.
    let (tid, tgid) = unsafe { (member::read(task, &TASK_PID), member::read(task, &TASK_TGID)) };
    let call = InFlight { entered_ns: thread.entered_ns, row: plain(thread.row), group: thread.group, tid, tgid };
    // SAFETY: `seq` is the iterator's own file, and the helper copies the bytes.
    unsafe {
        bpf_seq_write((*meta).seq.cast(), core::ptr::from_ref(&call).cast(), size_of::<InFlight>() as u32);
    }
    0
}
