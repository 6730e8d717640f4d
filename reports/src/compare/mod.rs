//! `analyzer compare`: groups of runs against a first group, figure by figure, and what may be claimed of each.
//!
//! Owns what is compared with what and when that is refused. Statistics are in `statistics`, looks in `text` and `svg`.

mod charts;
mod deciding;
mod figures;
mod grouping;
mod judging;
mod long;
mod metric;
mod rules;
mod runs;
mod settings;
mod shifts;

use std::path::PathBuf;

use serde::Serialize;

pub use charts::charts;
pub use deciding::TooFewRuns;
pub(crate) use figures::owner;
pub use figures::{Figure, Figures};
pub use grouping::{Group, LeftOut};
pub use judging::{Row, Verdict};
pub use long::{CallChange, LongConnections};
pub use metric::{Better, Measure, Metric, Unit};
pub use rules::{Rule, RuleError, Ruling, RulingKind};
pub use settings::{Difference, Role, Settings};
pub use shifts::{Distribution, Move, QUANTILES, Shift};

use crate::store::StoreError;

/// What to compare, and how.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Runs, or folders of repeats: each is a group. A single folder, or more than two single runs, are grouped by their
    /// settings.
    pub paths: Vec<PathBuf>,
    /// Compare what is not alike, too, and take incomplete runs.
    pub force: bool,
    /// Look at these metrics only; `*` stands for anything.
    pub metrics: Vec<String>,
    /// Look at every metric, rare calls included.
    pub all: bool,
    /// Limits that must hold.
    pub rules: Vec<Rule>,
}

/// Why there is nothing to compare.
#[derive(Debug, thiserror::Error)]
pub enum CompareError {
    /// A recording, or a folder of recordings, could not be read.
    #[error(transparent)]
    Recording(#[from] StoreError),
    /// A path led to no run that can be used.
    #[error("no complete recording in `{path}`")]
    Empty {
        /// Where it was looked for, printable.
        path: String,
    },
    /// There is nothing to compare with.
    #[error("only one group of runs: all {runs} have the same settings")]
    OneGroup {
        /// How many runs there are.
        runs: usize,
    },
    /// Runs that are no repeats of each other.
    #[error("the runs in `{path}` are no repeats of each other: {}", settings::listed(differences))]
    Mixed {
        /// Their folder, printable.
        path: String,
        /// What differs.
        differences: Vec<Difference>,
    },
    /// Groups that differ in what must be alike for a comparison.
    #[error("unlike settings of {baseline} and {other}: {}", settings::listed(differences))]
    Unlike {
        /// Letter and name of the first group, printable.
        baseline: String,
        /// Letter and name of the other one, printable.
        other: String,
        /// What differs.
        differences: Vec<Difference>,
    },
    /// A metric was named that no run has.
    #[error("no run has a metric `{name}`")]
    NoSuchMetric {
        /// What was named, printable.
        name: String,
        /// Names that are alike, or some that exist.
        similar: Vec<String>,
    },
}

impl CompareError {
    /// The remedy, where there is one.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Recording(_) => None,
            Self::Empty { .. } => Some("incomplete runs are left out; --force takes them".to_owned()),
            Self::OneGroup { .. } => Some("name two folders: analyzer compare results/short results/long".to_owned()),
            Self::Mixed { .. } => Some("one folder for each kind of run, or --force to take them as one".to_owned()),
            Self::Unlike { .. } => Some("repeat one of them with the other's settings, or --force".to_owned()),
            Self::NoSuchMetric { similar, .. } => Some(format!("there is {}", similar.join(", "))),
        }
    }
}

/// Everything that a comparison says.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// The groups; the first one is what the others are compared with.
    pub groups: Vec<Group>,
    /// Each other group against the first one.
    pub pairs: Vec<Pair>,
    /// How many figures were tested together: the adjusted p values pay for that many looks.
    pub looks: usize,
    /// The metrics were named by the user: each pays for all of them, without an order.
    pub asked_for: bool,
    /// No single figure can be shown to differ, however far apart.
    pub too_few_runs: Option<TooFewRuns>,
    /// Runs that are in no group.
    pub left_out: Vec<LeftOut>,
    /// What became of each rule.
    pub rulings: Vec<Ruling>,
}

/// A group against the first one.
#[derive(Clone, Debug, Serialize)]
pub struct Pair {
    /// Its number among the groups.
    pub other: usize,
    /// Settings in which they differ.
    pub differences: Vec<Difference>,
    /// Every metric that either has.
    pub rows: Vec<Row>,
    /// Every distribution that both have, all runs of a group together.
    pub shifts: Vec<Shift>,
    /// What longer connections changed, where their lengths differ.
    pub long_connections: Option<LongConnections>,
}

/// A comparison, and the distributions for its charts.
pub struct Outcome {
    /// What can be said.
    pub comparison: Comparison,
    /// Each group's distributions, all its runs together, in the order of the groups.
    pub distributions: Vec<Vec<Distribution>>,
}

/// Reads the runs and compares them.
///
/// # Errors
/// When a run cannot be read, there are not two groups, or they are unlike without [`Options::force`].
pub fn run(options: &Options) -> Result<Outcome, CompareError> {
    let mut left_out = Vec::new();
    let loaded = runs::load(options, &mut left_out)?;
    let mut members = grouping::into_groups(loaded, options.force)?;
    figures::fill_in_absent_calls(&mut members);
    let differences = grouping::checked(&members, options.force)?;
    let wanted = metric::Wanted::new(options, &members)?;
    let mut tables: Vec<Vec<Row>> =
        (1..members.len()).map(|other| judging::rows(&members[0], &members[other], &wanted)).collect();
    let asked_for = !options.metrics.is_empty();
    let looks = deciding::decide(&mut tables, asked_for);
    let runs: Vec<_> = members[1..].iter().map(|other| (members[0].runs.len(), other.runs.len())).collect();
    let too_few_runs = TooFewRuns::of(&tables, asked_for, &runs);
    let rulings = rules::judge(&options.rules, &tables)?;
    let distributions: Vec<_> = members.iter().map(shifts::distributions).collect();
    let pairs = tables.into_iter().zip(differences).enumerate().map(|(number, (rows, differences))| {
        let other = number + 1;
        Pair {
            other,
            differences,
            long_connections: LongConnections::of(&members[0], &members[other], &rows).filter(|_| !asked_for),
            shifts: shifts::between(&distributions[0], &distributions[other]),
            rows,
        }
    });
    let pairs = pairs.collect();
    let groups = members.iter().map(grouping::Members::described).collect();
    Ok(Outcome {
        comparison: Comparison { groups, pairs, looks, asked_for, too_few_runs, left_out, rulings },
        distributions,
    })
}
