//! The command line's one entry and exit.

mod advice;
mod bpf;
mod cli;
mod compare;
mod events;
mod import;
mod kernel;
mod process;
mod report;
mod say;
mod sockets;
mod tcp;
mod trace;
mod watch;

use std::{io::Write as _, process::ExitCode};

use clap::Parser as _;

use cli::{Cli, Command};

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return refused(&error),
    };
    let level = match cli.verbose {
        0 => log::LevelFilter::Warn,
        1 => log::LevelFilter::Debug,
        _ => log::LevelFilter::Trace,
    };
    let plain =
        |out: &mut env_logger::fmt::Formatter, record: &log::Record| writeln!(out, "analyzer: {}", record.args());
    env_logger::Builder::new().filter_level(level).format(plain).init();
    let (outcome, on_failure) = match cli.command {
        Command::Trace(args) => (trace::run(&args), trace::FAILED),
        Command::Report(args) => (report::run(args), 1),
        Command::Compare(args) => (compare::run(args), 1),
        Command::Import(args) => (Ok(import::run(&args)), 1),
        Command::Watch(args) => (watch::run(&args), 1),
    };
    match outcome {
        Ok(status) => ExitCode::from(status),
        Err(error) if is_closed_stdout(&error) => ExitCode::SUCCESS,
        Err(error) => {
            say::say(format_args!("{error:#}"));
            if let Some(hint) = advice::hint_of(&error) {
                say::hint(hint);
            }
            ExitCode::from(if advice::is_wrong_usage(&error) { 2 } else { on_failure })
        }
    }
}

/// Help, version or wrong usage, as clap words it, with what it cannot know.
fn refused(error: &clap::Error) -> ExitCode {
    let _ = error.print();
    let is_trace = std::env::args_os().nth(1).is_some_and(|command| command == "trace");
    if is_trace && error.kind() == clap::error::ErrorKind::UnknownArgument {
        say::hint("the workload comes after `--`: analyzer trace --target echo-epoll-lt -- bench --mode short");
    }
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
}

/// `analyzer report | head` is no failure.
fn is_closed_stdout(error: &anyhow::Error) -> bool {
    error.downcast_ref::<std::io::Error>().is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}
