//! The built eBPF objects, for embedding into a loader. `scripts/build-probes` makes them.

/// Bytes at an address that a 64-bit ELF reader accepts.
#[repr(C, align(8))]
struct Aligned<T: ?Sized>(T);

/// `src/bin/syscalls.rs`, built.
pub static SYSCALLS: &[u8] = {
    static OBJECT: &Aligned<[u8]> = &Aligned(*include_bytes!("../prebuilt/syscalls.bpf.o"));
    &OBJECT.0
};

/// `src/bin/tcp.rs`, built.
pub static TCP: &[u8] = {
    static OBJECT: &Aligned<[u8]> = &Aligned(*include_bytes!("../prebuilt/tcp.bpf.o"));
    &OBJECT.0
};
