//! The tables of `perf trace -s`: one for each thread, with minimum and maximum, in wall time.

use std::collections::BTreeMap;

use super::{
    Parsed, decimal,
    lines::{Lines, Skipped},
};
use crate::{
    histogram::{Histogram, KERNEL},
    recording::{Fact, Group, Split, SplitRow, Syscall, Unknown},
};

const MS_NS: u64 = 1_000_000;
/// Rows in the split and distinct calls at most; calls beyond are still counted in the group.
const MOST_SPLIT: usize = 10_000;
const MOST_CALLS: usize = 4_096;

pub(super) fn is_in(lines: &Lines) -> bool {
    lines.any(|line| heading(line).is_some())
}

/// Whether a table's heading has a column of errors; older versions have none.
fn heading(line: &str) -> Option<bool> {
    let words: Vec<&str> = line.split_whitespace().collect();
    match words.as_slice() {
        ["syscall", "calls", "errors", "total", "min", "avg", "max", "stddev"] => Some(true),
        ["syscall", "calls", "total", "min", "avg", "max", "stddev"] => Some(false),
        _ => None,
    }
}

pub(super) fn parse(lines: &Lines, group: &str) -> Result<Parsed, String> {
    let mut reader = Reader::default();
    for (number, line) in lines.numbered() {
        reader.line(number, line);
    }
    reader.finish(group)
}

#[derive(Default)]
struct Reader {
    /// In a table: whether it has a column of errors.
    table: Option<bool>,
    tables: u64,
    thread: (String, u32),
    last: Option<String>,
    calls: BTreeMap<String, Syscall>,
    split: Vec<SplitRow>,
    lost: u64,
    errors_known: bool,
    errnos_known: bool,
    skipped: Skipped,
}

struct Row {
    name: String,
    calls: u64,
    errors: u64,
    total_ns: u64,
    min_ns: u64,
    max_ns: u64,
}

impl Reader {
    fn line(&mut self, number: usize, line: &str) {
        let text = line.trim();
        if text.is_empty() || text == "Summary of events:" {
            return;
        }
        if let Some(errors) = heading(line) {
            self.skipped.close();
            self.table = Some(errors);
            self.tables += 1;
            self.errors_known |= errors;
        } else if let Some(thread) = thread(text) {
            self.skipped.close();
            self.table = None;
            self.last = None;
            self.thread = thread;
        } else if let Some(lost) = lost(text) {
            self.lost = self.lost.saturating_add(lost);
        } else if let Some(errors) = self.table {
            self.in_table(number, text, errors);
        } else {
            self.skipped.outside(number, line);
        }
    }

    fn in_table(&mut self, number: usize, text: &str, errors: bool) {
        let is_rule = text.split_whitespace().all(|word| word.bytes().all(|byte| byte == b'-'));
        if is_rule || text.starts_with("(msec)") {
            return;
        }
        if let Some(row) = row(text, errors) {
            self.add(row, number, text);
        } else if !self.errno(text) {
            self.skipped.line(number, text);
        }
    }

    fn add(&mut self, row: Row, number: usize, text: &str) {
        if self.calls.len() >= MOST_CALLS && !self.calls.contains_key(&row.name) {
            return self.skipped.because(number, "too many system calls", text);
        }
        let all = self
            .calls
            .entry(row.name.clone())
            .or_insert_with(|| Syscall { name: row.name.clone(), ..Syscall::default() });
        all.calls = all.calls.saturating_add(row.calls);
        all.errors = all.errors.saturating_add(row.errors);
        all.total_ns = Some(all.time_ns().saturating_add(row.total_ns));
        if row.calls > 0 {
            // The distribution between minimum and maximum is not known: no bucket holds anything.
            let one = Histogram::from_parts(KERNEL, row.calls, row.total_ns, row.min_ns, row.max_ns, Vec::new());
            all.latency.get_or_insert_with(|| Histogram::new(KERNEL)).merge(&one);
        }
        self.last = Some(row.name.clone());
        if self.split.len() < MOST_SPLIT {
            self.split.push(SplitRow {
                pid: 0,
                tid: self.thread.1,
                command: self.thread.0.clone(),
                name: row.name,
                abi: crate::recording::Abi::Native,
                calls: row.calls,
                errors: row.errors,
                total_ns: row.total_ns,
                max_ns: row.max_ns,
            });
        }
    }

