//! Calls by thread or process, and that they add up to the total.

use std::collections::BTreeMap;

use anyhow::Result;
use aya::maps::HashMap;
use probes::syscalls::{RowKey, SplitKey, SplitStat};
use reports::recording::{Split, SplitRow};

use super::{super::Value, SyscallProbes};
use crate::kernel::calls::{abi_of, name_of};

impl SyscallProbes {
    /// Calls of a group by thread; `None` when that was not asked for.
    ///
    /// # Errors
    /// When a map cannot be read.
    pub(super) fn split(&self, group: u32) -> Result<Option<Split>> {
        if !self.options.split {
            return Ok(None);
        }
        let keys = self.row_keys()?;
        let map: HashMap<_, Value<SplitKey>, Value<SplitStat>> = HashMap::try_from(self.map("SPLIT")?)?;
        let mut rows: BTreeMap<(u32, RowKey), SplitStat> = BTreeMap::new();
        for entry in &map {
            let (Value(key), Value(stat)) = entry?;
            // Rows of one key are one call.
            let Some(call) = keys.get(key.row as usize).filter(|call| call.group == group) else { continue };
            rows.entry((key.serial, *call)).and_modify(|sum| merge(sum, &stat)).or_insert(stat);
        }
        let mut rows: Vec<SplitRow> = rows.into_iter().map(|((_, call), stat)| row(call, &stat)).collect();
        sort(&mut rows);
        Ok(Some(Split { by: "thread".to_owned(), rows }))
    }
}

fn merge(sum: &mut SplitStat, other: &SplitStat) {
    sum.calls += other.calls;
    sum.errors += other.errors;
    sum.total_ns += other.total_ns;
    sum.max_ns = sum.max_ns.max(other.max_ns);
}

fn row(call: RowKey, stat: &SplitStat) -> SplitRow {
    let command = stat.command.split(|&byte| byte == 0).next().unwrap_or_default();
    SplitRow {
        pid: stat.tgid,
        tid: stat.tid,
        command: String::from_utf8_lossy(command).into_owned(),
        name: name_of(call.abi, call.nr),
        abi: abi_of(call.abi),
        calls: stat.calls,
        errors: stat.errors,
        total_ns: stat.total_ns,
        max_ns: stat.max_ns,
    }
}

fn sort(rows: &mut [SplitRow]) {
    rows.sort_by(|a, b| {
        (b.total_ns, b.calls, a.pid, a.tid, &a.name).cmp(&(a.total_ns, a.calls, b.pid, b.tid, &b.name))
    });
}

/// The same by process.
pub(crate) fn by_process(threads: Split) -> Split {
    let mut rows: BTreeMap<(u32, String, u8), SplitRow> = BTreeMap::new();
    for row in threads.rows {
        let key = (row.pid, row.name.clone(), row.abi as u8);
        match rows.get_mut(&key) {
            Some(sum) => {
                sum.calls += row.calls;
                sum.errors += row.errors;
                sum.total_ns += row.total_ns;
                sum.max_ns = sum.max_ns.max(row.max_ns);
                // The first thread's name is the process's.
                if row.tid == row.pid {
                    sum.command = row.command;
                }
            }
            None => drop(rows.insert(key, SplitRow { tid: 0, ..row })),
        }
    }
    let mut rows: Vec<SplitRow> = rows.into_values().collect();
    sort(&mut rows);
    Split { by: "process".to_owned(), rows }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(tid: u32, command: &str, calls: u64) -> SplitRow {
        SplitRow {
            pid: 10,
            tid,
            command: command.to_owned(),
            name: "read".to_owned(),
            abi: reports::recording::Abi::Native,
            calls,
            errors: 1,
            total_ns: calls * 10,
            max_ns: calls,
        }
    }

    #[test]
    fn threads_add_up_to_their_process_under_its_first_threads_name() {
        let split = Split { by: "thread".to_owned(), rows: vec![of(11, "worker", 5), of(10, "server", 3)] };
        let rows = by_process(split).rows;
        assert_eq!(rows.len(), 1);
        assert_eq!((rows[0].tid, rows[0].command.as_str()), (0, "server"));
        assert_eq!((rows[0].calls, rows[0].errors, rows[0].total_ns, rows[0].max_ns), (8, 2, 80, 5));
    }
}
