//! Names by number and numbers by name, table by table.

use probes::syscalls::{COMPAT, NATIVE, X32};
use reports::recording::Abi;
use syscalls::{Errno, Sysno, x86, x86_64};

/// `execve`, native.
pub(crate) const EXECVE: u32 = Sysno::execve as u32;

/// `accept` and `accept4`, native.
pub(crate) const ACCEPT: u32 = Sysno::accept as u32;
pub(crate) const ACCEPT4: u32 = Sysno::accept4 as u32;

/// What x32 numbers beyond the shared ones mean (v6.18 arch/x86/entry/syscalls/syscall_64.tbl, abi x32), from 512 on.
const X32_OWN: [&str; 36] = [
    "rt_sigaction",
    "rt_sigreturn",
    "ioctl",
    "readv",
    "writev",
    "recvfrom",
    "sendmsg",
    "recvmsg",
    "execve",
    "ptrace",
    "rt_sigpending",
    "rt_sigtimedwait",
    "rt_sigqueueinfo",
    "sigaltstack",
    "timer_create",
    "mq_notify",
    "kexec_load",
    "waitid",
    "set_robust_list",
    "get_robust_list",
    "vmsplice",
    "move_pages",
    "preadv",
    "pwritev",
    "rt_tgsigqueueinfo",
    "recvmmsg",
    "sendmmsg",
    "process_vm_readv",
    "process_vm_writev",
    "setsockopt",
    "getsockopt",
    "io_setup",
    "io_submit",
    "execveat",
    "preadv2",
    "pwritev2",
];
const X32_OWN_FIRST: u32 = 512;

/// Opcodes of `io_uring` in their order (v6.18 include/uapi/linux/io_uring.h `enum io_uring_op`).
const OPCODES: [&str; 62] = [
    "nop",
    "readv",
    "writev",
    "fsync",
    "read_fixed",
    "write_fixed",
    "poll_add",
    "poll_remove",
    "sync_file_range",
    "sendmsg",
    "recvmsg",
    "timeout",
    "timeout_remove",
    "accept",
    "async_cancel",
    "link_timeout",
    "connect",
    "fallocate",
    "openat",
    "close",
    "files_update",
    "statx",
    "read",
    "write",
    "fadvise",
    "madvise",
    "send",
    "recv",
    "openat2",
    "epoll_ctl",
    "splice",
    "provide_buffers",
    "remove_buffers",
    "tee",
    "shutdown",
    "renameat",
    "unlinkat",
    "mkdirat",
    "symlinkat",
    "linkat",
    "msg_ring",
    "fsetxattr",
    "setxattr",
    "fgetxattr",
    "getxattr",
    "socket",
    "uring_cmd",
    "send_zc",
    "sendmsg_zc",
    "read_multishot",
    "waitid",
    "futex_wait",
    "futex_wake",
    "futex_waitv",
    "fixed_fd_install",
    "ftruncate",
    "bind",
    "listen",
    "recv_zc",
    "epoll_wait",
    "readv_fixed",
    "writev_fixed",
];

/// The recording's word for one of the probes' tables.
pub(crate) fn abi_of(abi: u32) -> Abi {
    match abi {
        COMPAT => Abi::Compat,
        X32 => Abi::X32,
        _ => Abi::Native,
    }
}

/// Name of a system call; `syscall_0xNNN` for a number that this version does not know.
pub(crate) fn name_of(abi: u32, nr: u32) -> String {
    known_name(abi, nr).map_or_else(|| format!("syscall_{nr:#x}"), str::to_owned)
}

fn known_name(abi: u32, nr: u32) -> Option<&'static str> {
    let index = usize::try_from(nr).ok()?;
    match abi {
        COMPAT if cfg!(target_arch = "x86_64") => x86::Sysno::new(index).map(|call| call.name()),
        X32 if nr >= X32_OWN_FIRST => X32_OWN.get(usize::try_from(nr - X32_OWN_FIRST).ok()?).copied(),
        X32 => x86_64::Sysno::new(index).map(|call| call.name()),
        _ => Sysno::new(index).map(|call| call.name()),
    }
}

/// Each known call of a table: number and name.
pub(crate) fn table(abi: u32) -> Vec<(u32, &'static str)> {
    (0..probes::syscalls::NUMBERS).filter_map(|nr| Some((nr, known_name(abi, nr)?))).collect()
}

/// Names of the native table.
pub(crate) fn native_names() -> impl Iterator<Item = &'static str> {
    table(NATIVE).into_iter().map(|(_, name)| name)
}

/// Name of an error number; `None` for one without.
pub(crate) fn errno_name(errno: u32) -> Option<&'static str> {
    Errno::new(i32::try_from(errno).ok()?).name()
}

/// Name of an `io_uring` opcode; `op_NN` for one that this version does not know.
pub(crate) fn opcode_name(opcode: u32) -> String {
    if opcode == probes::syscalls::FURTHER {
        return "multishot".to_owned();
    }
    OPCODES.get(opcode as usize).map_or_else(|| format!("op_{opcode}"), |&name| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_named_by_its_own_table() {
        assert_eq!(name_of(NATIVE, 0), "read");
        assert_eq!((name_of(COMPAT, 0), name_of(COMPAT, 3)), ("restart_syscall".to_owned(), "read".to_owned()));
        assert_eq!(
            (name_of(X32, 0), name_of(X32, 520), name_of(X32, 547)),
            ("read".into(), "execve".into(), "pwritev2".into())
        );
        assert_eq!((name_of(NATIVE, 9999), name_of(X32, 600)), ("syscall_0x270f".into(), "syscall_0x258".into()));
    }

    #[test]
    fn errors_and_opcodes_have_their_names() {
        assert_eq!((errno_name(11), errno_name(115), errno_name(4000)), (Some("EAGAIN"), Some("EINPROGRESS"), None));
        assert_eq!(
            (opcode_name(13), opcode_name(27), opcode_name(99)),
            ("accept".into(), "recv".into(), "op_99".into())
        );
    }
}