    /// `ENOENT: 3` below its call, with `--errno-summary`.
    fn errno(&mut self, text: &str) -> bool {
        let Some((name, count)) = text.split_once(": ") else { return false };
        let is_name =
            name.starts_with('E') && name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
        let count: Option<u64> = count.trim().parse().ok();
        let row = self.last.as_ref().and_then(|last| self.calls.get_mut(last));
        let (true, Some(count), Some(row)) = (is_name && name.len() <= 20, count, row) else { return false };
        let errno = row.errnos.entry(name.to_owned()).or_insert(0);
        *errno = errno.saturating_add(count);
        self.errnos_known = true;
        true
    }

    fn finish(self, group: &str) -> Result<Parsed, String> {
        if self.tables == 0 {
            return Err("there is no table of system calls".to_owned());
        }
        let mut unknown = [
            "percentiles",
            "numbers of the system calls",
            "which calls were asked for (-e)",
            "processes of the threads",
            "clock",
        ]
        .map(Unknown::from)
        .to_vec();
        unknown.push(Fact::Duration.into());
        unknown.extend((!self.errnos_known).then(|| Unknown::from("error numbers")));
        unknown.extend((!self.errors_known).then_some(Unknown::Fact(Fact::Errors)));
        let mut split = self.split;
        split.sort_by_key(|row| std::cmp::Reverse(row.total_ns));
        let label = split.first().map_or_else(|| "perf trace".to_owned(), |row| row.command.clone());
        let group = Group {
            name: group.to_owned(),
            label,
            threads: self.tables,
            syscalls: self.calls.into_values().collect(),
            split: Some(Split { by: "thread".to_owned(), rows: split }),
            ..Group::default()
        };
        Ok(Parsed {
            groups: vec![group],
            unknown,
            not_kept: vec!["column stddev".to_owned()],
            shortfall: (self.lost > 0).then(|| format!("perf lost {} events", self.lost)),
            skipped: self.skipped,
            ..Parsed::default()
        })
    }
}

/// ` bench (16256), 338 events, 1.4%`.
fn thread(text: &str) -> Option<(String, u32)> {
    let (who, events) = text.rsplit_once("), ")?;
    if !(events.contains(" events, ") && events.ends_with('%')) {
        return None;
    }
    let (name, tid) = who.rsplit_once(" (")?;
    let tid: u32 = tid.parse().ok()?;
    // The kernel's names of threads have 15 bytes.
    Some((name.trim().chars().take(32).collect(), tid))
}

/// `LOST 123 events!`.
fn lost(text: &str) -> Option<u64> {
    text.strip_prefix("LOST ")?.strip_suffix(" events!")?.parse().ok()
}

fn row(text: &str, errors: bool) -> Option<Row> {
    let mut words = text.split_whitespace();
    let name = words.next()?.to_owned();
    let calls = words.next()?.parse().ok()?;
    let errors = if errors { words.next()?.parse().ok()? } else { 0 };
    let mut ms = || Some(decimal::in_unit(words.next()?, MS_NS)?.ns);
    let (total_ns, min_ns, _mean, max_ns) = (ms()?, ms()?, ms()?, ms()?);
    let deviation = words.next()?.strip_suffix('%')?;
    deviation.trim_start_matches('-').parse::<f64>().ok()?;
    let sound = words.next().is_none() && min_ns <= max_ns && errors <= calls;
    sound.then_some(Row { name, calls, errors, total_ns, min_ns, max_ns })
}
