//! From a system call to its row: which are counted, and where.

use core::hint::black_box;

use aya_ebpf::{Global, bindings::BPF_ANY, cty::c_void};
use probes::{
    ABSENT,
    kernel::{counting::add_one, member},
    syscalls::{
        ABIS, COMPAT, Counter, NATIVE, NO_ROW, NUMBERS, RowKey, SELECTION_WORDS, SyscallStat, X32, X32_BIT,
        counter_index,
    },
};

use crate::maps::{
    COUNTS, NR_ACCEPT, NR_ACCEPT4, ODD_ROWS, ROW_KEYS, ROW_LIMIT, ROWS, ROWS_GIVEN, SELECT_ODD, SELECTION, SELECTIVE,
    STATS, TASK_STATUS, VALUED,
};

const TS_COMPAT: u32 = 2;

/// Set in a row's number when its return values are kept: what a call's exit would else have to look up.
const VALUED_ROW: u32 = 1 << 31;
/// Set in the number of the rows of `accept` and `accept4`.
const ACCEPT_ROW: u32 = 1 << 30;
/// What is left is the number.
const NUMBER: u32 = ACCEPT_ROW - 1;
/// For an `accept` that is not counted: a number that no row has.
const UNCOUNTED_ACCEPT: u32 = ACCEPT_ROW | NUMBER;

#[inline(always)]
pub fn count(group: u32, counter: Counter) {
    add_one(&COUNTS, counter_index(group, counter));
}

/// What a row keeps.
#[inline(always)]
pub fn stat(row: u32) -> Option<&'static mut SyscallStat> {
    // SAFETY: per-CPU memory that lives as long as the map, and preemption is off.
    STATS.get_ptr_mut(row & NUMBER).map(|stat| unsafe { &mut *stat })
}

/// The number of the row without what it says beside.
#[inline(always)]
pub fn plain(row: u32) -> u32 {
    row & NUMBER
}

/// The number is that of a row.
#[inline(always)]
pub fn is_counted(row: u32) -> bool {
    row & NUMBER != NUMBER
}

/// The row stands for a call that accepts a connection.
#[inline(always)]
pub fn is_accept(row: u32) -> bool {
    row != NO_ROW && row & ACCEPT_ROW != 0
}

/// What stands for the row of a call that is not counted.
#[inline(always)]
pub fn uncounted(key: &RowKey) -> u32 {
    if accepts(key) { UNCOUNTED_ACCEPT } else { NO_ROW }
}

#[inline(always)]
fn accepts(key: &RowKey) -> bool {
    key.abi == NATIVE && (key.nr == NR_ACCEPT4.load() || key.nr == NR_ACCEPT.load())
}

/// The row keeps return values.
#[inline(always)]
pub fn is_valued(row: u32) -> bool {
    row & VALUED_ROW != 0
}

/// The call that `task` makes with `nr`, by the table it went through.
#[inline(always)]
pub fn key_of(group: u32, task: *const c_void, nr: u32) -> RowKey {
    // SAFETY: a BTF pointer, the offset is from the kernel's BTF.
    if TASK_STATUS.load() != ABSENT && unsafe { member::read::<u32>(task, &TASK_STATUS) } & TS_COMPAT != 0 {
        return RowKey::new(group, COMPAT, nr);
    }
    if nr & X32_BIT != 0 && nr >> 31 == 0 {
        return RowKey::new(group, X32, nr & !X32_BIT);
    }
    RowKey::new(group, NATIVE, nr)
}

#[inline(always)]
fn bit<const N: usize>(bitmap: &Global<[u64; N]>, index: u32) -> bool {
    let word = black_box((index / 64) as usize);
    if word >= N {
        return false;
    }
    // SAFETY: `word` is within the array.
    let bits = unsafe { core::ptr::read_volatile(core::ptr::from_ref(bitmap).cast::<u64>().add(word)) };
    bits >> (index % 64) & 1 == 1
}

/// The call is one of those that are counted.
#[inline(always)]
pub fn is_selected(key: &RowKey) -> bool {
    if SELECTIVE.load() == 0 {
        return true;
    }
    if key.nr >= NUMBERS {
        return SELECT_ODD.load() != 0;
    }
    bit::<{ SELECTION_WORDS * ABIS as usize }>(&SELECTION, key.abi * NUMBERS + key.nr)
}

/// The call's row, made when it is first seen; [`NO_ROW`], and counted as lost, when none is free.
#[inline(always)]
pub fn row_of(key: &RowKey) -> u32 {
    if key.nr < NUMBERS {
        let known = ROWS.get(key.place());
        if known != 0 {
            return known - 1;
        }
    }
    new_row(key.group, key.abi, key.nr)
}

/// Out of line: taken once for each row, and for numbers that no table has.
#[inline(never)]
fn new_row(group: u32, abi: u32, nr: u32) -> u32 {
    let key = RowKey::new(group, abi, nr);
    if nr >= NUMBERS
        && let Some(row) = ODD_ROWS.get_ptr(&key)
    {
        // SAFETY: the map's memory, written once before it can be found.
        return unsafe { *row };
    }
    let left = ROWS_GIVEN.given() < u64::from(ROW_LIMIT.load());
    let free = if left { ROWS_GIVEN.next() as u32 } else { NO_ROW };
    let Some(slot) = ROW_KEYS.get_ptr_mut(free) else {
        count(group, Counter::NoRow);
        return NO_ROW;
    };
    // SAFETY: the map's memory; this row was given to us alone.
    unsafe { *slot = key };
    let valued = abi == NATIVE && bit::<SELECTION_WORDS>(&VALUED, nr);
    let row = free | if valued { VALUED_ROW } else { 0 } | if accepts(&key) { ACCEPT_ROW } else { 0 };
    if nr >= NUMBERS {
        let _ = ODD_ROWS.insert(key, row, u64::from(BPF_ANY));
        return row;
    }
    ROWS.set(key.place(), row + 1);
    row
}
