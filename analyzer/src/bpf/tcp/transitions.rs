//! How often each state followed each.

use probes::tcp::{STATES, transition_index};
use reports::recording::Transition;

use super::state_name;

/// Counts by the state before and the one after.
#[derive(Clone, Debug)]
pub(crate) struct Transitions([u64; (STATES * STATES) as usize]);

impl Default for Transitions {
    fn default() -> Self {
        Self([0; (STATES * STATES) as usize])
    }
}

impl Transitions {
    /// Counts some more changes of one state into another.
    pub(crate) fn add(&mut self, old: u32, new: u32, count: u64) {
        self.0[transition_index(old, new) as usize] += count;
    }

    /// Adds another's counts.
    pub(crate) fn with(mut self, other: &Self) -> Self {
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            *mine += theirs;
        }
        self
    }

    /// Those that happened, by the states' numbers.
    pub(crate) fn into_rows(self) -> Vec<Transition> {
        let pairs = (0..STATES).flat_map(|old| (0..STATES).map(move |new| (old, new)));
        let rows = pairs.zip(self.0).filter(|&(_, count)| count > 0);
        rows.map(|((old, new), count)| Transition { from: state_name(old), to: state_name(new), count }).collect()
    }
}
