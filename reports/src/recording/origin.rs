//! Where an imported recording comes from, and what its tool could not tell.
//!
//! Fields of a recording that its tool does not tell hold 0 or nothing. Whoever shows them asks [`Recording::tells`].

use std::{collections::BTreeSet, fmt};

use serde::{Deserialize, Serialize};

use super::{Recording, Stated};

/// Where an imported recording comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// Tool whose output was read, such as `strace -c`.
    pub tool: String,
    /// The file that was read.
    pub file: String,
    /// What that tool does not tell.
    pub unknown: Vec<Unknown>,
    /// Lines that were not understood, as `LINE: TEXT`.
    #[serde(default)]
    pub skipped: Vec<String>,
    /// What it printed and a recording has no place for, such as a column.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_kept: Vec<String>,
    /// Percentiles, means and extremes that it printed without the distribution behind them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stated: Vec<Stated>,
}

/// Something that a tool does not tell.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Unknown {
    /// Fields of the recording, which hold 0 or nothing.
    Fact(Fact),
    /// Anything else, in words.
    Words(String),
}

/// Fields of a recording that a tool may not tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Fact {
    /// [`Recording::started`]: it is when the file was written.
    #[serde(rename = "start")]
    Start,
    /// [`Recording::duration_ns`].
    #[serde(rename = "duration", alias = "start and duration")]
    Duration,
    /// [`Recording::host`].
    #[serde(rename = "machine and kernel")]
    Machine,
    /// [`super::Loss`].
    #[serde(rename = "events that it lost")]
    Loss,
    /// Processes and threads of a group.
    #[serde(rename = "processes and threads", alias = "threads and processes")]
    Threads,
    /// System calls as such: there is no group.
    #[serde(rename = "system calls")]
    Syscalls,
    /// Errors of system calls.
    #[serde(rename = "errors", alias = "errors: 0 here stands for not known")]
    Errors,
    /// Connections that the load established.
    #[serde(rename = "connections established", alias = "connections established: 0 here stands for not known")]
    Connected,
    /// CPU time of the load generator.
    #[serde(rename = "client CPU time", alias = "client CPU time: 0 here stands for not known")]
    ClientCpu,
    /// Timeout of the load generator.
    #[serde(rename = "timeout", alias = "timeout: 0 here stands for not known")]
    Timeout,
    /// Bytes of a request and of its reply.
    #[serde(rename = "sizes", alias = "sizes: 0 here stands for not known")]
    Sizes,
}

impl Fact {
    /// What no tool tells.
    pub(crate) const NEVER_TOLD: [Self; 3] = [Self::Start, Self::Machine, Self::Loss];

    /// The words for it, which are also how it is written.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Duration => "duration",
            Self::Machine => "machine and kernel",
            Self::Loss => "events that it lost",
            Self::Threads => "processes and threads",
            Self::Syscalls => "system calls",
            Self::Errors => "errors",
            Self::Connected => "connections established",
            Self::ClientCpu => "client CPU time",
            Self::Timeout => "timeout",
            Self::Sizes => "sizes",
        }
    }
}

impl fmt::Display for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fact(fact) => f.write_str(fact.words()),
            Self::Words(words) => f.write_str(words),
        }
    }
}

impl From<Fact> for Unknown {
    fn from(fact: Fact) -> Self {
        Self::Fact(fact)
    }
}

impl From<&str> for Unknown {
    fn from(words: &str) -> Self {
        Self::Words(words.to_owned())
    }
}

impl Origin {
    /// What that tool does not tell, in words.
    #[must_use]
    pub fn unknown_words(&self) -> Vec<String> {
        self.unknown.iter().map(Unknown::to_string).collect()
    }
}

impl Recording {
    /// Whether the fields of `fact` say something. Those of a recording of our own always do.
    #[must_use]
    pub fn tells(&self, fact: Fact) -> bool {
        self.origin.as_ref().is_none_or(|origin| !origin.unknown.contains(&Unknown::Fact(fact)))
    }

    /// Everything that was not counted; `None` where that is not known.
    #[must_use]
    pub fn lost(&self) -> Option<u64> {
        let groups = || self.groups.iter().fold(0u64, |lost, group| lost.saturating_add(group.loss.total()));
        self.tells(Fact::Loss).then(groups)
    }

    /// What is known of a fact, by its field.
    pub(crate) fn known<'a, T>(&'a self, fact: Fact, field: impl FnOnce(&'a Self) -> T) -> Option<T> {
        self.tells(fact).then(|| field(self))
    }

    /// What recordings imported by older versions did not name: that much holds for every other tool.
    pub(super) fn complete_unknown(&mut self) {
        let Some(origin) = &mut self.origin else { return };
        let mut unknown = BTreeSet::from(Fact::NEVER_TOLD.map(Unknown::from));
        unknown.extend((self.duration_ns == 0).then_some(Fact::Duration.into()));
        unknown.retain(|fact| !origin.unknown.contains(fact));
        origin.unknown.extend(unknown);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fact_is_written_as_its_words_and_other_words_stay() {
        let unknown: Vec<Unknown> = vec![Fact::Machine.into(), "percentiles".into()];
        let text = serde_json::to_string(&unknown).expect("writable");
        assert_eq!(text, r#"["machine and kernel","percentiles"]"#);
        assert_eq!(serde_json::from_str::<Vec<Unknown>>(&text).expect("readable"), unknown);
        for fact in [Fact::Start, Fact::Loss, Fact::Threads, Fact::Errors, Fact::Sizes, Fact::Syscalls] {
            assert_eq!(serde_json::to_value(fact).expect("writable"), fact.words());
        }
    }

    #[test]
    fn an_older_import_tells_no_more_than_a_new_one() {
        let unknown = vec!["start and duration", "machine and kernel", "errors: 0 here stands for not known"];
        let text = serde_json::to_string(&unknown).expect("writable");
        let unknown = serde_json::from_str(&text).expect("readable");
        let mut recording = Recording { origin: Some(Origin { unknown, ..Origin::default() }), ..Recording::default() };
        recording.complete_unknown();
        for fact in [Fact::Start, Fact::Duration, Fact::Machine, Fact::Loss, Fact::Errors] {
            assert!(!recording.tells(fact), "{fact:?}");
        }
        assert_eq!((recording.lost(), recording.origin.expect("there").unknown.len()), (None, 5));
    }
}
