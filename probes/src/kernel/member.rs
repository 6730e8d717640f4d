//! Reading members of kernel structures at offsets that user space took from the kernel's BTF.

use aya_ebpf::{Global, cty::c_void, helpers::generated::bpf_get_current_task_btf};

/// Byte offset of a member. User space sets it before the load; the verifier then sees a constant.
pub type Offset = Global<u32>;

/// Reads a scalar or pointer member through a pointer whose type the verifier knows. A plain load, about 1 ns.
///
/// # Safety
/// `base` must be a BTF pointer of the verifier's (a tracepoint argument, the current task, or a pointer
/// read from one), and `offset` lie within its structure: the load is rejected otherwise.
#[inline(always)]
pub unsafe fn read<T: Copy>(base: *const c_void, offset: &Offset) -> T {
    // SAFETY: the verifier checks the pointer and the constant offset.
    unsafe { core::ptr::read_volatile(base.cast::<u8>().add(offset.load() as usize).cast::<T>()) }
}

/// Copies an array of 16 bytes: an IPv6 address, a command's name. Two loads, which the verifier lets go anywhere in an
/// array (v6.1 `btf_struct_walk`), and two stores: left alone, LLVM stores bytes.
///
/// # Safety
/// As for [`read`]; `to` must be aligned to 8 bytes.
#[inline(always)]
pub unsafe fn copy_16_bytes(base: *const c_void, offset: &Offset, to: &mut [u8; 16]) {
    // SAFETY: the caller's.
    unsafe {
        let from = base.cast::<u8>().add(offset.load() as usize).cast::<u64>();
        let to = to.as_mut_ptr().cast::<u64>();
        to.write_volatile(from.read_volatile());
        to.add(1).write_volatile(from.add(1).read_volatile());
    }
}

/// The thread that runs now, as a pointer that storage and member reads accept.
#[inline(always)]
#[must_use]
pub fn current_task() -> *mut c_void {
    // SAFETY: the helper takes nothing and always returns the current task.
    unsafe { bpf_get_current_task_btf() as *mut c_void }
}
