//! The set of system calls that a run counts, as it is typed after `-e`.

use std::collections::BTreeSet;

use probes::syscalls::{ABIS, COMPAT, NATIVE, NUMBERS, SELECTION_WORDS, X32};
use regex_lite::Regex;

use super::{
    class,
    names::{native_names, table},
};

/// Bits of all tables, one after the other.
pub(crate) type Bitmap = [u64; SELECTION_WORDS * ABIS as usize];

/// What `-e` cannot mean.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub(crate) enum SelectionError {
    /// A name that no system call has.
    #[error("unknown system call `{name}`")]
    UnknownCall {
        /// As given.
        name: String,
        /// Names like it.
        nearest: Vec<&'static str>,
    },
    /// A class that does not exist.
    #[error("unknown class `%{0}`")]
    UnknownClass(String),
    /// A pattern that is none.
    #[error("`/{pattern}/` is not a regular expression: {reason}")]
    BadPattern {
        /// As given.
        pattern: String,
        /// The parser's words.
        reason: String,
    },
    /// A pattern that finds nothing.
    #[error("`/{0}/` matches no system call")]
    NoMatch(String),
    /// Nothing would be counted.
    #[error("`{0}` leaves no system call to count")]
    Nothing(String),
}

impl SelectionError {
    /// What to type instead.
    pub(crate) fn hint(&self) -> String {
        match self {
            Self::UnknownCall { nearest, .. } if nearest.is_empty() => "`man 2 syscalls` lists them".to_owned(),
            Self::UnknownCall { nearest, .. } => format!("did you mean `{}`?", nearest.join("`, `")),
            Self::UnknownClass(_) => format!("the classes are {}", class::all()),
            Self::BadPattern { .. } | Self::NoMatch(_) => "such as -e /^recv/".to_owned(),
            Self::Nothing(_) => "leave -e out to count every call".to_owned(),
        }
    }
}

/// System calls that are counted.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(crate) struct Selection {
    words: Vec<String>,
    /// `None` counts everything.
    names: Option<BTreeSet<&'static str>>,
    /// Numbers without a name are counted: what is not excluded is.
    negated: bool,
}

impl Selection {
    /// Reads what was given: names, `%class`, `/regex/`, `all`, `none`; a leading `!` takes them away from all calls.
    /// strace's `trace=` before them is accepted.
    ///
    /// # Errors
    /// On the first word that means nothing, and for a set without any call.
    pub(crate) fn parse(arguments: &[String]) -> Result<Self, SelectionError> {
        let mut words: Vec<String> = Vec::new();
        let (mut with, mut without) = (BTreeSet::new(), BTreeSet::new());
        let mut everything = true;
        let mut negated = false;
        for argument in arguments {
            let (list, negative) = list_of(argument);
            negated |= negative;
            for word in split(list) {
                let calls = calls_of(word)?;
                if negative {
                    without.extend(calls);
                } else {
                    everything = false;
                    with.extend(calls);
                }
                let word = if negative { format!("!{word}") } else { word.to_owned() };
                if !words.contains(&word) {
                    words.push(word);
                }
            }
        }
        if words.is_empty() {
            return match arguments {
                [] => Ok(Self::default()),
                _ => Err(SelectionError::Nothing(arguments.join(" "))),
            };
        }
        let all: BTreeSet<&'static str> = every_name();
        let names: BTreeSet<&'static str> =
            if everything { &all } else { &with }.difference(&without).copied().collect();
        if names.is_empty() {
            return Err(SelectionError::Nothing(words.join(",")));
        }
        let counts_all = names == all;
        Ok(Self { words, names: (!counts_all).then_some(names), negated: negated && everything })
    }

    /// What was given, empty when everything is counted.
    pub(crate) fn words(&self) -> &[String] {
        &self.words
    }

    /// Whether numbers without a name are counted beside the named ones.
    pub(crate) fn counts_unnamed(&self) -> bool {
        self.names.is_none() || self.negated
    }

    /// One bit per number of each table, as the probes want it; `None` when everything is counted.
    pub(crate) fn bitmap(&self) -> Option<Bitmap> {
        let names = self.names.as_ref()?;
        let mut words: Bitmap = [0; SELECTION_WORDS * ABIS as usize];
        for abi in [NATIVE, COMPAT, X32] {
            let known = table(abi);
            let mut set = |nr: u32| words[((abi * NUMBERS + nr) / 64) as usize] |= 1 << (nr % 64);
            known.iter().filter(|(_, name)| names.contains(name)).for_each(|&(nr, _)| set(nr));
            if self.counts_unnamed() {
                let with_name: BTreeSet<u32> = known.iter().map(|&(nr, _)| nr).collect();
                (0..NUMBERS).filter(|nr| !with_name.contains(nr)).for_each(&mut set);
            }
        }
        Some(words)
    }
}

/// The list behind strace's `trace=` and `!`.
fn list_of(argument: &str) -> (&str, bool) {
    let rest = argument.trim();
    let rest = rest.strip_prefix("trace=").or_else(|| rest.strip_prefix("t=")).unwrap_or(rest);
    match rest.strip_prefix('!') {
        Some(rest) => (rest, true),
        None => (rest, false),
    }
}

