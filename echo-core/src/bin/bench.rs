//! `bench`: the load generator's command line, and its exit status.

use std::{env, path::Path, process::ExitCode};

use clap::Parser;
use echo_core::{
    Error, Stop,
    bench::{self, BenchOptions, Failure, JsonFile, Plan, RESULT_FILE_VARIABLE},
    print, print_error, warn,
};
use reports::{bench::BenchResult, terminal, text};

/// Load generator for echo servers: closed loop, non-blocking, every byte checked
///
/// In short mode every request is one `connect()`, and a request that fails is counted, never repeated. In long mode a
/// connection that fails is not replaced: what it still had to send is counted as `not-sent`. So is the rest of a run whose
/// every first connect is refused: it ends at once.
#[derive(Parser)]
#[command(version, after_help = AFTER_HELP)]
struct Arguments {
    #[command(flatten)]
    bench: BenchOptions,
}

const AFTER_HELP: &str = "\
Environment:
  BENCH_RESULT_FILE  an existing file to which the result is appended as one line of JSON

Exit status:
  0  every request was answered
  1  a request failed, or the run could not be made
  2  wrong usage
  128+n  ended by signal n, after the partial result was printed";

fn main() -> ExitCode {
    match run(&Arguments::parse().bench) {
        Ok(status) => status,
        Err(error) => {
            print_error(&error);
            ExitCode::FAILURE
        }
    }
}

fn run(options: &BenchOptions) -> anyhow::Result<ExitCode> {
    let plan = Plan::new(options)?;
    let json = options.json.as_deref().map(JsonFile::reserve).transpose()?;
    let stop = Stop::on_signals()?;
    let result = bench::run(&plan, &stop)?;
    hand_over(&result);
    print(&text::bench(&result, &terminal::style()))?;
    json.map(|file| file.store(&result)).transpose()?;
    if result.ok == 0 && result.failed.contains_key(Failure::Refused.name()) {
        print_error(&Error::NobodyListens { server: plan.server }.into());
    }
    Ok(status(&result, &stop))
}

fn hand_over(result: &BenchResult) {
    let Some(path) = env::var_os(RESULT_FILE_VARIABLE).filter(|path| !path.is_empty()) else { return };
    if let Err(error) = bench::append_line(Path::new(&path), result) {
        warn(&format!("{:#}", anyhow::Error::from(error)));
    }
}

fn status(result: &BenchResult, stop: &Stop) -> ExitCode {
    match stop.signal() {
        Some(signal) if result.partial => ExitCode::from(128 + signal),
        _ if result.failures() > 0 => ExitCode::FAILURE,
        _ => ExitCode::SUCCESS,
    }
}
