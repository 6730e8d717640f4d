//! What the programs cost: run counts and times that the kernel keeps while it is asked to, and the memory of their maps.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    os::fd::{AsFd as _, AsRawFd as _, OwnedFd},
    time::{Duration, Instant},
};

use aya::{Ebpf, maps::MapInfo, programs::ProgramInfo, sys::Stats};
use reports::recording::ProgramCost;

/// Share of the run in which the kernel times the programs: it costs two more clock reads per run of one.
const SHARE: u32 = 50;
/// Shortest time to time them at once.
const SHORTEST: Duration = Duration::from_millis(1);

/// Runs and their time so far, by program id.
type Totals = BTreeMap<u32, (u64, Duration)>;

/// Times the programs now and then.
#[derive(Default)]
pub(crate) struct ProgramClock {
    /// The kernel counts as long as this is open.
    open: Option<(OwnedFd, Instant, Totals)>,
    timed: Duration,
    sums: Totals,
}

impl ProgramClock {
    /// Begins to time the programs; returns when to end that. A kernel that cannot (before 5.8) times nothing.
    pub(crate) fn begin(&mut self, objects: &[&Ebpf], interval: Duration) -> Option<Instant> {
        if self.open.is_none() {
            let before = totals(objects);
            self.open = aya::sys::enable_stats(Stats::RunTime).ok().map(|stats| (stats, Instant::now(), before));
        }
        self.open.as_ref().map(|(_, since, _)| *since + (interval / SHARE).max(SHORTEST))
    }

    /// Ends it.
    pub(crate) fn end(&mut self, objects: &[&Ebpf]) {
        let Some((stats, since, before)) = self.open.take() else { return };
        drop(stats);
        self.timed += since.elapsed();
        for (id, (runs, time)) in totals(objects) {
            let (runs_before, time_before) = before.get(&id).copied().unwrap_or_default();
            let sum = self.sums.entry(id).or_default();
            sum.0 += runs.saturating_sub(runs_before);
            sum.1 += time.saturating_sub(time_before);
        }
    }

    /// Each loaded program with what was timed of it.
    pub(crate) fn programs(&self, objects: &[&Ebpf]) -> Vec<ProgramCost> {
        let cost = |(name, info): (String, ProgramInfo)| {
            let (runs, time) = self.sums.get(&info.id()).copied().unwrap_or_default();
            ProgramCost {
                name,
                runs,
                run_time_ns: u64::try_from(time.as_nanos()).unwrap_or(u64::MAX),
                verified_instructions: info.verified_instruction_count().unwrap_or(0),
                jited_bytes: info.size_jitted(),
            }
        };
        infos(objects).map(cost).collect()
    }

    /// Share of a run of this length in which the programs were timed.
    pub(crate) fn share(&self, run: Duration) -> f64 {
        (self.timed.as_secs_f64() / run.as_secs_f64().max(1e-9)).min(1.0)
    }
}

fn infos<'a>(objects: &'a [&Ebpf]) -> impl Iterator<Item = (String, ProgramInfo)> + 'a {
    let programs = objects.iter().flat_map(|object| object.programs());
    programs.filter_map(|(name, program)| Some((name.to_owned(), program.info().ok()?)))
}

fn totals(objects: &[&Ebpf]) -> Totals {
    infos(objects).map(|(_, info)| (info.id(), (info.run_count(), info.run_time()))).collect()
}

/// Memory of all maps that the programs use, in bytes, as the kernel accounts it.
pub(crate) fn map_bytes(objects: &[&Ebpf]) -> u64 {
    let ids: BTreeSet<u32> = infos(objects).filter_map(|(_, info)| info.map_ids().ok()?).flatten().collect();
    ids.into_iter().filter_map(memory_of).sum()
}

fn memory_of(map: u32) -> Option<u64> {
    let fd = MapInfo::from_id(map).ok()?.fd().ok()?;
    let text = fs::read_to_string(format!("/proc/self/fdinfo/{}", fd.as_fd().as_raw_fd())).ok()?;
    text.lines().find_map(|line| line.strip_prefix("memlock:"))?.trim().parse().ok()
}
