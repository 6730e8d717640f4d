//! Additions to memory that several CPUs change at once. The BPF target of `core` has no atomic types, the machine has.

use core::arch::asm;

/// Adds to a counter in a map that is not per CPU.
#[inline(always)]
pub fn add(counter: &mut u64, number: u64) {
    // SAFETY: one aligned 64-bit addition to memory that the reference vouches for.
    unsafe { asm!("lock *(u64 *)({0} + 0) += {1}", in(reg) core::ptr::from_mut(counter), in(reg) number) }
}

/// As [`add`], for a counter of 32 bits.
#[inline(always)]
pub fn add_u32(counter: &mut u32, number: u32) {
    // SAFETY: one aligned 32-bit addition to memory that the reference vouches for.
    unsafe { asm!("lock *(u32 *)({0} + 0) += {1}", in(reg) core::ptr::from_mut(counter), in(reg) u64::from(number)) }
}

/// Writes `new` where `expected` was; returns what was there.
#[inline(always)]
pub fn compare_exchange(number: &mut u64, expected: u64, new: u64) -> u64 {
    let mut was = expected;
    // SAFETY: one aligned 64-bit exchange in memory that the reference vouches for (`BPF_CMPXCHG`, 5.12).
    unsafe {
        asm!("r0 = cmpxchg_64({0} + 0, r0, {1})", in(reg) core::ptr::from_mut(number), in(reg) new, inout("r0") was);
    }
    was
}
