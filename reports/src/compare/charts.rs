//! Which distributions are drawn over each other, and what the files are called. Writes nothing.

use std::collections::BTreeSet;

use super::Outcome;
use crate::{
    printable::clipped,
    svg::{self, Curve},
};

/// Charts of one comparison at most.
const MOST: usize = 12;
/// Longest part of a file's name that comes from a metric's owner.
const STEM: usize = 60;

/// File name and text of a chart for each latency that was looked at and that two groups have.
#[must_use]
pub fn charts(outcome: &Outcome) -> Vec<(String, String)> {
    let groups = &outcome.comparison.groups;
    let rows = outcome.comparison.pairs.iter().flat_map(|pair| &pair.rows);
    let looked_at: BTreeSet<&str> =
        rows.filter(|row| row.looked_at && !row.waits).map(|row| row.metric.owner.as_str()).collect();
    let mut owners: Vec<&str> = Vec::new();
    for one in outcome.distributions.iter().flatten() {
        if !one.waits && looked_at.contains(one.owner.as_str()) && !owners.contains(&one.owner.as_str()) {
            owners.push(&one.owner);
        }
    }
    let names: Vec<String> =
        groups.iter().map(|group| format!("{}: {}", group.letter, clipped(&group.label, 40))).collect();
    let caption = format!("Compared: {}", names.join(", "));
    let mut taken = BTreeSet::new();
    owners
        .into_iter()
        .filter_map(|owner| {
            let curves: Vec<Curve> = groups
                .iter()
                .zip(&names)
                .zip(&outcome.distributions)
                .filter_map(|((group, name), distributions)| {
                    let one = distributions.iter().find(|one| one.owner == owner)?;
                    Some(Curve { name: name.clone(), runs: group.runs.len(), histogram: &one.histogram })
                })
                .collect();
            Some((owner, svg::overlay(owner, &caption, &curves)?))
        })
        .take(MOST)
        .map(|(owner, chart)| (file_name(owner, &mut taken), chart))
        .collect()
}

/// A name of its own; nothing in it can lead out of the folder.
fn file_name(owner: &str, taken: &mut BTreeSet<String>) -> String {
    let safe = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' };
    let mut stem: String = owner.chars().take(STEM).map(safe).collect();
    while !taken.insert(stem.clone()) {
        stem.push('_');
    }
    format!("compare-{stem}.svg")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_of_a_call_leads_out_of_the_folder() {
        let mut taken = BTreeSet::new();
        assert_eq!(file_name("server.close", &mut taken), "compare-server-close.svg");
        assert_eq!(file_name("server/close", &mut taken), "compare-server-close_.svg");
        assert_eq!(file_name("../../\0\u{202e}", &mut taken), "compare---------.svg");
    }
}
