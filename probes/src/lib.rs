//! What the eBPF programs and user space share: the maps' value types and the histogram's bucket function.
//!
//! The programs themselves are in `src/bin/`; their built objects, for embedding, in [`prebuilt`].
#![no_std]
#![cfg_attr(target_arch = "bpf", feature(asm_experimental_arch))]
#![expect(clippy::inline_always, reason = "in an eBPF program a call costs more than the few instructions inside")]

/// Value of a member's offset when this kernel has no such member: code behind a test for it is pruned.
pub const ABSENT: u32 = u32::MAX;

pub mod bucket;
#[cfg(target_arch = "bpf")]
pub mod kernel;
#[cfg(not(target_arch = "bpf"))]
pub mod prebuilt;
pub mod syscalls;
pub mod tcp;
