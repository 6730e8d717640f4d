//! From a file descriptor of the current process to the socket behind it.

use aya_ebpf::helpers::bpf_probe_read_kernel;

use super::member::current_task;

/// Byte offsets of the steps on the way.
pub struct Way {
    /// `task_struct.files`.
    pub task_files: u32,
    /// `files_struct.fdt`.
    pub files_fdt: u32,
    /// `fdtable.fd`.
    pub fdt_fd: u32,
    /// `fdtable.max_fds`.
    pub fdt_max_fds: u32,
    /// `file.private_data`.
    pub file_private: u32,
    /// `socket.sk`.
    pub socket_sk: u32,
}

/// Reads a member through a pointer that the verifier knows nothing of; `None` where that fails.
///
/// A few ns more than [`super::member::read`]. Any address is safe: the kernel catches the fault.
#[inline(always)]
pub fn read_at<T>(base: u64, offset: u32) -> Option<T> {
    // SAFETY: the helper checks the address.
    unsafe { bpf_probe_read_kernel((base + u64::from(offset)) as *const T) }.ok()
}

/// Address of the `struct sock` behind descriptor `fd`, which must be a socket's.
#[inline(always)]
pub fn sock_of(fd: u32, way: &Way) -> Option<u64> {
    let files: u64 = read_at(current_task() as u64, way.task_files)?;
    let table: u64 = read_at(files, way.files_fdt)?;
    let room: u32 = read_at(table, way.fdt_max_fds)?;
    if fd >= room {
        return None;
    }
    let files: u64 = read_at(table, way.fdt_fd)?;
    let file: u64 = read_at(files + u64::from(fd) * 8, 0)?;
    let socket: u64 = read_at(file, way.file_private)?;
    read_at(socket, way.socket_sk).filter(|&sock| sock != 0)
}
