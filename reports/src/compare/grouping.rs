//! Which runs are repeats of each other, and whether groups of them may be compared.

use std::{collections::BTreeSet, path::Path};

use serde::Serialize;

use super::{
    CompareError,
    runs::{Loaded, Run},
    settings::{Difference, Role, Settings},
};
use crate::printable::{self, printable};

/// A group of repeats, as described in a comparison.
#[derive(Clone, Debug, Serialize)]
pub struct Group {
    /// `A`, `B`, ...
    pub letter: String,
    /// What tells it apart: a differing setting's value, or the folder's name. Printable.
    pub label: String,
    /// Where it comes from. Printable.
    pub path: String,
    /// Its runs by name. Printable.
    pub runs: Vec<String>,
    /// Settings of its runs.
    pub settings: Settings,
}

/// A run that is in no group, and why. Printable.
#[derive(Clone, Debug, Serialize)]
pub struct LeftOut {
    /// Its file.
    pub run: String,
    /// Why.
    pub why: String,
}

/// A group with its runs; never without one.
pub(super) struct Members {
    pub(super) letter: String,
    pub(super) label: String,
    pub(super) path: String,
    pub(super) runs: Vec<Run>,
}

impl Members {
    fn settings(&self) -> &Settings {
        &self.runs[0].settings
    }

    pub(super) fn described(&self) -> Group {
        Group {
            letter: self.letter.clone(),
            label: self.label.clone(),
            path: self.path.clone(),
            runs: self.runs.iter().map(|run| printable(&run.name)).collect(),
            settings: self.settings().clone(),
        }
    }

    fn named(&self) -> String {
        format!("{} ({})", self.letter, self.label)
    }
}

/// One group for each path; a single path, or many single runs, are grouped by their settings.
pub(super) fn into_groups(loaded: Vec<Loaded>, force: bool) -> Result<Vec<Members>, CompareError> {
    let single_runs = loaded.len() > 2 && loaded.iter().all(|path| path.runs.len() == 1);
    let mut groups = if loaded.len() == 1 || single_runs { split(loaded) } else { one_each(loaded, force)? };
    if groups.len() < 2 {
        return Err(CompareError::OneGroup { runs: groups.iter().map(|group| group.runs.len()).sum() });
    }
    for (number, group) in groups.iter_mut().enumerate() {
        group.letter = letter(number);
    }
    name_by_difference(&mut groups);
    Ok(groups)
}

fn one_each(loaded: Vec<Loaded>, force: bool) -> Result<Vec<Members>, CompareError> {
    let mut groups = Vec::new();
    for Loaded { path, runs } in loaded {
        let first = &runs[0].settings;
        let stranger = runs.iter().find(|run| run.settings != *first);
        if let Some(stranger) = stranger.filter(|_| !force) {
            let differences = first.differences(&stranger.settings);
            return Err(CompareError::Mixed { path: printable::path(&path), differences });
        }
        groups.push(members(&path, runs));
    }
    Ok(groups)
}

/// In the order in which each kind of run is first seen.
fn split(loaded: Vec<Loaded>) -> Vec<Members> {
    let mut groups: Vec<Members> = Vec::new();
    for Loaded { path, runs } in loaded {
        for run in runs {
            match groups.iter_mut().find(|group| *group.settings() == run.settings) {
                Some(group) => group.runs.push(run),
                None => groups.push(members(&path, vec![run])),
            }
        }
    }
    groups
}

fn members(path: &Path, runs: Vec<Run>) -> Members {
    Members { letter: String::new(), label: String::new(), path: printable::path(path), runs }
}

/// `A` to `Z`, then by number.
fn letter(number: usize) -> String {
    u8::try_from(number)
        .ok()
        .filter(|number| *number < 26)
        .map_or_else(|| format!("#{}", number + 1), |number| char::from(b'A' + number).to_string())
}

/// Where target, mode and workload tell all groups apart, they are better names than those of folders.
fn name_by_difference(groups: &mut [Members]) {
    let varies = |name: &&str| groups.iter().any(|group| group.settings().get(name) != groups[0].settings().get(name));
    let telling: Vec<&str> = ["target", "workload", "mode"].into_iter().filter(varies).collect();
    let by_setting = |group: &Members| {
        let values: Vec<&str> = telling.iter().map(|name| group.settings().get(name).unwrap_or("none")).collect();
        printable(&values.join(" "))
    };
    let mut labels: Vec<String> = groups.iter().map(by_setting).collect();
    if !are_distinct(&labels) {
        labels = groups.iter().map(by_name).collect();
    }
    if !are_distinct(&labels) {
        labels = by_every_difference(groups, &telling);
    }
    for (group, label) in groups.iter_mut().zip(labels) {
        group.label = label;
    }
}

fn are_distinct(labels: &[String]) -> bool {
    labels.iter().collect::<BTreeSet<_>>().len() == labels.len()
}

/// Groups of one folder: the settings of `first`, and by their names as many more as tell the groups apart.
fn by_every_difference(groups: &[Members], first: &[&str]) -> Vec<String> {
    let value = |group: &Members, name: &str| group.settings().get(name).unwrap_or("none").to_owned();
    let mut labels: Vec<Vec<String>> =
        groups.iter().map(|group| first.iter().map(|name| value(group, name)).collect()).collect();
    let joined =
        |labels: &[Vec<String>]| -> Vec<String> { labels.iter().map(|words| printable(&words.join(" "))).collect() };
    let names: BTreeSet<&str> = groups.iter().flat_map(|group| group.settings().names()).collect();
    for name in names.into_iter().filter(|name| !first.contains(name)) {
        if are_distinct(&joined(&labels)) {
            break;
        }
        if groups.iter().any(|group| value(group, name) != value(&groups[0], name)) {
            for (label, group) in labels.iter_mut().zip(groups) {
                label.push(format!("{name} {}", value(group, name)));
            }
        }
    }
    joined(&labels)
}

fn by_name(group: &Members) -> String {
    let folder = group.path.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    if group.runs.len() == 1 { printable(&group.runs[0].name) } else { folder.to_owned() }
}

/// The differences of each further group from the first one.
///
/// # Errors
/// When one differs in what must be alike, unless taken by force.
pub(super) fn checked(groups: &[Members], force: bool) -> Result<Vec<Vec<Difference>>, CompareError> {
    let baseline = &groups[0];
    groups[1..]
        .iter()
        .map(|other| {
            let differences = baseline.settings().differences(other.settings());
            let unlike: Vec<_> = differences.iter().filter(|one| one.role == Role::Alike).cloned().collect();
            if unlike.is_empty() || force {
                return Ok(differences);
            }
            Err(CompareError::Unlike { baseline: baseline.named(), other: other.named(), differences: unlike })
        })
        .collect()
}
