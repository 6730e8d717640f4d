//! `BPF_MAP_TYPE_TASK_STORAGE`, which aya-ebpf 0.2 does not wrap.

use core::ptr::null;

use aya_ebpf::{
    bindings::{BPF_F_NO_PREALLOC, BPF_LOCAL_STORAGE_GET_F_CREATE, bpf_map_type::BPF_MAP_TYPE_TASK_STORAGE},
    cty::c_void,
    helpers::generated::bpf_task_storage_get,
};

const KIND: usize = BPF_MAP_TYPE_TASK_STORAGE as usize;
const FLAGS: usize = BPF_F_NO_PREALLOC as usize;

/// A value of `T` per thread, freed by the kernel with the thread.
///
/// The fields are never read: their types tell the loader what the map is, in libbpf's way (the length of an
/// array behind a pointer is the number). Place it in section `.maps`.
#[repr(C)]
pub struct TaskStorage<T> {
    r#type: *const [i32; KIND],
    key: *const i32,
    value: *const T,
    max_entries: *const [i32; 0],
    map_flags: *const [i32; FLAGS],
}

// SAFETY: the pointers are null and only their types matter.
unsafe impl<T> Sync for TaskStorage<T> {}

impl<T> TaskStorage<T> {
    /// The definition.
    #[expect(clippy::new_without_default, reason = "only ever a static")]
    #[must_use]
    pub const fn new() -> Self {
        Self { r#type: null(), key: null(), value: null(), max_entries: null(), map_flags: null() }
    }

    /// The thread's value, if it has one.
    #[inline(always)]
    #[must_use]
    pub fn get(&self, task: *mut c_void) -> Option<&mut T> {
        self.lookup(task, 0)
    }

    /// The thread's value, made of zeroes if there was none; `None` when memory is short.
    #[inline(always)]
    #[must_use]
    pub fn get_or_create(&self, task: *mut c_void) -> Option<&mut T> {
        self.lookup(task, u64::from(BPF_LOCAL_STORAGE_GET_F_CREATE))
    }

    #[inline(always)]
    #[expect(clippy::mut_from_ref, reason = "the map only names the value, which lives in the kernel")]
    fn lookup(&self, task: *mut c_void, flags: u64) -> Option<&mut T> {
        let map = core::ptr::from_ref(self).cast_mut().cast();
        // SAFETY: the verifier checks the task pointer; the value is null or valid for as long as the thread, and
        // only programs that run for this thread, or while it does not run, touch it.
        unsafe { bpf_task_storage_get(map, task.cast(), core::ptr::null_mut(), flags).cast::<T>().as_mut() }
    }
}
