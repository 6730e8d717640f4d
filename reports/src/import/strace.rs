//! The table of `strace -c`: any choice and order of columns (`-U`), any version from 4 on, several personalities.
//!
//! Its times are system time, or wall time with `-w`: the table does not tell which.

use std::collections::BTreeSet;

use super::{
    Parsed,
    decimal::{self, Printed},
    lines::{Lines, Skipped},
};
use crate::{
    compare::owner,
    histogram::{Histogram, KERNEL},
    recording::{Abi, Fact, Group, Stated, Syscall, Unknown},
};

/// Rows of one table at most: no kernel has that many system calls.
const MOST_ROWS: usize = 4_096;
const SECOND_NS: u64 = 1_000_000_000;
const MICROSECOND_NS: u64 = 1_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    Percent,
    Seconds,
    Shortest,
    Longest,
    Mean,
    Calls,
    Errors,
    Name,
}

const HEADINGS: [(&str, Column); 8] = [
    ("% time", Column::Percent),
    ("seconds", Column::Seconds),
    ("shortest", Column::Shortest),
    ("longest", Column::Longest),
    ("usecs/call", Column::Mean),
    ("calls", Column::Calls),
    ("errors", Column::Errors),
    ("syscall", Column::Name),
];

pub(super) fn is_in(lines: &Lines) -> bool {
    let mut before = "";
    lines.numbered().any(|(_, line)| {
        let found = columns(before, rule(line)).is_some();
        before = line;
        found
    })
}

pub(super) fn parse(lines: &Lines, group: &str) -> Result<Parsed, String> {
    let mut reader = Reader { group: group.to_owned(), ..Reader::default() };
    for (number, line) in lines.numbered() {
        reader.line(number, line)?;
    }
    reader.finish()
}

/// Number of words in a line of dashes; 0 for any other line.
fn rule(line: &str) -> usize {
    let is_rule = |word: &str| word.len() >= 6 && word.bytes().all(|byte| byte == b'-');
    if line.split_whitespace().all(is_rule) { line.split_whitespace().count() } else { 0 }
}

/// The last `count` headings of a line; what the program printed before them on the same line is no heading.
fn columns(line: &str, count: usize) -> Option<Vec<Column>> {
    let mut rest = line.trim_end();
    let mut found = Vec::new();
    while found.len() < count {
        let (heading, column) = HEADINGS.iter().find(|(heading, _)| rest.ends_with(heading))?;
        if found.contains(column) {
            return None;
        }
        found.push(*column);
        rest = rest[..rest.len() - heading.len()].trim_end();
    }
    found.reverse();
    (!found.is_empty()).then_some(found)
}

#[derive(Default)]
enum Place {
    #[default]
    Outside,
    /// Rows of system calls.
    Rows,
    /// Below the second line of dashes.
    Total,
    /// In a table that is not read, and at its total.
    Ignored,
    IgnoredTotal,
}

#[derive(Default)]
struct Reader {
    group: String,
    place: Place,
    before: (usize, String),
    columns: Vec<Column>,
    seen_columns: Vec<Column>,
    abi: Abi,
    read: BTreeSet<Abi>,
    names: BTreeSet<String>,
    rows: Vec<Syscall>,
    stated: Vec<Stated>,
    calls: u64,
    shortfall: Option<String>,
    skipped: Skipped,
}

impl Reader {
    fn line(&mut self, number: usize, line: &str) -> Result<(), String> {
        match (&self.place, rule(line)) {
            (Place::Outside, count) => match columns(&self.before.1, count) {
                Some(columns) => self.begin(columns)?,
                None => self.outside(number, line),
            },
            (Place::Rows | Place::Ignored, 1..) => {
                let ignored = matches!(self.place, Place::Ignored);
                self.place = if ignored { Place::IgnoredTotal } else { Place::Total };
            }
            (Place::Rows, 0) => self.row(number, line),
            (Place::Total, _) => self.total(number, line),
            (Place::Ignored, 0) => {}
            (Place::IgnoredTotal, _) => self.place = Place::Outside,
        }
        Ok(())
    }

    /// A line outside is held back until the next one shows that it is no heading.
    fn outside(&mut self, number: usize, line: &str) {
        let (held_number, held) = std::mem::replace(&mut self.before, (number, line.to_owned()));
        self.skipped.outside(held_number, &held);
        let mode = line.split_once("System call usage summary for ").and_then(|(_, rest)| rest.split_once(" mode:"));
        if let Some((mode, _)) = mode {
            self.before = (0, String::new());
            match mode {
                "32 bit" => self.abi = Abi::Compat,
                "x32" => self.abi = Abi::X32,
                "64 bit" => self.abi = Abi::Native,
                _ => self.skipped.because(number, "not a known mode", line),
            }
        }
    }

    fn begin(&mut self, columns: Vec<Column>) -> Result<(), String> {
        let (number, heading) = std::mem::take(&mut self.before);
        if !self.read.insert(self.abi) {
            self.skipped.because(number, "one more table, which needs a file of its own", &heading);
            self.place = Place::Ignored;
            return Ok(());
        }
        for (needed, name) in [(Column::Name, "syscall"), (Column::Calls, "calls")] {
            if !columns.contains(&needed) {
                return Err(format!("the table in line {number} has no column `{name}`"));
            }
        }
        self.skipped.close();
        self.seen_columns.extend(&columns);
        self.columns = columns;
        self.calls = 0;
        self.names.clear();
        self.place = Place::Rows;
        Ok(())
    }

