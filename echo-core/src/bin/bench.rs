//! `bench`: the load generator's command line, and its exit status.

use std::{env, path::Path, process::ExitCode};

use anyhow::Context as _;
use clap::{CommandFactory as _, Parser, error::ErrorKind};
use echo_core::{
    Error, Stop,
    bench::{self, BenchOptions, Facts, Failure, Plan, Progress, RESULT_FILE_VARIABLE, ResultFile, SeriesPlan},
    print, print_error, warn,
};
use reports::{
    bench::{BenchResult, BenchSeries},
    terminal, text,
};

/// Load generator for echo servers: closed and open loops, non-blocking, every byte checked
///
/// In a closed loop every connection has one request in flight, and the next begins when it is answered; with --rate
/// (open loop) requests are due whether earlier ones were answered or not, and latency counts from when they were due.
///
/// A request that fails is counted, never repeated. A connection that fails is replaced, except in long mode with --rounds:
/// what it still had to send is then counted as `not-sent`. So is the rest of a run whose every first connect is refused: it
/// ends at once.
#[derive(Parser)]
#[command(version, after_help = AFTER_HELP)]
struct Arguments {
    #[command(flatten)]
    bench: BenchOptions,
}

const AFTER_HELP: &str = "\
Environment:
  BENCH_RESULT_FILE  an existing file to which each run's result is appended as one line of JSON

Exit status:
  0  every request was answered
  1  a request failed, or the run could not be made
  2  wrong usage
  128+n  ended by signal n, after the partial result was printed";

fn main() -> ExitCode {
    let options = Arguments::parse().bench;
    if let Err(conflict) = options.check() {
        let error = Arguments::command().error(ErrorKind::ArgumentConflict, conflict);
        // As clap itself does; a closed stderr leaves nothing to say.
        let _ = error.print();
        return ExitCode::from(2);
    }
    match run(&options) {
        Ok(status) => status,
        Err(error) => {
            print_error(&error);
            ExitCode::FAILURE
        }
    }
}

fn run(options: &BenchOptions) -> anyhow::Result<ExitCode> {
    let plan = Plan::new(options, Facts::read())?;
    let reserve = |path: &Option<_>| path.as_deref().map(ResultFile::reserve).transpose();
    let (json, hdr) = (reserve(&options.output.json)?, reserve(&options.output.hdr)?);
    let stop = Stop::on_signals()?;
    let server = plan.server;
    let load = &options.load;
    let series = SeriesPlan { plan, repeat: load.repeat, sweep: load.sweep.clone(), force: options.output.force };
    let series = series.run(&stop, &mut Progress::new(), hand_over)?;
    print(&text::bench_series(&series, &terminal::style()))?;
    if let Some(json) = json {
        match single(&series) {
            Some(result) => json.store_json(result)?,
            None => json.store_json(&series)?,
        }
    }
    if let Some(hdr) = hdr {
        let latency = series.latency().context("no request was made")?;
        hdr.store(text::percentiles(&latency).as_bytes())?;
    }
    let is_refused = |result: &BenchResult| result.ok == 0 && result.failed.contains_key(Failure::Refused.name());
    if series.runs.iter().any(is_refused) {
        print_error(&Error::NobodyListens { server }.into());
    }
    Ok(status(&series, &stop))
}

/// The run, where only one was asked for.
fn single(series: &BenchSeries) -> Option<&BenchResult> {
    series.runs.first().filter(|_| series.repeat == 1 && series.sweep.is_none())
}

fn hand_over(result: &BenchResult) {
    let Some(path) = env::var_os(RESULT_FILE_VARIABLE).filter(|path| !path.is_empty()) else { return };
    if let Err(error) = bench::append_line(Path::new(&path), result) {
        warn(&format!("{:#}", anyhow::Error::from(error)));
    }
}

fn status(series: &BenchSeries, stop: &Stop) -> ExitCode {
    match stop.signal() {
        Some(signal) if series.partial => ExitCode::from(128 + signal),
        _ if series.runs.iter().any(|run| run.failures() > 0) => ExitCode::FAILURE,
        _ => ExitCode::SUCCESS,
    }
}
