//! Per-CPU counters.

use aya_ebpf::maps::PerCpuArray;

/// Adds one. An index beyond the array counts nothing.
#[inline(always)]
pub fn add_one(array: &PerCpuArray<u64>, index: u32) {
    if let Some(slot) = array.get_ptr_mut(index) {
        // SAFETY: per-CPU memory, and preemption is off.
        unsafe { *slot += 1 }
    }
}
