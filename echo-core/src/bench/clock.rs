//! The clocks of a run. Does not know what is timed.

use rustix::time::{ClockId, Timespec, clock_gettime};

/// `CLOCK_MONOTONIC`, in ns.
pub(super) fn now_ns() -> u64 {
    nanoseconds(clock_gettime(ClockId::Monotonic))
}

/// `CLOCK_REALTIME`, in ns.
pub(super) fn wall_ns() -> u64 {
    nanoseconds(clock_gettime(ClockId::Realtime))
}

/// CPU time of this process so far, user and system, all threads, in ns. Finer than getrusage, which counts in us.
pub(super) fn process_cpu_ns() -> u64 {
    nanoseconds(clock_gettime(ClockId::ProcessCPUTime))
}

fn nanoseconds(time: Timespec) -> u64 {
    time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_nsec.unsigned_abs()
}
