//! The figures of one run, by metric. What a run does not tell is absent, never 0.

use std::collections::BTreeMap;

use super::{Metric, grouping::Members, metric::Measure, shifts::Distribution};
use crate::{
    bench::BenchResult,
    histogram::Histogram,
    recording::{Abi, Group, Recording, Syscall},
    stats::ByTime,
};

/// A value, and how far from the truth its bucket or its tool's last digit may have put it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figure {
    /// In the unit of its measure.
    pub value: f64,
    /// Largest relative error of the value.
    pub relative_error: f64,
}

/// Fewer calls than this do not matter by their time.
const FEW: u64 = 20;

/// Everything that a run tells.
#[derive(Clone, Debug, Default)]
pub struct Figures {
    values: BTreeMap<Metric, Figure>,
    /// Calls that wait by design, by owner.
    waiting: BTreeMap<String, bool>,
    /// Each call's share of its group's calls or working time, the larger one, by owner.
    weights: BTreeMap<String, f64>,
    /// Groups in which a call that has no row was not made, and for how many of its calls that is known.
    pub(super) traced: Vec<Traced>,
    /// Successful requests.
    pub(super) requests: Option<u64>,
}

/// A group in which every call that was asked for has a row if it was made.
#[derive(Clone, Debug)]
pub(super) struct Traced {
    group: String,
    /// Names that were asked for; every call when there are none.
    selection: Vec<String>,
}

impl Figures {
    /// The figures of a recording.
    #[must_use]
    pub fn of(recording: &Recording) -> Self {
        let mut figures = Self::default();
        figures.load(&recording.bench);
        for group in &recording.groups {
            figures.group(group, recording.count_only);
            // Another tool's table may have been cut down in ways that it does not tell.
            if recording.origin.is_none() {
                let selection = recording.selection.clone();
                figures.traced.push(Traced { group: group.name.clone(), selection });
            }
        }
        if !recording.groups.is_empty() {
            figures.put("", Measure::Lost, recording.lost().map(|lost| lost as f64));
        }
        figures.cpu(recording);
        for stated in recording.origin.iter().flat_map(|origin| &origin.stated) {
            let measure = Measure::NAMES.iter().find(|(_, name)| *name == stated.measure);
            if let Some(&(measure, _)) = measure.filter(|_| stated.value_ns > 0) {
                let value = stated.value_ns as f64;
                let relative_error = (stated.resolution_ns as f64 / value).min(1.0);
                figures.put_within(&stated.owner, measure, Some(value), relative_error);
            }
        }
        figures
    }

    /// The figure of that metric.
    #[must_use]
    pub fn get(&self, metric: &Metric) -> Option<Figure> {
        self.values.get(metric).copied()
    }

    /// The metrics that the run has.
    pub fn metrics(&self) -> impl Iterator<Item = &Metric> {
        self.values.keys()
    }

    /// Whether the owner is a call that waits by design.
    #[must_use]
    pub fn waits(&self, owner: &str) -> bool {
        self.waiting.get(owner).copied().unwrap_or(false)
    }

    /// Each call's weight in its group.
    pub(super) fn weights(&self) -> impl Iterator<Item = (&str, f64)> {
        self.weights.iter().map(|(owner, share)| (owner.as_str(), *share))
    }

    fn put(&mut self, owner: &str, measure: Measure, value: Option<f64>) {
        self.put_within(owner, measure, value, 0.0);
    }

    fn put_within(&mut self, owner: &str, measure: Measure, value: Option<f64>, relative_error: f64) {
        if let Some(value) = value.filter(|value| value.is_finite()) {
            self.values.insert(Metric::new(owner, measure), Figure { value, relative_error });
        }
    }

    fn load(&mut self, results: &[BenchResult]) {
        if results.is_empty() {
            return;
        }
        let total =
            |field: fn(&BenchResult) -> u64| results.iter().fold(0u64, |sum, result| sum.saturating_add(field(result)));
        let (ok, failed) = (total(|result| result.ok), total(BenchResult::failures));
        let (elapsed_ns, connected) = (total(|result| result.elapsed_ns), total(|result| result.connected));
        self.requests = (ok > 0).then_some(ok);
        self.put("", Measure::RequestsPerS, ratio(ok as f64 * 1e9, elapsed_ns));
        self.put("", Measure::Failures, ratio(failed as f64, ok.saturating_add(failed)));
        self.put("", Measure::RequestsPerConnection, ratio(ok as f64, connected));
        let cpu = total(|result| result.client_cpu_ns);
        self.put("bench", Measure::CpuPerRequest, ratio(cpu as f64, ok).filter(|_| cpu > 0));
        for (name, histogram) in [
            ("connect", merged(results.iter().map(|result| &result.connect))),
            ("request", merged(results.iter().map(|result| &result.request))),
        ] {
            if let Some(histogram) = histogram {
                self.put(name, Measure::Mean, histogram.mean());
                self.quantiles(name, &histogram);
            }
        }
    }

    fn quantiles(&mut self, owner: &str, histogram: &Histogram) {
        for (measure, q) in Measure::QUANTILES {
            let value = histogram.quantile(q).map(|ns| ns as f64);
            self.put_within(owner, measure, value, histogram.relative_error());
        }
    }

