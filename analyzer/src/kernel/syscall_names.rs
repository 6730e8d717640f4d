//! System calls by name and number, and the set that a run counts.

use probes::syscalls::SELECTION_WORDS;
use syscalls::Sysno;

/// Name of a native system call; `syscall_0xNNN` for a number that this version does not know.
pub(crate) fn name_of(nr: u32) -> String {
    Sysno::new(nr as usize).map_or_else(|| format!("syscall_{nr:#x}"), |call| call.name().to_owned())
}

/// A name given to `-e` that no system call has.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("unknown system call `{name}`")]
pub(crate) struct UnknownSyscall {
    name: String,
    nearest: Vec<&'static str>,
}

impl UnknownSyscall {
    /// The nearest names, as a hint.
    pub(crate) fn hint(&self) -> String {
        match self.nearest.as_slice() {
            [] => "`man 2 syscalls` lists them".to_owned(),
            names => format!("did you mean `{}`?", names.join("`, `")),
        }
    }
}

/// System calls that are counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Selection {
    names: Vec<String>,
}

impl Selection {
    /// Checks names as given on the command line.
    ///
    /// # Errors
    /// On the first name that no system call has.
    pub(crate) fn parse(names: &[String]) -> Result<Self, UnknownSyscall> {
        let mut known: Vec<String> = Vec::new();
        for name in names.iter().map(|name| name.trim()).filter(|name| !name.is_empty()) {
            if name.parse::<Sysno>().is_err() {
                return Err(UnknownSyscall { name: name.to_owned(), nearest: nearest(name) });
            }
            if !known.iter().any(|other| other == name) {
                known.push(name.to_owned());
            }
        }
        Ok(Self { names: known })
    }

    /// The names, empty when everything is counted.
    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    /// One bit per number, as the probes want it; `None` when everything is counted.
    pub(crate) fn bitmap(&self) -> Option<[u64; SELECTION_WORDS]> {
        if self.names.is_empty() {
            return None;
        }
        let mut words = [0; SELECTION_WORDS];
        for call in self.names.iter().filter_map(|name| name.parse::<Sysno>().ok()) {
            if let Some(word) = usize::try_from(call.id() / 64).ok().and_then(|word| words.get_mut(word)) {
                *word |= 1 << (call.id() % 64);
            }
        }
        Some(words)
    }
}

/// Up to three names that look like `name`, best first.
fn nearest(name: &str) -> Vec<&'static str> {
    let mut scored: Vec<(f64, &'static str)> = Sysno::iter()
        .map(|call| (strsim::jaro_winkler(name, call.name()), call.name()))
        .filter(|&(score, _)| score > 0.8)
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    scored.into_iter().take(3).map(|(_, name)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(names: &[&str]) -> Result<Selection, UnknownSyscall> {
        Selection::parse(&names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn names_become_bits_of_their_numbers() {
        let words = parse(&["connect", "close"]).expect("known").bitmap().expect("selective");
        for (name, nr) in [("connect", Sysno::connect as usize), ("close", Sysno::close as usize)] {
            assert_eq!(words[nr / 64] >> (nr % 64) & 1, 1, "{name}");
        }
        assert_eq!(words.iter().map(|word| word.count_ones()).sum::<u32>(), 2);
    }

    #[test]
    fn no_names_mean_every_call() {
        assert_eq!(parse(&[]).expect("valid").bitmap(), None);
        assert_eq!(parse(&["", " "]).expect("valid").bitmap(), None);
    }

    #[test]
    fn an_unknown_name_suggests_the_nearest() {
        let error = parse(&["conect"]).expect_err("unknown");
        assert_eq!(error.to_string(), "unknown system call `conect`");
        assert!(error.hint().contains("`connect`"), "{}", error.hint());
        assert!(parse(&["epollwait"]).expect_err("unknown").hint().contains("`epoll_wait`"));
    }

    #[test]
    fn a_number_without_a_name_is_shown_in_hex() {
        assert_eq!(name_of(u32::try_from(Sysno::read as i32).expect("small")), "read");
        assert_eq!(name_of(511), "syscall_0x1ff");
    }
}
