//! The built eBPF objects, for embedding into a loader. `scripts/build-probes` makes them.

/// Bytes at an address that a 64-bit ELF reader accepts.
#[repr(C, align(8))]
struct Aligned<T: ?Sized>(T);

macro_rules! object {
    ($file:literal) => {{
        static OBJECT: &Aligned<[u8]> = &Aligned(*include_bytes!(concat!("../prebuilt/", $file)));
        &OBJECT.0
    }};
}

/// `src/bin/syscalls.rs`, built.
pub static SYSCALLS: &[u8] = object!("syscalls.bpf.o");

/// `src/bin/tcp.rs`, built.
pub static TCP: &[u8] = object!("tcp.bpf.o");

/// `src/bin/watch.rs`, built.
pub static WATCH: &[u8] = object!("watch.bpf.o");

/// `src/bin/floor.rs`, built.
pub static FLOOR: &[u8] = object!("floor.bpf.o");

/// `src/bin/raw.rs`, built.
pub static RAW: &[u8] = object!("raw.bpf.o");
