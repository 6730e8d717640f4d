//! The kernel's perf counters over a group of processes: context switches, page faults, and the CPU's own where there are.

use perf_event::{
    Builder, Counter,
    events::{Event, Hardware, Software},
};
use procfs::process::Process;
use reports::recording::PerfCount;

/// Threads that are followed one by one; those they make are counted with them. Each takes a descriptor per event.
const MOST_THREADS: usize = 64;

/// One event over all threads of a group; nothing where the machine cannot count it, or there are too many threads.
struct Counted {
    name: &'static str,
    counters: Option<Vec<Counter>>,
}

/// Counters that run.
pub(crate) struct PerfCounters(Vec<Counted>);

impl PerfCounters {
    /// Counts from now on: the threads of these processes, and what they will make.
    pub(crate) fn of(pids: &[u32]) -> Self {
        let threads: Vec<i32> = pids.iter().flat_map(|&pid| threads_of(pid)).collect();
        let software = |event: Software| over(&threads, &event);
        let hardware = |event: Hardware| over(&threads, &event);
        let all = [
            ("context-switches", software(Software::CONTEXT_SWITCHES)),
            ("cpu-migrations", software(Software::CPU_MIGRATIONS)),
            ("minor-faults", software(Software::PAGE_FAULTS_MIN)),
            ("major-faults", software(Software::PAGE_FAULTS_MAJ)),
            ("cycles", hardware(Hardware::CPU_CYCLES)),
            ("instructions", hardware(Hardware::INSTRUCTIONS)),
        ];
        Self(all.into_iter().map(|(name, counters)| Counted { name, counters }).collect())
    }

    /// What they counted so far.
    pub(crate) fn read(&mut self) -> Vec<PerfCount> {
        let sum = |counters: &mut Vec<Counter>| counters.iter_mut().map(|counter| counter.read().ok()).sum();
        let count = |counted: &mut Counted| PerfCount {
            name: counted.name.to_owned(),
            count: counted.counters.as_mut().and_then(sum),
        };
        self.0.iter_mut().map(count).collect()
    }
}

fn threads_of(pid: u32) -> Vec<i32> {
    let process = i32::try_from(pid).ok().and_then(|pid| Process::new(pid).ok());
    let tasks = process.and_then(|process| process.tasks().ok());
    tasks.into_iter().flatten().flatten().map(|task| task.tid).collect()
}

fn over<E: Event + Clone>(threads: &[i32], event: &E) -> Option<Vec<Counter>> {
    if threads.is_empty() || threads.len() > MOST_THREADS {
        return None;
    }
    let counter = |&thread: &i32| {
        let mut builder = Builder::new(event.clone());
        builder.observe_pid(thread).any_cpu().inherit(true).include_kernel().enabled(true);
        builder.build().ok()
    };
    threads.iter().map(counter).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sleeping_thread_switches_and_a_machine_without_counters_says_nothing() {
        let mut counters = PerfCounters::of(&[std::process::id()]);
        for _ in 0..5 {
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
        let counts = counters.read();
        if let Some(switches) = counts[0].count {
            assert!(switches >= 5, "{counts:?}");
        }
        assert!(PerfCounters::of(&[]).read().iter().all(|counted| counted.count.is_none()));
    }
}
