//! Which process a connection belongs to: told only where the kernel runs for that process.

use aya_ebpf::{
    cty::c_void,
    helpers::{bpf_get_current_pid_tgid, generated::bpf_get_current_comm},
};
use probes::{
    kernel::member::{self, current_task},
    tcp::{COMM_BYTES, Connection, UNTRACED},
};

use crate::maps::{MARKS, TASK_GROUP_LEADER};

/// Notes the process that runs now as the owner.
#[inline(always)]
pub fn own(connection: &mut Connection) {
    connection.tgid = (bpf_get_current_pid_tgid() >> 32) as u32;
    connection.group = group_of_current();
    // SAFETY: the helper writes as many bytes as there are.
    unsafe { bpf_get_current_comm((&raw mut connection.comm).cast(), COMM_BYTES as u32) };
}

/// Threads are marked when they are made; those that were there first, by the mark of their process's first thread.
#[inline(always)]
pub fn group_of_current() -> u32 {
    let task = current_task();
    if let Some(mark) = MARKS.get(task) {
        return *mark;
    }
    // SAFETY: a BTF pointer, the offset is from the kernel's BTF.
    let leader: *mut c_void = unsafe { member::read(task, &TASK_GROUP_LEADER) };
    if leader.is_null() {
        return UNTRACED;
    }
    MARKS.get(leader).map_or(UNTRACED, |mark| *mark)
}
