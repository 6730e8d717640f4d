//! Buffers that the kernel picks from when bytes arrive, so that idle connections need none. Does not talk to the ring.
#![expect(unsafe_code, reason = "the kernel writes into this memory")]

use std::{
    alloc::{Layout, alloc_zeroed, handle_alloc_error},
    ptr::NonNull,
    slice,
    sync::atomic::{AtomicU16, Ordering},
};

use io_uring::types::BufRingEntry;

/// Alignment that the kernel asks of the ring (v6.18 io_register_pbuf_ring).
const PAGE_BYTES: usize = 4096;

/// Bytes that arrived in one of the buffers, which is ours until it is given back.
#[derive(Debug)]
pub(super) struct Chunk {
    buffer: u16,
    length: usize,
}

/// A ring of buffers that are free, shared with the kernel. Its memory is never freed: a ring that is closed may go on
/// writing for a moment.
#[derive(Debug)]
pub(super) struct Buffers {
    entries: NonNull<BufRingEntry>,
    /// How many, a power of two.
    count: u16,
    memory: NonNull<u8>,
    buffer_bytes: usize,
    tail: u16,
}

impl Buffers {
    /// Buffers of this size, all free.
    pub(super) fn new(buffer_bytes: usize) -> Self {
        const MOST_BYTES: usize = 8 << 20;
        let count = (MOST_BYTES / buffer_bytes).clamp(4, 1024).next_power_of_two().min(1024);
        let entries = allocate(count * size_of::<BufRingEntry>(), PAGE_BYTES).cast();
        let memory = allocate(count * buffer_bytes, PAGE_BYTES);
        let count = u16::try_from(count).expect("bug: clamped above");
        let mut new = Self { entries, count, memory, buffer_bytes, tail: 0 };
        for buffer in 0..count {
            new.give_back(Chunk { buffer, length: 0 });
        }
        new
    }

    /// Address and number of the ring's entries, as the kernel wants to know them.
    pub(super) fn ring(&self) -> (u64, u16) {
        (self.entries.as_ptr() as u64, self.count)
    }

    /// What the kernel says that it put into one of the buffers.
    pub(super) fn chunk(&self, buffer: u16, length: usize) -> Chunk {
        assert!(buffer < self.count && length <= self.buffer_bytes, "bug: the kernel has other buffers");
        Chunk { buffer, length }
    }

    pub(super) fn bytes(&self, chunk: &Chunk) -> &[u8] {
        let start = usize::from(chunk.buffer) * self.buffer_bytes;
        // SAFETY: within the allocation, as checked when the chunk was made; zeroed at first, so always initialised; the
        // kernel does not write to it before it is given back, which consumes the chunk.
        unsafe { slice::from_raw_parts(self.memory.add(start).as_ptr(), chunk.length) }
    }

    /// Makes a buffer free again.
    pub(super) fn give_back(&mut self, chunk: Chunk) {
        let slot = usize::from(self.tail & (self.count - 1));
        let start = usize::from(chunk.buffer) * self.buffer_bytes;
        // SAFETY: slot and start are within their allocations; the kernel does not read an entry beyond the tail, and the
        // entry overlaps the tail itself only in a field that is not written here.
        unsafe {
            let entry = self.entries.add(slot).as_mut();
            entry.set_addr(self.memory.add(start).as_ptr() as u64);
            entry.set_len(u32::try_from(self.buffer_bytes).expect("bug: options allow less"));
            entry.set_bid(chunk.buffer);
        }
        self.tail = self.tail.wrapping_add(1);
        // SAFETY: the first entry is valid; the tail is an aligned u16 that only we write and the kernel reads. Release:
        // whoever sees the tail sees the entry.
        let tail = unsafe { AtomicU16::from_ptr(BufRingEntry::tail(self.entries.as_ptr()).cast_mut()) };
        tail.store(self.tail, Ordering::Release);
    }
}

fn allocate(bytes: usize, alignment: usize) -> NonNull<u8> {
    let layout = Layout::from_size_align(bytes, alignment).expect("bug: options allow less");
    // SAFETY: the size is not zero: there are at least 4 buffers of at least a byte.
    let memory = unsafe { alloc_zeroed(layout) };
    NonNull::new(memory).unwrap_or_else(|| handle_alloc_error(layout))
}
