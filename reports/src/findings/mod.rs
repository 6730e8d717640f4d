//! What a run says about itself: whether its figures can be trusted, and what stands out in them.
//!
//! Each rule is a pure function of a recording that adds what it finds; a further one needs its line in `RULES`.

mod cost;
mod kernel;
mod load;
mod trust;

use serde::Serialize;

use crate::recording::Recording;

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Figures are missing or wrong.
    Problem,
    /// Figures may mislead.
    Warning,
    /// Good to know.
    Note,
}

impl Severity {
    /// The word for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Problem => "problem",
            Self::Warning => "warning",
            Self::Note => "note",
        }
    }
}

/// One thing that was found, with the number behind it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// Which rule found it, such as `too-short`.
    pub name: &'static str,
    /// How much it matters.
    pub severity: Severity,
    /// One line, the number included. It may hold text from the recording: renderers make it harmless.
    pub text: String,
    /// The number behind it.
    pub value: f64,
    /// Unit of the number: `ns`, `share`, or what is counted.
    pub unit: &'static str,
}

type Rule = fn(&Recording, &mut Vec<Finding>);

const RULES: [Rule; 13] = [
    trust::incomplete,
    trust::lost,
    trust::probes_off,
    trust::imported,
    load::partial,
    load::failures,
    load::too_short,
    load::client_bound,
    kernel::counters_that_moved,
    kernel::listeners_that_dropped,
    cost::per_call,
    cost::tracer,
    cost::timed_share,
];

/// Everything that is found in a run, what matters most first.
#[must_use]
pub fn of(recording: &Recording) -> Vec<Finding> {
    let mut findings = Vec::new();
    for rule in RULES {
        rule(recording, &mut findings);
    }
    findings.sort_by_key(|finding| finding.severity);
    findings
}

/// What is said where nothing was found.
pub const NONE: &str = "nothing speaks against these figures";
