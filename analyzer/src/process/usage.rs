//! CPU time and memory of a group of processes.

use std::collections::BTreeMap;

use procfs::{WithCurrentSystemInfo as _, process::Process};
use reports::recording::GroupSample;

use super::family::family_of;

/// A group whose members come and go.
#[derive(Debug, Default)]
pub(crate) struct GroupUsage {
    roots: Vec<u32>,
    members: Vec<u32>,
    /// User and system time of each member at the last look, in ticks.
    spent: BTreeMap<u32, (u64, u64)>,
}

impl GroupUsage {
    /// The given processes and their descendants; time counts from now.
    pub(crate) fn of(roots: &[u32]) -> Self {
        let mut group = Self { roots: roots.to_vec(), ..Self::default() };
        group.look_for_members();
        group.sample();
        group
    }

    /// Finds the descendants of now.
    pub(crate) fn look_for_members(&mut self) {
        self.members = self.roots.iter().flat_map(|&pid| family_of(pid)).collect();
        self.members.sort_unstable();
        self.members.dedup();
    }

    /// Time since the last look and memory of now. What a process spent between its last look and its end is missing.
    pub(crate) fn sample(&mut self) -> GroupSample {
        let mut sample = GroupSample::default();
        let mut spent = BTreeMap::new();
        let ns_per_tick = 1_000_000_000 / procfs::ticks_per_second();
        for &pid in &self.members {
            let process = i32::try_from(pid).ok().and_then(|pid| Process::new(pid).ok());
            let Some(stat) = process.and_then(|process| process.stat().ok()).filter(|stat| stat.state != 'Z') else {
                continue;
            };
            let now = (stat.utime, stat.stime);
            // A new member's time is all of the group's: its parent is.
            let before = self.spent.get(&pid).copied().unwrap_or_default();
            sample.user_ns += now.0.saturating_sub(before.0) * ns_per_tick;
            sample.system_ns += now.1.saturating_sub(before.1) * ns_per_tick;
            sample.rss_bytes += stat.rss_bytes().get();
            sample.processes += 1;
            sample.threads += u32::try_from(stat.num_threads).unwrap_or(0);
            spent.insert(pid, now);
        }
        self.spent = spent;
        sample
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_has_memory_and_the_time_it_spent_since_the_last_look() {
        let mut group = GroupUsage::of(&[std::process::id()]);
        let start = std::time::Instant::now();
        while start.elapsed() < std::time::Duration::from_millis(60) {
            std::hint::spin_loop();
        }
        let sample = group.sample();
        assert!(sample.rss_bytes > 100_000 && sample.processes >= 1 && sample.threads >= 1);
        assert!(sample.user_ns + sample.system_ns >= 10_000_000, "{sample:?}");
    }
}