    fn group(&mut self, group: &Group, count_only: bool) {
        let calls = ByTime::of(group);
        let (all_calls, working_ns) = (calls.calls(), calls.working_ns());
        if let Some(requests) = self.requests {
            self.put(&group.name, Measure::CallsPerRequest, ratio(all_calls as f64, requests));
            let known = !count_only && calls.working.iter().all(|row| row.total_ns.is_some());
            self.put(&group.name, Measure::TimePerRequest, ratio(working_ns as f64, requests).filter(|_| known));
        }
        for row in calls.working.iter().chain(&calls.waiting) {
            let owner = owner(&group.name, row);
            let waits = row.waits_by_design();
            // A handful of calls, such as those that start a program, tells nothing of the load.
            let counts = !waits && row.calls >= FEW;
            let of_time = ratio(row.time_ns() as f64, working_ns).filter(|_| counts).unwrap_or(0.0);
            let of_calls = ratio(row.calls as f64, all_calls).unwrap_or(0.0);
            self.weights.insert(owner.clone(), of_time.max(of_calls));
            self.waiting.insert(owner.clone(), waits);
            self.call(&owner, row);
        }
    }

    fn call(&mut self, owner: &str, row: &Syscall) {
        let total = row.total_ns.map(|ns| ns as f64);
        match self.requests {
            Some(requests) => {
                self.put(owner, Measure::CallsPerRequest, ratio(row.calls as f64, requests));
                self.put(owner, Measure::TimePerRequest, total.and_then(|total| ratio(total, requests)));
            }
            None => self.put(owner, Measure::Calls, Some(row.calls as f64)),
        }
        self.put(owner, Measure::Total, total);
        self.put(owner, Measure::Mean, row.mean_ns());
        if let Some(latency) = &row.latency {
            self.quantiles(owner, latency);
        }
    }

    /// CPU time of each group's processes, sampled.
    fn cpu(&mut self, recording: &Recording) {
        let (Some(resources), Some(requests)) = (&recording.resources, self.requests) else { return };
        for (number, name) in resources.groups.iter().enumerate() {
            let samples = resources.samples.iter().filter_map(|sample| sample.groups.get(number));
            let used =
                samples.fold(0u64, |sum, sample| sum.saturating_add(sample.user_ns).saturating_add(sample.system_ns));
            self.put(name, Measure::CpuPerRequest, ratio(used as f64, requests).filter(|_| used > 0));
        }
    }
}

/// Name of a group's system call; foreign ones are told apart.
pub(crate) fn owner(group: &str, row: &Syscall) -> String {
    let table = match row.abi {
        Abi::Native => "",
        Abi::Compat => "[compat]",
        Abi::X32 => "[x32]",
    };
    format!("{group}.{}{table}", row.name)
}

fn ratio(part: f64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part / whole as f64)
}

/// All values together; `None` when there are none or their layouts differ.
pub(super) fn merged<'a>(mut histograms: impl Iterator<Item = &'a Histogram>) -> Option<Histogram> {
    let mut all = histograms.next()?.clone();
    for histogram in histograms {
        if !all.same_layout(histogram) {
            return None;
        }
        all.merge(histogram);
    }
    (all.count() > 0).then_some(all)
}

/// The distributions of a recording, by owner.
pub(super) fn distributions(recording: &Recording) -> Vec<Distribution> {
    let mut found = Vec::new();
    let mut add = |owner: String, waits: bool, histogram: Option<Histogram>| {
        let drawable = histogram.filter(|histogram| histogram.buckets().next().is_some());
        found.extend(drawable.map(|histogram| Distribution { owner, waits, histogram }));
    };
    add("connect".to_owned(), false, merged(recording.bench.iter().map(|result| &result.connect)));
    add("request".to_owned(), false, merged(recording.bench.iter().map(|result| &result.request)));
    for group in &recording.groups {
        let calls = ByTime::of(group);
        for row in calls.working.iter().chain(&calls.waiting) {
            add(owner(&group.name, row), row.waits_by_design(), row.latency.clone());
        }
    }
    found
}

/// A call that some runs made and a traced run has no row for was not made there: 0 calls, which is something else than
/// no data.
pub(super) fn fill_in_absent_calls(groups: &mut [Members]) {
    let mut known: BTreeMap<String, bool> = BTreeMap::new();
    for run in groups.iter().flat_map(|group| &group.runs) {
        known.extend(run.figures.waiting.clone());
    }
    for run in groups.iter_mut().flat_map(|group| &mut group.runs) {
        let traced = run.figures.traced.clone();
        for (owner, &waits) in &known {
            let in_it = |traced: &Traced| {
                let name = owner.strip_prefix(&traced.group).and_then(|rest| rest.strip_prefix('.'));
                name.is_some_and(|name| traced.selection.is_empty() || traced.selection.iter().any(|one| one == name))
            };
            if run.figures.waiting.contains_key(owner) || !traced.iter().any(in_it) {
                continue;
            }
            run.figures.waiting.insert(owner.clone(), waits);
            if run.figures.requests.is_some() {
                run.figures.put(owner, Measure::CallsPerRequest, Some(0.0));
                run.figures.put(owner, Measure::TimePerRequest, Some(0.0));
            } else {
                run.figures.put(owner, Measure::Calls, Some(0.0));
            }
            run.figures.put(owner, Measure::Total, Some(0.0));
        }
    }
}