    fn row(&mut self, number: usize, line: &str) {
        if line.trim().is_empty() {
            return;
        }
        let Some(Row { mut call, times }) = row(&self.columns, line) else {
            return self.skipped.line(number, line);
        };
        if self.names.len() >= MOST_ROWS || !self.names.insert(call.name.clone()) {
            return self.skipped.because(number, "twice, or too many rows", line);
        }
        call.abi = self.abi;
        self.calls = self.calls.saturating_add(call.calls);
        if call.latency.is_none() {
            let owner = owner(&self.group, &call);
            self.stated.extend(times.into_iter().filter_map(|(measure, time)| stated(&owner, measure, time)));
        }
        self.rows.push(call);
    }

    fn total(&mut self, number: usize, line: &str) {
        if line.trim().is_empty() {
            return;
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        if !words.contains(&"total") {
            return self.skipped.line(number, line);
        }
        // Older versions leave out the mean here, so only its presence is asked for, not its place.
        if !words.contains(&self.calls.to_string().as_str()) {
            self.fall_short(format!(
                "the rows above line {number} have {} calls together, its total another number",
                self.calls
            ));
        }
        self.place = Place::Outside;
        self.abi = Abi::Native;
    }

    fn fall_short(&mut self, why: String) {
        self.shortfall.get_or_insert(why);
    }

    fn finish(mut self) -> Result<Parsed, String> {
        if self.read.is_empty() {
            return Err("there is no table of system calls".to_owned());
        }
        if !matches!(self.place, Place::Outside) {
            self.fall_short("the table is cut off before its total".to_owned());
        }
        let (number, held) = std::mem::take(&mut self.before);
        self.skipped.outside(number, &held);
        let mut unknown = [
            "clock: system time, or wall time where -w was given",
            "percentiles",
            "error numbers",
            "numbers of the system calls",
            "which calls were asked for (-e)",
        ]
        .map(Unknown::from)
        .to_vec();
        let missing = |column: Column| !self.seen_columns.contains(&column);
        unknown.extend([Fact::Threads, Fact::Duration].map(Unknown::from));
        unknown.extend(missing(Column::Errors).then_some(Unknown::Fact(Fact::Errors)));
        unknown.extend(missing(Column::Seconds).then(|| Unknown::from("times")));
        // Where there are seconds, shares follow from them.
        let share = self.seen_columns.contains(&Column::Percent) && missing(Column::Seconds);
        let group = Group { name: self.group, label: "strace".to_owned(), syscalls: self.rows, ..Group::default() };
        Ok(Parsed {
            groups: vec![group],
            unknown,
            stated: self.stated,
            not_kept: share.then(|| "column % time".to_owned()).into_iter().collect(),
            shortfall: self.shortfall,
            skipped: self.skipped,
            ..Parsed::default()
        })
    }
}

struct Row {
    call: Syscall,
    /// What was printed of a single call's time.
    times: [(&'static str, Option<Printed>); 3],
}

fn stated(owner: &str, measure: &str, time: Option<Printed>) -> Option<Stated> {
    let Printed { ns, resolution_ns } = time?;
    Some(Stated { owner: owner.to_owned(), measure: measure.to_owned(), value_ns: ns, resolution_ns })
}

/// Only the number of errors may be blank.
fn row(columns: &[Column], line: &str) -> Option<Row> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let blank = words.len() + 1 == columns.len() && columns.contains(&Column::Errors);
    if !blank && words.len() != columns.len() {
        return None;
    }
    let present = columns.iter().filter(|column| !(blank && **column == Column::Errors));
    let mut row = Syscall::default();
    let (mut shortest, mut longest, mut mean) = (None, None, None);
    for (column, word) in present.zip(words) {
        match column {
            // Some versions print `nan` for nothing of nothing; it is not read.
            Column::Percent => {
                word.trim_start_matches('-').parse::<f64>().ok()?;
            }
            Column::Mean => mean = Some(word.parse::<u64>().ok().and_then(|_| decimal::in_unit(word, MICROSECOND_NS))?),
            Column::Seconds => row.total_ns = Some(decimal::in_unit(word, SECOND_NS)?.ns),
            Column::Shortest => shortest = Some(decimal::in_unit(word, SECOND_NS)?),
            Column::Longest => longest = Some(decimal::in_unit(word, SECOND_NS)?),
            Column::Calls => row.calls = word.parse().ok()?,
            Column::Errors => row.errors = word.parse().ok()?,
            Column::Name => word.clone_into(&mut row.name),
        }
    }
    if row.errors > row.calls || is_number(&row.name) {
        return None;
    }
    row.latency = extremes(&row, shortest, longest);
    // From a sum the mean follows more exactly than it is printed.
    let mean = mean.filter(|_| row.total_ns.is_none());
    Some(Row { call: row, times: [("mean", mean), ("min", shortest), ("max", longest)] })
}

fn is_number(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_digit())
}

/// Count, sum, minimum and maximum are known, the distribution between is not: no bucket holds anything.
fn extremes(row: &Syscall, shortest: Option<Printed>, longest: Option<Printed>) -> Option<Histogram> {
    let (shortest, longest, total) = (shortest?.ns, longest?.ns, row.total_ns?);
    (row.calls > 0 && shortest <= longest)
        .then(|| Histogram::from_parts(KERNEL, row.calls, total, shortest, longest, Vec::new()))
}
