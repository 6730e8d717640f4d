//! Which CPU a worker stays on. Does not start workers.

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use crate::Error;

/// Keeps the calling thread on one of the CPUs that it may use, in turn by `index`.
///
/// # Errors
/// When the kernel refuses.
pub(super) fn pin(index: usize) -> Result<(), Error> {
    let allowed = sched_getaffinity(None).map_err(Error::system("read on which CPUs this may run"))?;
    let cpus: Vec<usize> = (0..CpuSet::MAX_CPU).filter(|&cpu| allowed.is_set(cpu)).collect();
    let mut one = CpuSet::new();
    one.set(cpus[index % cpus.len()]);
    sched_setaffinity(None, &one).map_err(Error::system("keep a worker on one CPU"))
}