/// At commas, but not at those within `/.../`.
fn split(list: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = list;
    while !rest.is_empty() {
        let within = rest.trim_start().strip_prefix('/').and_then(|inner| inner.find('/'));
        let from = within.map_or(0, |end| rest.len() - rest.trim_start().len() + end + 2);
        let end = rest[from..].find(',').map_or(rest.len(), |at| from + at);
        words.push(rest[..end].trim());
        rest = rest.get(end + 1..).unwrap_or_default();
    }
    words.retain(|word| !word.is_empty());
    words
}

fn calls_of(word: &str) -> Result<Vec<&'static str>, SelectionError> {
    if let Some(name) = word.strip_prefix('%') {
        return Ok(class::class(name).ok_or_else(|| SelectionError::UnknownClass(name.to_owned()))?.collect());
    }
    if let Some(pattern) = word.strip_prefix('/') {
        let pattern = pattern.strip_suffix('/').unwrap_or(pattern);
        let regex = Regex::new(pattern).map_err(|error| SelectionError::BadPattern {
            pattern: pattern.to_owned(),
            reason: error.to_string().lines().last().unwrap_or_default().to_owned(),
        })?;
        let found: Vec<_> = every_name().into_iter().filter(|name| regex.is_match(name)).collect();
        return if found.is_empty() { Err(SelectionError::NoMatch(pattern.to_owned())) } else { Ok(found) };
    }
    match word {
        "all" => Ok(every_name().into_iter().collect()),
        "none" => Ok(Vec::new()),
        name => match every_name().get(name) {
            Some(&known) => Ok(vec![known]),
            None => Err(SelectionError::UnknownCall { name: name.to_owned(), nearest: nearest(name) }),
        },
    }
}

/// Names in any table: `waitpid` exists for 32-bit callers only.
fn every_name() -> BTreeSet<&'static str> {
    [NATIVE, COMPAT, X32].into_iter().flat_map(table).map(|(_, name)| name).collect()
}

/// Up to three names that look like `name`, best first.
fn nearest(name: &str) -> Vec<&'static str> {
    let mut scored: Vec<(f64, &'static str)> = native_names()
        .map(|known| (strsim::jaro_winkler(name, known), known))
        .filter(|&(score, _)| score > 0.8)
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    scored.into_iter().take(3).map(|(_, name)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &[&str]) -> Result<Selection, SelectionError> {
        Selection::parse(&words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>())
    }

    fn counts(words: &[&str], name: &str) -> bool {
        let selection = parse(words).expect("valid");
        let (nr, _) = table(NATIVE).into_iter().find(|(_, known)| *known == name).expect("known");
        selection.bitmap().is_none_or(|bits| bits[(nr / 64) as usize] >> (nr % 64) & 1 == 1)
    }

    #[test]
    fn names_become_bits_of_their_numbers_in_every_table() {
        let words = parse(&["connect,close"]).expect("known").bitmap().expect("selective");
        assert_eq!(words.iter().map(|word| word.count_ones()).sum::<u32>(), 6);
        assert!(counts(&["connect", "close"], "close") && !counts(&["connect"], "close"));
    }

    #[test]
    fn classes_patterns_and_negation_mean_what_strace_users_expect() {
        assert!(counts(&["%net"], "accept4") && !counts(&["%net"], "read"));
        assert!(counts(&["trace=%net,read"], "read") && counts(&["%network"], "connect"));
        assert!(counts(&["/^recv"], "recvfrom") && !counts(&["/^recv/"], "preadv"));
        assert!(counts(&["/^(read|write)v?$/,close"], "writev") && counts(&["/a{1,2}ccept/,close"], "close"));
        assert!(!counts(&["!futex"], "futex") && counts(&["!futex"], "read"));
        assert!(!counts(&["!%memory,futex"], "mmap") && counts(&["%desc", "!mmap"], "read"));
        assert!(!counts(&["%desc", "!mmap"], "mmap") && !counts(&["%desc", "!mmap"], "getpid"));
    }

    #[test]
    fn numbers_without_a_name_are_counted_unless_names_were_asked_for() {
        assert!(parse(&[]).expect("valid").counts_unnamed() && parse(&["!read"]).expect("valid").counts_unnamed());
        assert!(!parse(&["read"]).expect("valid").counts_unnamed());
        let beyond = 1000;
        let bits = parse(&["!read"]).expect("valid").bitmap().expect("selective");
        assert_eq!(bits[beyond / 64] >> (beyond % 64) & 1, 1);
    }

    #[test]
    fn no_names_or_all_of_them_mean_every_call() {
        for words in [&[][..], &["all"], &["!none"]] {
            assert_eq!(parse(words).expect("valid").bitmap(), None, "{words:?}");
        }
    }

    #[test]
    fn what_means_nothing_is_refused_with_advice() {
        let error = parse(&["conect"]).expect_err("unknown");
        assert_eq!(error.to_string(), "unknown system call `conect`");
        assert!(error.hint().contains("`connect`"), "{}", error.hint());
        assert!(parse(&["epollwait"]).expect_err("unknown").hint().contains("`epoll_wait`"));
        assert!(parse(&["%nett"]).expect_err("unknown").hint().contains("%net"));
        for word in ["/(/", "/nosuchcall/", "none", "read,!read", "!all", ",", "!", " "] {
            assert!(parse(&[word]).is_err(), "{word}");
        }
    }
}
