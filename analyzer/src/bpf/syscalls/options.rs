//! What the system-call probes are to do, and how that becomes their globals.

use anyhow::Result;
use aya::EbpfLoader;
use probes::{
    ABSENT,
    syscalls::{MOST_ROWS, SPLIT_ROWS, SyscallStat},
};

use super::super::loading::KernelTypes;
use crate::kernel::calls::{self, Selection};

/// Memory that the rows may take on a machine with many CPUs, in bytes: each of them has its own copy.
const ROW_MEMORY: u64 = 40 << 20;
/// Fewest rows, whatever the memory.
const FEWEST_ROWS: u32 = 32;

/// Processes that are marked as they exec.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(crate) enum Match {
    /// None.
    #[default]
    Nothing,
    /// Those of this name, as the kernel cuts it.
    Command([u8; 16]),
    /// Those in this cgroup or below it.
    Cgroup {
        /// Its id: the inode of its folder.
        id: u64,
        /// Its depth below the root.
        level: u32,
    },
}

/// What is counted and how.
#[derive(Clone, Debug, Default)]
pub(crate) struct ProbeOptions {
    pub(crate) selection: Selection,
    /// Read no clock.
    pub(crate) count_only: bool,
    /// Tell time on the CPU from time off it.
    pub(crate) on_cpu: bool,
    /// Keep a row for each thread and call.
    pub(crate) split: bool,
    pub(crate) matching: Match,
}

/// Values of the globals: the loader takes references, which this owns.
pub(super) struct Globals {
    numbers: Vec<(&'static str, u32)>,
    selection: calls::Bitmap,
    valued: Vec<u64>,
    command: [u64; 2],
    cgroup: u64,
    rows: u32,
    split_rows: u32,
}

impl Globals {
    /// Looks everything up.
    ///
    /// # Errors
    /// When the kernel lacks a member without which nothing works.
    pub(super) fn new(types: &KernelTypes, options: &ProbeOptions) -> Result<Self> {
        let bitmap = options.selection.bitmap();
        let (command, cgroup, level) = match options.matching {
            Match::Nothing => (None, 0, 0),
            Match::Command(name) => (Some(name), 0, 0),
            Match::Cgroup { id, level } => (None, id, level),
        };
        let regs = x86_offset(types, "pt_regs.orig_ax");
        let on_cpu = types.offset_if_any("task_struct.on_cpu");
        let task_regs = on_cpu != ABSENT && types.own.has_function("bpf_task_pt_regs");
        let numbers = vec![
            ("ROW_LIMIT", row_limit()),
            ("SELECTIVE", u32::from(bitmap.is_some())),
            ("SELECT_ODD", u32::from(options.selection.counts_unnamed())),
            ("COUNT_ONLY", u32::from(options.count_only)),
            ("ON_CPU", u32::from(options.on_cpu && !options.count_only)),
            ("BY_THREAD", u32::from(options.split)),
            ("MATCH_COMMAND", u32::from(command.is_some())),
            ("CGROUP_LEVEL", level),
            ("NR_EXECVE", calls::EXECVE),
            ("NR_ACCEPT", calls::ACCEPT),
            ("NR_ACCEPT4", calls::ACCEPT4),
            ("TASK_PID", types.offset("task_struct.pid")?),
            ("TASK_TGID", types.offset("task_struct.tgid")?),
            ("TASK_GROUP_LEADER", types.offset("task_struct.group_leader")?),
            ("TASK_ON_CPU", on_cpu),
            ("TASK_RUN_DELAY", types.offset_if_any("task_struct.sched_info.run_delay")),
            // TS_COMPAT is x86's way; elsewhere 32-bit calls do not share the 64-bit table's tracepoint numbers either.
            ("TASK_STATUS", x86_offset(types, "task_struct.thread_info.status")),
            ("REGS_NR", regs),
            ("HAS_TASK_REGS", u32::from(task_regs)),
            ("KIOCB_OPCODE", types.offset_if_any("io_kiocb.opcode")),
            ("KIOCB_CTX", types.offset_if_any("io_kiocb.ctx")),
            ("CQE_RES", completion_result(types)),
        ];
        Ok(Self {
            numbers,
            selection: bitmap.unwrap_or([0; size_of::<calls::Bitmap>() / 8]),
            valued: calls::valued().to_vec(),
            command: command.map_or([0; 2], words_of),
            cgroup,
            rows: row_limit(),
            split_rows: if options.split { SPLIT_ROWS } else { 1 },
        })
    }

    /// Sets them.
    pub(super) fn apply<'a>(&'a self, loader: &mut EbpfLoader<'a>) {
        for (name, value) in &self.numbers {
            loader.override_global(name, value, true);
        }
        loader
            .override_global("SELECTION", self.selection.as_slice(), true)
            .override_global("VALUED", self.valued.as_slice(), true)
            .override_global("COMMAND", self.command.as_slice(), true)
            .override_global("CGROUP", &self.cgroup, true)
            .map_max_entries("STATS", self.rows)
            .map_max_entries("ROW_KEYS", self.rows)
            .map_max_entries("SPLIT", self.split_rows);
    }
}

fn words_of(name: [u8; 16]) -> [u64; 2] {
    let word = |at: usize| u64::from_ne_bytes(name[at..at + 8].try_into().expect("bug: eight bytes"));
    [word(0), word(8)]
}

/// Rows that fit the memory, every possible CPU counted.
fn row_limit() -> u32 {
    let cpus = aya::util::nr_cpus().map_or(1, |cpus| cpus as u64);
    let per_row = cpus * size_of::<SyscallStat>() as u64;
    u32::try_from(ROW_MEMORY / per_row).unwrap_or(MOST_ROWS).clamp(FEWEST_ROWS, MOST_ROWS)
}

/// Offset of a member that means what we take it for on x86 only.
fn x86_offset(types: &KernelTypes, path: &str) -> u32 {
    if cfg!(target_arch = "x86_64") { types.offset_if_any(path) } else { ABSENT }
}

/// Offset of an `io_uring` completion's result, where the tracepoint is given the entry (6.17) and not its members.
fn completion_result(types: &KernelTypes) -> u32 {
    const WITH_ENTRY: usize = 3;
    if types.own.tracepoint_arguments("io_uring_complete") == Some(WITH_ENTRY) {
        types.offset_if_any("io_uring_cqe.res")
    } else {
        ABSENT
    }
}
