//! Per-CPU counters.

use core::arch::asm;

use aya_ebpf::maps::PerCpuArray;

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
        unsafe { add_shared(&mut *slot, 1) }
    }
}

/// Adds to a number that programs on several CPUs add to.
#[inline(always)]
pub fn add_shared(number: &mut u64, more: u64) {
    // core has no atomic addition for this target.
    // SAFETY: adds to the eight bytes behind a valid and aligned reference.
    unsafe {
        asm!("lock *(u64 *)({0} + 0) += {1}", in(reg) core::ptr::from_mut(number), in(reg) more, options(nostack));
    }
}
