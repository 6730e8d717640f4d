//! What the eBPF programs are made with, apart from aya: kernel side only.

pub mod atomic;
pub mod counting;
pub mod descriptors;
pub mod member;
pub mod shared;
pub mod task_storage;

/// Never reached: the verifier proves that the programs cannot panic. `core` asks for one to be there.
#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    loop {}
}
