//! Task-storage maps from user space, which aya 0.14 does not wrap: the key is a pidfd.

use std::{
    io,
    os::fd::{AsFd, AsRawFd, BorrowedFd},
};

use aya::maps::Map;

/// `bpf_cmd::BPF_MAP_UPDATE_ELEM`.
const BPF_MAP_UPDATE_ELEM: libc::c_long = 2;

/// Fail where there is a value.
const BPF_NOEXIST: u64 = 1;

/// The members of `union bpf_attr` that an update uses (v6.18 include/uapi/linux/bpf.h).
#[repr(C)]
struct UpdateAttr {
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
    let Map::Unsupported(data) = map else {
        return Err(io::Error::other("bug: not a task-storage map"));
    };
    let key = pidfd.as_raw_fd();
    let attr = UpdateAttr {
        map_fd: u32::try_from(data.fd().as_fd().as_raw_fd()).map_err(io::Error::other)?,
        padding: 0,
        key: std::ptr::from_ref(&key) as u64,
        value: std::ptr::from_ref(value) as u64,
        flags: BPF_NOEXIST,
    };
    // SAFETY: `attr`, the key and the value outlive the call; the map's value type is `T`, as its only callers say.
    let result = unsafe {
        libc::syscall(libc::SYS_bpf, BPF_MAP_UPDATE_ELEM, std::ptr::from_ref(&attr), size_of::<UpdateAttr>())
    };
    if result == 0 {
        return Ok(true);
    }
    match io::Error::last_os_error() {
        error if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        error => Err(error),
    }
}
