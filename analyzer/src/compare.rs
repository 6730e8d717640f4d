//! `analyzer compare`: hands the command line to the `reports` crate, and turns its rulings into an exit status.

use std::{
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result};
use clap::Args;
use reports::{
    compare::{self, Comparison, Options, Outcome, Rule, RulingKind},
    terminal, text,
};

use crate::{
    advice::{advised, wrong_usage},
    process::identity::Caller,
    say,
};

/// Compare runs, or groups of repeated runs: what changed, by how much, and whether that is more than noise.
#[derive(Debug, Args)]
#[command(after_help = "\
Each PATH is a group: a run, or a folder with repeats of it. A single folder is split by the settings of its runs. The
others are compared with the first. Mode, target, kind of workload and sysctls may differ: that is what is compared.
Machine, kernel, amount of load and how it was traced must be alike.

Examples:
  analyzer compare results/short results/long
  analyzer compare results/                        # split by mode and target
  analyzer compare before after --fail-on 'server.close.p99 > +20%' --fail-on 'requests_per_s < -10%'
  analyzer compare before after -m 'server.close.*'  # fewer looks: a smaller difference can be shown

Metrics: requests_per_s, failures, lost, {connect,request}.{mean,p50,p90,p99,p99.9}, {bench,server,client}.cpu_per_request,
{server,client}.{calls,time}_per_request, and of each system call, such as server.close:
.calls_per_request, .time_per_request, .mean, .p50, .p90, .p99, .p99.9, .total (and .calls where requests are not known).

Exit status: 0 done, and no rule of --fail-on holds; 1 a rule holds beyond noise, or something could not be read;
2 wrong usage, unlike settings, or a rule that cannot be judged (too few runs, no data).")]
#[expect(clippy::struct_excessive_bools, reason = "independent switches of a command line")]
pub(crate) struct CompareArgs {
    /// Runs, or folders with repeats; the first is what the others are compared with
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Compare what is not alike, too, and take incomplete runs
    #[arg(long)]
    force: bool,
    /// Look at these metrics only; `*` stands for anything, may be given again
    #[arg(short, long, value_name = "METRIC")]
    metric: Vec<String>,
    /// Look at every metric, those of rare calls included
    #[arg(long, conflicts_with = "metric")]
    all: bool,
    /// Fail when this holds beyond noise: METRIC > +N% or METRIC < -N%, against the first; may be given again
    #[arg(long, value_name = "RULE")]
    fail_on: Vec<Rule>,
    /// Print JSON instead of tables
    #[arg(long)]
    json: bool,
    /// Draw the distributions over each other, as SVG files
    #[arg(long)]
    svg: bool,
    /// Folder for the charts
    #[arg(short, long, value_name = "DIR", default_value = "comparison", requires = "svg")]
    output: PathBuf,
}

/// Runs `analyzer compare`; returns the exit status.
///
/// # Errors
/// When there is nothing that can be compared, or something cannot be written.
pub(crate) fn run(args: CompareArgs) -> Result<u8> {
    let options =
        Options { paths: args.paths, force: args.force, metrics: args.metric, all: args.all, rules: args.fail_on };
    let outcome = compare::run(&options).map_err(explained)?;
    print(&outcome, args.json).context("failed to print the comparison")?;
    if args.svg {
        draw(&outcome, &args.output)?;
    }
    Ok(status(&outcome.comparison))
}

fn explained(error: compare::CompareError) -> anyhow::Error {
    let hint = error.hint();
    let unreadable = matches!(error, compare::CompareError::Recording(_) | compare::CompareError::Empty { .. });
    let error = match hint {
        Some(hint) => advised(error.into(), hint),
        None => error.into(),
    };
    if unreadable { error } else { wrong_usage(error) }
}

fn print(outcome: &Outcome, json: bool) -> io::Result<()> {
    let mut out = io::stdout().lock();
    if json {
        serde_json::to_writer_pretty(&mut out, &outcome.comparison)?;
        writeln!(out)?;
    } else {
        write!(out, "{}", text::comparison(&outcome.comparison, &terminal::style()))?;
    }
    out.flush()
}

fn draw(outcome: &Outcome, folder: &Path) -> Result<()> {
    let charts = compare::charts(outcome);
    if charts.is_empty() {
        say::say("no chart: no two groups have a distribution of the same latency");
        return Ok(());
    }
    let caller = Caller::behind_sudo();
    let unwritable = |path: &Path| format!("failed to write `{}`", path.display());
    let made = !folder.exists();
    fs::create_dir_all(folder).with_context(|| unwritable(folder))?;
    if let Some(caller) = caller.filter(|_| made) {
        caller.own(folder)?;
    }
    for (name, chart) in charts {
        let path = folder.join(name);
        fs::write(&path, chart).with_context(|| unwritable(&path))?;
        if let Some(caller) = caller {
            caller.own(&path)?;
        }
        say::say(format_args!("wrote {}", path.display()));
    }
    Ok(())
}

/// A rule that cannot be judged must not look like one that was kept.
fn status(comparison: &Comparison) -> u8 {
    let any = |is: fn(RulingKind) -> bool| comparison.rulings.iter().any(|ruling| is(ruling.kind));
    if any(|kind| kind == RulingKind::Holds) {
        return 1;
    }
    if any(RulingKind::is_open) {
        say::say("a rule of --fail-on cannot be judged");
        say::hint("it needs at least 4 complete runs of each group that have the metric");
        return 2;
    }
    0
}
