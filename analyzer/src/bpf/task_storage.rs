//! Task-storage maps from user space, which aya 0.14 does not wrap: the key is a pidfd.

use std::{
    io,
    os::fd::{AsFd, AsRawFd, BorrowedFd},
};

use aya::maps::Map;

/// `bpf_cmd::BPF_MAP_UPDATE_ELEM`.
const BPF_MAP_UPDATE_ELEM: libc::c_long = 2;
/// `bpf_cmd::BPF_MAP_DELETE_ELEM`.
const BPF_MAP_DELETE_ELEM: libc::c_long = 3;

/// Fail where there is a value.
const BPF_NOEXIST: u64 = 1;

/// The members of `union bpf_attr` that commands on an element use (v6.18 include/uapi/linux/bpf.h).
#[repr(C)]
struct ElementAttr {
    map_fd: u32,
    padding: u32,
    key: u64,
    value: u64,
    flags: u64,
}

/// Gives the first thread of a process a value; false when it has one, which it keeps.
///
/// # Errors
/// The kernel's, such as `ESRCH` when the process has ended.
pub(crate) fn add<T: Copy>(map: &Map, pidfd: BorrowedFd<'_>, value: &T) -> io::Result<bool> {
    match command(BPF_MAP_UPDATE_ELEM, map, pidfd, std::ptr::from_ref(value) as u64, BPF_NOEXIST) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(error),
    }
}

fn command(command: libc::c_long, map: &Map, pidfd: BorrowedFd<'_>, value: u64, flags: u64) -> io::Result<()> {
    let Map::Unsupported(data) = map else {
        return Err(io::Error::other("bug: not a task-storage map"));
    };
    let key = pidfd.as_raw_fd();
    let attr = ElementAttr {
        map_fd: u32::try_from(data.fd().as_fd().as_raw_fd()).map_err(io::Error::other)?,
        padding: 0,
        key: std::ptr::from_ref(&key) as u64,
        value,
        flags,
    };
    // SAFETY: `attr` and the key outlive the call, as does the value, whose type is that of the map.
    let result = unsafe { libc::syscall(libc::SYS_bpf, command, std::ptr::from_ref(&attr), size_of::<ElementAttr>()) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Takes the value of the first thread of a process away.
///
/// # Errors
/// The kernel's, such as `ENOENT` when it has none.
pub(crate) fn remove(map: &Map, pidfd: BorrowedFd<'_>) -> io::Result<()> {
    command(BPF_MAP_DELETE_ELEM, map, pidfd, 0, 0)
}
