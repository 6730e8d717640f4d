//! The eBPF programs in the kernel: loading, attaching, reading.

pub(crate) mod cost;
pub(crate) mod loading;
pub(crate) mod syscalls;
pub(crate) mod task_storage;
pub(crate) mod tcp;
pub(crate) mod watch;

/// Lets aya copy a value type of the probes out of a map.
#[repr(transparent)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Value<T>(pub(crate) T);

// SAFETY: the types in `probes` that this is used with are `repr(C)` structures of integers without padding.
unsafe impl<T: Copy + 'static> aya::Pod for Value<T> {}

/// Sum of a per-CPU counter.
pub(crate) fn sum(array: &aya::maps::PerCpuArray<&aya::maps::MapData, u64>, index: u32) -> anyhow::Result<u64> {
    Ok(array.get(&index, 0)?.iter().sum())
}
