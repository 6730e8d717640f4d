//! `io_uring` operations by opcode: rows of a table of their own.

use probes::syscalls::{FURTHER, IO_URING};
use reports::{
    histogram::{Histogram, KERNEL},
    recording::IoUring,
};

use super::rows::RowSum;
use crate::kernel::calls::opcode_name;

/// The row stands for operations of `io_uring`, not for a system call.
pub(super) fn is_operation(row: &RowSum) -> bool {
    row.key.abi == IO_URING
}

/// As the recording has it.
pub(super) fn operation(row: RowSum) -> IoUring {
    let stat = row.stat;
    // Completions beyond the first of an operation have no start of their own.
    let timed: u64 = row.buckets.iter().sum();
    let [min_complement, max] = stat.latency;
    let (min, max) = if row.key.nr == FURTHER { (u64::MAX, 0) } else { (!min_complement, max) };
    IoUring {
        opcode: opcode_name(row.key.nr),
        submitted: stat.submitted,
        completed: stat.calls,
        errors: stat.errors,
        latency: Histogram::from_parts(KERNEL, timed, stat.total_ns, min, max, row.buckets),
    }
}
