//! Which process a connection belongs to: told only where the kernel runs for that process.

use aya_ebpf::cty::c_void;
use probes::{
    kernel::member::{self, current_task},
    tcp::{Connection, UNTRACED},
};

use crate::maps::{MARKS, TASK_COMM, TASK_GROUP_LEADER, TASK_TGID};

/// Notes the process that runs now as the owner.
#[inline(always)]
pub fn own(connection: &mut Connection) {
    let task = current_task();
    connection.group = group_of(task);
    // SAFETY: a BTF pointer, the offsets are from the kernel's BTF, and the record's arrays are aligned.
    unsafe {
        connection.tgid = member::read(task, &TASK_TGID);
        member::copy_16_bytes(task, &TASK_COMM, &mut connection.comm);
    }
}

/// Threads are marked when they are made; those that were there first, by the mark of their process's first thread.
#[inline(always)]
pub fn group_of(task: *mut c_void) -> u32 {
    if let Some(mark) = MARKS.get(task) {
        return *mark;
    }
    // SAFETY: a BTF pointer, the offset is from the kernel's BTF.
    let leader: *mut c_void = unsafe { member::read(task, &TASK_GROUP_LEADER) };
    if leader.is_null() || leader == task {
        return UNTRACED;
    }
    MARKS.get(leader).map_or(UNTRACED, |mark| *mark)
}
