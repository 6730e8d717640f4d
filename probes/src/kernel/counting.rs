//! Per-CPU counters.

use aya_ebpf::maps::PerCpuArray;

use super::atomic;

/// Adds one. An index beyond the array counts nothing.
#[inline(always)]
pub fn add_one(array: &PerCpuArray<u64>, index: u32) {
    if let Some(slot) = array.get_ptr_mut(index) {
        // SAFETY: per-CPU memory, and preemption is off.
        unsafe { *slot += 1 }
    }
}

/// Adds one, also where an interrupt may run a program that counts the same on this CPU: network events come in both.
#[inline(always)]
pub fn add_one_interruptibly(array: &PerCpuArray<u64>, index: u32) {
    if let Some(slot) = array.get_ptr_mut(index) {
        // SAFETY: aligned memory that lives as long as the map, and other programs reach it in this way alone.
        unsafe { atomic::add(&mut *slot, 1) }
    }
}
