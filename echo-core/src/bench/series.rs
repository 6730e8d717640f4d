//! Repeats and sweeps: which runs are made, in which order, and when a sweep is over. Does not print.

use reports::{
    bench::{BenchResult, BenchSeries, SCHEMA, Sweep, SweepOver},
    units,
};

use super::{facts::Facts, options::SweepSteps, plan::Plan, preflight, progress::Progress, run};
use crate::{Error, Stop, warn};

/// What is to be run.
#[derive(Clone, Debug)]
pub struct SeriesPlan {
    /// One run, or what all steps have in common.
    pub plan: Plan,
    /// Runs of each step.
    pub repeat: u32,
    /// What differs between steps.
    pub sweep: Option<SweepSteps>,
    /// Go on where a check before a run says that it cannot go well.
    pub force: bool,
}

impl SeriesPlan {
    /// Makes every step once, then every step again, so that a machine that changes meanwhile changes all alike; hands
    /// each result to `each` as it comes. Ends early by `stop`, and a sweep of rates after the first that is not held.
    ///
    /// # Errors
    /// As [`preflight()`] and [`run()`](run::run).
    pub fn run(
        &self,
        stop: &Stop,
        progress: &mut Progress,
        mut each: impl FnMut(&BenchResult),
    ) -> Result<BenchSeries, Error> {
        let mut series =
            BenchSeries { schema: SCHEMA, repeat: self.repeat, sweep: None, partial: false, runs: Vec::new() };
        let mut stopped_because = None;
        let mut steps: Vec<Option<u64>> =
            self.sweep.as_ref().map_or(vec![None], |sweep| sweep.steps.iter().copied().map(Some).collect());
        'passes: for pass in 0..self.repeat {
            for (number, step) in steps.clone().into_iter().enumerate() {
                let plan = self.step(step)?;
                if pass == 0 {
                    preflight::preflight(&plan, self.force)?.iter().for_each(|text| progress.around(|| warn(text)));
                }
                progress.begin(self.name(pass, step));
                let result = run::run(&plan, stop, progress)?;
                each(&result);
                let (is_partial, unheld) = (result.partial, unheld(&result));
                series.runs.push(result);
                if is_partial || (stop.signal().is_some() && (pass + 1 < self.repeat || number + 1 < steps.len())) {
                    series.partial = true;
                    break 'passes;
                }
                if let Some(why) = unheld.filter(|_| self.sweep.is_some() && number + 1 < steps.len()) {
                    stopped_because = Some(why);
                    steps.truncate(number + 1);
                    break;
                }
            }
        }
        progress.end();
        series.sweep =
            self.sweep.as_ref().map(|sweep| Sweep { over: sweep.over, steps: sweep.steps.clone(), stopped_because });
        Ok(series)
    }

    fn step(&self, step: Option<u64>) -> Result<Plan, Error> {
        match (&self.sweep, step) {
            (Some(sweep), Some(value)) => self.plan.step(sweep.over, value, Facts::read()),
            _ => Ok(self.plan.clone()),
        }
    }

    fn name(&self, pass: u32, step: Option<u64>) -> String {
        let over = self.sweep.as_ref().zip(step);
        let step = over.map(|(sweep, value)| format!("{} {} ", sweep.over.name(), units::count(value)));
        let pass = (self.repeat > 1).then(|| format!("run {} of {} ", pass + 1, self.repeat));
        format!("bench {}{}", step.unwrap_or_default(), pass.unwrap_or_default()).trim_end().to_owned()
    }
}

/// In an open loop, what says that the rate was too high.
fn unheld(result: &BenchResult) -> Option<String> {
    result.findings.iter().find(|finding| finding.name == "rate" && finding.warns)?;
    Some(format!(
        "{} {} was not held: {} requests per second were answered",
        SweepOver::Rate.name(),
        units::count(result.settings.rate_per_s?),
        units::rate(result.requests_per_s().unwrap_or(0.0))
    ))
}
