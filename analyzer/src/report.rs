//! `analyzer report`: hands the command line to the `reports` crate.

use std::io;

use anyhow::{Context as _, Result};
use reports::{
    report::{self, Options},
    terminal,
};

use crate::{cli::ReportArgs, process::identity::Caller, say};

/// Failures that are told one by one.
const SHOWN: usize = 10;

/// Runs `analyzer report`; returns the exit status: 1 when anything was skipped.
///
/// # Errors
/// When stdout cannot be written.
pub(crate) fn run(args: ReportArgs) -> Result<u8> {
    let options = Options {
        print: args.print(),
        formats: args.formats(),
        paths: args.paths,
        out: args.output,
        view: args.view.view(),
        style: terminal::style(),
    };
    let outcome = report::run(&options, &mut io::stdout().lock()).context("failed to print the report")?;
    let whole = outcome.failed.is_empty();
    if let Some(caller) = Caller::behind_sudo() {
        for file in &outcome.written {
            caller.own(file)?;
        }
    }
    let more = outcome.failed.len().saturating_sub(SHOWN);
    for failure in outcome.failed.into_iter().take(SHOWN) {
        let hint = failure.hint();
        say::say(format_args!("{:#}", anyhow::Error::from(failure)));
        if let Some(hint) = hint {
            say::hint(hint);
        }
    }
    if more > 0 {
        say::say(format_args!("and {more} more could not be read or written"));
    }
    Ok(u8::from(!whole))
}
