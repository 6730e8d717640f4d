//! Memory of the programs themselves (`.bss`) that all CPUs read and write.

use core::{cell::UnsafeCell, ffi::c_void, intrinsics};

use super::atomic;

/// Numbers that are given out once each, whichever CPU asks. Counts up from 0.
pub struct Giver(UnsafeCell<u64>);

// SAFETY: touched by atomic instructions only.
unsafe impl Sync for Giver {}

impl Giver {
    /// Has given nothing.
    #[must_use]
    pub const fn new() -> Self {
        Self(UnsafeCell::new(0))
    }

    /// How many were given.
    #[inline(always)]
    #[must_use]
    pub fn given(&self) -> u64 {
        // SAFETY: aligned, and in memory that lives as long as the programs.
        unsafe { core::ptr::read_volatile(self.0.get()) }
    }

    /// The next number. `BPF_ATOMIC` with `BPF_FETCH` (5.12), which `core` has no method for on this target.
    #[inline(always)]
    #[must_use]
    pub fn next(&self) -> u64 {
        // Relaxed, LLVM 22 picks the instruction without `BPF_FETCH` and takes the operand for its result.
        // SAFETY: as above.
        unsafe { intrinsics::atomic_xadd::<u64, u64, { intrinsics::AtomicOrdering::SeqCst }>(self.0.get(), 1) }
    }
}

/// A number that goes up and down, whichever CPU moves it. 0 at first.
pub struct Gauge(UnsafeCell<u64>);

// SAFETY: touched by atomic instructions and whole reads only.
unsafe impl Sync for Gauge {}

impl Gauge {
    /// At 0.
    #[must_use]
    pub const fn new() -> Self {
        Self(UnsafeCell::new(0))
    }

    /// Where it is.
    #[inline(always)]
    #[must_use]
    pub fn level(&self) -> u64 {
        // SAFETY: aligned, and in memory that lives as long as the programs.
        unsafe { core::ptr::read_volatile(self.0.get()) }
    }

    /// One more.
    #[inline(always)]
    pub fn up(&self) {
        // SAFETY: as above.
        unsafe { atomic::add(&mut *self.0.get(), 1) }
    }

    /// One less.
    #[inline(always)]
    pub fn down(&self) {
        // SAFETY: as above.
        unsafe { atomic::add(&mut *self.0.get(), u64::MAX) }
    }
}

/// A place in the kernel's memory that is known again. Null at first.
pub struct Remembered(UnsafeCell<*const c_void>);

// SAFETY: whole reads and writes only.
unsafe impl Sync for Remembered {}

impl Remembered {
    /// None.
    #[must_use]
    pub const fn new() -> Self {
        Self(UnsafeCell::new(core::ptr::null()))
    }

    /// Whether this is the one. Null is no place.
    #[inline(always)]
    #[must_use]
    pub fn is(&self, place: *const c_void) -> bool {
        // SAFETY: aligned, and in memory that lives as long as the programs.
        !place.is_null() && place == unsafe { core::ptr::read_volatile(self.0.get()) }
    }

    /// From now on it is this one.
    #[inline(always)]
    pub fn remember(&self, place: *const c_void) {
        // SAFETY: as above.
        unsafe { core::ptr::write_volatile(self.0.get(), place) }
    }
}

/// `N` numbers, 0 at first. Reads and writes are whole; the last one to write wins.
pub struct Table<const N: usize>(UnsafeCell<[u32; N]>);

// SAFETY: aligned 32-bit loads and stores only.
unsafe impl<const N: usize> Sync for Table<N> {}

impl<const N: usize> Table<N> {
    /// All zero.
    #[must_use]
    pub const fn new() -> Self {
        Self(UnsafeCell::new([0; N]))
    }

    /// The number at `index`; 0 beyond the end.
    #[inline(always)]
    #[must_use]
    pub fn get(&self, index: usize) -> u32 {
        // The verifier must see the bound that LLVM may have proved.
        let index = core::hint::black_box(index);
        // SAFETY: within the array.
        if index < N { unsafe { core::ptr::read_volatile(self.0.get().cast::<u32>().add(index)) } } else { 0 }
    }

    /// Sets the number at `index`; nothing beyond the end.
    #[inline(always)]
    pub fn set(&self, index: usize, value: u32) {
        let index = core::hint::black_box(index);
        if index < N {
            // SAFETY: within the array.
            unsafe { core::ptr::write_volatile(self.0.get().cast::<u32>().add(index), value) }
        }
    }
}
