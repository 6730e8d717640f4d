//! Errors that come with the command or setting that remedies them.

use std::fmt;

/// An error in words, its remedy, and whether the command line is to blame.
#[derive(Debug, Default)]
struct Advised {
    text: String,
    hint: Option<String>,
    wrong_usage: bool,
}

impl fmt::Display for Advised {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for Advised {}

/// Adds a remedy to an error.
pub(crate) trait Advise<T> {
    /// The same, with `hint: ...` printed below the error.
    fn hint(self, hint: impl Into<String>) -> anyhow::Result<T>;
}

impl<T, E: Into<anyhow::Error>> Advise<T> for Result<T, E> {
    fn hint(self, hint: impl Into<String>) -> anyhow::Result<T> {
        self.map_err(|error| advised(error.into(), hint))
    }
}

/// The error with a remedy. A remedy that it has already is closer to the cause and stays.
pub(crate) fn advised(error: anyhow::Error, hint: impl Into<String>) -> anyhow::Error {
    let hint = hint_of(&error).map_or_else(|| hint.into(), str::to_owned);
    Advised { text: format!("{error:#}"), hint: Some(hint), wrong_usage: is_wrong_usage(&error) }.into()
}

/// The error as one of the command line: exit status 2.
pub(crate) fn wrong_usage(error: anyhow::Error) -> anyhow::Error {
    Advised { text: format!("{error:#}"), hint: hint_of(&error).map(str::to_owned), wrong_usage: true }.into()
}

fn advice(error: &anyhow::Error) -> Option<&Advised> {
    error.chain().find_map(|cause| cause.downcast_ref())
}

/// The remedy that comes with an error, if any.
pub(crate) fn hint_of(error: &anyhow::Error) -> Option<&str> {
    advice(error)?.hint.as_deref()
}

/// Whether the command line is to blame.
pub(crate) fn is_wrong_usage(error: &anyhow::Error) -> bool {
    advice(error).is_some_and(|advised| advised.wrong_usage)
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::{Context as _, anyhow};

    #[test]
    fn a_hint_survives_further_context() {
        let error = Err::<(), _>(anyhow!("inner")).hint("do this").context("outer").expect_err("an error");
        assert_eq!(format!("{error:#}"), "outer: inner");
        assert_eq!(hint_of(&error), Some("do this"));
    }

    #[test]
    fn the_remedy_closest_to_the_cause_wins() {
        let error = advised(wrong_usage(advised(anyhow!("cause"), "first")), "second");
        assert_eq!(hint_of(&error), Some("first"));
        assert!(is_wrong_usage(&error));
    }
}
