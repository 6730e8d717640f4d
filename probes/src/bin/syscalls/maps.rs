//! The maps, and the globals that user space sets before the load: what it does not set stays out of the program.

use aya_ebpf::{
    Global,
    bindings::BPF_F_NO_PREALLOC,
    macros::map,
    maps::{Array, HashMap, PerCpuArray, ProgramArray},
};
use probes::{
    ABSENT,
    kernel::{
        member::Offset,
        shared::{Giver, Table},
        task_storage::TaskStorage,
    },
    syscalls::{
        ABIS, COUNTERS, GROUPS, MOST_ROWS, PLACES, RowKey, SELECTION_WORDS, SPLIT_ROWS, SplitKey, SplitStat,
        Submission, SyscallStat, Thread,
    },
};

#[unsafe(link_section = ".maps")]
#[unsafe(no_mangle)]
pub static THREADS: TaskStorage<Thread> = TaskStorage::new();

/// One value per row; user space makes it as long as memory for this machine's CPUs allows.
#[map]
pub static STATS: PerCpuArray<SyscallStat> = PerCpuArray::with_max_entries(MOST_ROWS, 0);

/// What each row is for.
#[map]
pub static ROW_KEYS: Array<RowKey> = Array::with_max_entries(MOST_ROWS, 0);

/// Rows of numbers that have no place in `ROWS`.
#[map]
pub static ODD_ROWS: HashMap<RowKey, u32> = HashMap::with_max_entries(MOST_ROWS, BPF_F_NO_PREALLOC);

#[map]
pub static COUNTS: PerCpuArray<u64> = PerCpuArray::with_max_entries(GROUPS * COUNTERS, 0);

#[map]
pub static SPLIT: HashMap<SplitKey, SplitStat> = HashMap::with_max_entries(SPLIT_ROWS, BPF_F_NO_PREALLOC);

/// Goes on with the descriptor that accept returned: the TCP probes' `accepted`, nothing while they are off.
#[map]
pub static ACCEPTED: ProgramArray = ProgramArray::with_max_entries(1, 0);

/// Operations in flight by the address of their request.
#[map]
pub static SUBMISSIONS: HashMap<u64, Submission> = HashMap::with_max_entries(16_384, BPF_F_NO_PREALLOC);

/// Group by the address of the ring: completions without a request have nothing else.
#[map]
pub static RINGS: HashMap<u64, u32> = HashMap::with_max_entries(4_096, BPF_F_NO_PREALLOC);

/// Row of each call plus one, by `RowKey::place`; 0 until it is seen. Two CPUs that see it first at once make two rows:
/// user space adds up rows of one key.
#[unsafe(no_mangle)]
pub static ROWS: Table<PLACES> = Table::new();
/// Rows that were given out.
#[unsafe(no_mangle)]
pub static ROWS_GIVEN: Giver = Giver::new();
/// Serials that were given out.
#[unsafe(no_mangle)]
pub static SERIALS_GIVEN: Giver = Giver::new();

/// Length of `STATS`.
#[unsafe(no_mangle)]
pub static ROW_LIMIT: Global<u32> = Global::new(0);
/// Count only the calls in `SELECTION`.
#[unsafe(no_mangle)]
pub static SELECTIVE: Global<u32> = Global::new(0);
/// With `SELECTIVE`: count also numbers that are beyond the bitmap.
#[unsafe(no_mangle)]
pub static SELECT_ODD: Global<u32> = Global::new(0);
/// One bit per system call, table after table.
#[unsafe(no_mangle)]
pub static SELECTION: Global<[u64; SELECTION_WORDS * ABIS as usize]> =
    Global::new([0; SELECTION_WORDS * ABIS as usize]);
/// Native calls whose return values are kept.
#[unsafe(no_mangle)]
pub static VALUED: Global<[u64; SELECTION_WORDS]> = Global::new([0; SELECTION_WORDS]);
/// Read no clock: calls and errors only.
#[unsafe(no_mangle)]
pub static COUNT_ONLY: Global<u32> = Global::new(0);
/// Tell time on the CPU from time off it; `sched_switch` is attached.
#[unsafe(no_mangle)]
pub static ON_CPU: Global<u32> = Global::new(0);
/// Keep a row per thread in `SPLIT`.
#[unsafe(no_mangle)]
pub static BY_THREAD: Global<u32> = Global::new(0);
/// Mark processes whose name after an exec is `COMMAND`.
#[unsafe(no_mangle)]
pub static MATCH_COMMAND: Global<u32> = Global::new(0);
#[unsafe(no_mangle)]
pub static COMMAND: Global<[u64; 2]> = Global::new([0; 2]);
/// Mark processes that exec in this cgroup or below it; its depth.
#[unsafe(no_mangle)]
pub static CGROUP: Global<u64> = Global::new(0);
#[unsafe(no_mangle)]
pub static CGROUP_LEVEL: Global<u32> = Global::new(0);
/// Numbers of `accept` and `accept4`.
#[unsafe(no_mangle)]
pub static NR_ACCEPT: Global<u32> = Global::new(0);
#[unsafe(no_mangle)]
pub static NR_ACCEPT4: Global<u32> = Global::new(0);
/// Number of `execve`, with which a held thread begins to count.
#[unsafe(no_mangle)]
pub static NR_EXECVE: Global<u32> = Global::new(0);

#[unsafe(no_mangle)]
pub static TASK_PID: Offset = Offset::new(ABSENT);
#[unsafe(no_mangle)]
pub static TASK_GROUP_LEADER: Offset = Offset::new(ABSENT);
#[unsafe(no_mangle)]
pub static TASK_TGID: Offset = Offset::new(ABSENT);
/// `task_struct.thread_info.status`, whose bit 1 (`TS_COMPAT`) says that an x86 call came through the 32-bit table.
#[unsafe(no_mangle)]
pub static TASK_STATUS: Offset = Offset::new(ABSENT);
/// `task_struct.on_cpu`: not 0 while the thread runs.
#[unsafe(no_mangle)]
pub static TASK_ON_CPU: Offset = Offset::new(ABSENT);
/// `task_struct.sched_info.run_delay`; absent where the kernel does not account it.
#[unsafe(no_mangle)]
pub static TASK_RUN_DELAY: Offset = Offset::new(ABSENT);
/// `pt_regs.orig_ax`: number of the system call in progress, negative outside one.
#[unsafe(no_mangle)]
pub static REGS_NR: Offset = Offset::new(ABSENT);
/// The kernel has `bpf_task_pt_regs` (5.15).
#[unsafe(no_mangle)]
pub static HAS_TASK_REGS: Global<u32> = Global::new(0);
/// `io_kiocb.opcode` and `io_kiocb.ctx`.
#[unsafe(no_mangle)]
pub static KIOCB_OPCODE: Offset = Offset::new(ABSENT);
#[unsafe(no_mangle)]
pub static KIOCB_CTX: Offset = Offset::new(ABSENT);
/// `io_uring_cqe.res`, where `io_uring_complete` is given the entry (6.17) and not its members.
#[unsafe(no_mangle)]
pub static CQE_RES: Offset = Offset::new(ABSENT);
