//! Which runs there are, told from the head of each file: thousands can be listed without reading them.

use std::{
    fmt,
    fs::File,
    io::{self, Read as _, Write},
    path::Path,
};

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};

use super::{Options, Outcome, runs::Run};
use crate::{
    printable::{clipped, clipped_middle, columns, command_line, printable},
    store::{self, StoreError},
    units,
};

/// What is read of each file; all that is listed stands before a recording's first long part.
const HEAD_BYTES: u64 = 16 * 1024;
/// Longest name of a run, and longest command line.
const NAME_COLUMNS: usize = 60;
const COMMAND_COLUMNS: usize = 200;

/// The first fields of a recording, as far as they could be read.
#[derive(Debug, Default, PartialEq)]
struct Head {
    complete: Option<bool>,
    argv: Vec<String>,
    started: Option<String>,
    duration_ns: Option<u64>,
}

/// Prints a line for each run.
pub(super) fn print(runs: &[Run], options: &Options, out: &mut impl Write, outcome: &mut Outcome) -> io::Result<()> {
    let name = |run: &Run| clipped_middle(&run.name, NAME_COLUMNS);
    let widest = runs.iter().map(|run| columns(&name(run))).max().unwrap_or(0).max("run".len());
    let room = options.style.width.map_or(COMMAND_COLUMNS, |width| width.saturating_sub(widest + 44).max(12));
    if !runs.is_empty() {
        writeln!(out, "{:widest$}  {:20}  {:>10}  {:8}  command", "run", "started", "length", "complete")?;
    }
    for run in runs {
        let head = match Head::read(&run.recording) {
            Ok(head) => head,
            Err(error) => {
                outcome.failed.push(error.into());
                continue;
            }
        };
        let padding = widest - columns(&name(run));
        let started = head.started.as_deref().map_or("-".to_owned(), printable);
        let length = head.duration_ns.map_or("-".to_owned(), units::duration);
        let complete = head.complete.map_or("-", |complete| if complete { "yes" } else { "NO" });
        let command = clipped(&command_line(&head.argv), room);
        let line = format!(
            "{}{:padding$}  {:20}  {length:>10}  {complete:8}  {command}",
            name(run),
            "",
            clipped(&started, 20)
        );
        writeln!(out, "{}", line.trim_end())?;
    }
    out.flush()
}

impl Head {
    fn read(path: &Path) -> Result<Self, StoreError> {
        if path.file_name().is_some_and(|name| name == store::PARTIAL) {
            return Err(StoreError::HalfWritten { path: path.to_owned() });
        }
        let io = |source| StoreError::Io { action: "read", path: path.to_owned(), source };
        let file = File::open(path).map_err(io)?;
        if !file.metadata().map_err(io)?.is_file() {
            return Err(StoreError::NotAFile { path: path.to_owned() });
        }
        let mut bytes = Vec::new();
        file.take(HEAD_BYTES).read_to_end(&mut bytes).map_err(io)?;
        Ok(Self::of(&bytes))
    }

    /// What comes after the part that is wanted, or after the bytes that were read, is no matter.
    fn of(bytes: &[u8]) -> Self {
        let mut head = Self::default();
        let _ = Fill(&mut head).deserialize(&mut serde_json::Deserializer::from_slice(bytes));
        head
    }
}

/// Fills a head field by field, so that those read before an error stay.
struct Fill<'a>(&'a mut Head);

impl<'de> DeserializeSeed<'de> for Fill<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Fill<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a recording")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let head = self.0;
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "complete" => head.complete = Some(map.next_value()?),
                "argv" => head.argv = map.next_value()?,
                "started" => head.started = Some(map.next_value()?),
                "duration_ns" => head.duration_ns = Some(map.next_value()?),
                "groups" => break,
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_is_read_from_the_beginning_of_a_file_alone() {
        let text = r#"{"schema":2,"complete":true,"argv":["a","b"],"started":"now","duration_ns":5,"groups":[{"nam"#;
        let whole = Head::of(text.as_bytes());
        assert_eq!((whole.complete, whole.argv.len(), whole.duration_ns), (Some(true), 2, Some(5)));
        let cut = Head::of(&text.as_bytes()[..45]);
        assert_eq!((cut.complete, cut.started, cut.duration_ns), (Some(true), None, None));
        assert_eq!(Head::of(b"no JSON"), Head::default());
    }
}
