//! `io_uring` operations, which are not system calls: from submission to the first completion.

use aya_ebpf::{
    bindings::BPF_ANY, cty::c_void, helpers::bpf_ktime_get_ns, macros::btf_tracepoint, programs::BtfTracePointContext,
};
use probes::{
    ABSENT,
    kernel::member::{self, current_task},
    syscalls::{FURTHER, IO_URING, OPCODES, RowKey, Submission, SyscallStat},
};

use crate::{
    calls::add_latency,
    maps::{CQE_RES, KIOCB_CTX, KIOCB_OPCODE, RINGS, SUBMISSIONS, TASK_GROUP_LEADER, THREADS},
    rows::{row_of, stat},
};

#[inline(always)]
fn row(group: u32, opcode: u32) -> Option<&'static mut SyscallStat> {
    stat(row_of(&RowKey::new(group, IO_URING, opcode)))
}

/// Group of the thread that submits: a kernel thread that polls the queue (`SQPOLL`) belongs to the process.
#[inline(always)]
fn group_of_current() -> Option<u32> {
    let task = current_task();
    if let Some(thread) = THREADS.get(task) {
        return Some(thread.group);
    }
    // SAFETY: a BTF pointer, the offset is from the kernel's BTF.
    let leader: *mut c_void = unsafe { member::read(task, &TASK_GROUP_LEADER) };
    if leader.is_null() {
        return None;
    }
    THREADS.get(leader).map(|thread| thread.group)
}

#[btf_tracepoint(function = "io_uring_submit_req")]
fn io_uring_submit_req(ctx: BtfTracePointContext) -> i32 {
    let Some(group) = group_of_current() else { return 0 };
    let request: *const c_void = ctx.arg(0);
    // SAFETY: a BTF pointer, the offsets are from the kernel's BTF.
    let (opcode, ring) =
        unsafe { (member::read::<u8>(request, &KIOCB_OPCODE), member::read::<*const c_void>(request, &KIOCB_CTX)) };
    let opcode = u32::from(opcode) & (OPCODES - 1);
    let ring = ring as u64;
    if RINGS.get_ptr(&ring).is_none() {
        let _ = RINGS.insert(ring, group, u64::from(BPF_ANY));
    }
    let Some(stat) = row(group, opcode) else { return 0 };
    stat.submitted += 1;
    // SAFETY: takes nothing, returns a number.
    let submission = Submission { at_ns: unsafe { bpf_ktime_get_ns() }, group, opcode };
    if SUBMISSIONS.insert(request as u64, submission, u64::from(BPF_ANY)).is_err() {
        stat.untimed += 1;
    }
    0
}

#[btf_tracepoint(function = "io_uring_complete")]
fn io_uring_complete(ctx: BtfTracePointContext) -> i32 {
    let request: u64 = ctx.arg(1);
    let result = if CQE_RES.load() == ABSENT {
        ctx.arg::<u64>(3) as i32
    } else {
        let entry: *const c_void = ctx.arg(2);
        // SAFETY: a BTF pointer, the offset is from the kernel's BTF.
        unsafe { member::read::<i32>(entry, &CQE_RES) }
    };
    let submission = SUBMISSIONS.get_ptr(&request);
    let (group, opcode, at_ns) = if let Some(submission) = submission {
        // SAFETY: the map's memory.
        let submission = unsafe { *submission };
        let _ = SUBMISSIONS.remove(request);
        (submission.group, submission.opcode, submission.at_ns)
    } else {
        let ring: u64 = ctx.arg(0);
        let Some(group) = RINGS.get_ptr(&ring) else { return 0 };
        // SAFETY: the map's memory.
        (unsafe { *group }, FURTHER, 0)
    };
    let Some(stat) = row(group, opcode) else { return 0 };
    stat.calls += 1;
    stat.errors += u64::from(result < 0);
    if at_ns != 0 {
        // SAFETY: takes nothing, returns a number.
        add_latency(stat, unsafe { bpf_ktime_get_ns() }.saturating_sub(at_ns));
    }
    0
}
