//! A whole run: parts are started, told to open, kept, and ended; their counts put together. Does not print.

use std::time::{Duration, Instant};

use reports::{
    histogram::{FINE, Histogram},
    hold::{HoldMemory, HoldResult, HoldSettings, SCHEMA},
};

use super::{
    crew::Crew,
    memory::{MachineMemory, own_bytes},
    message::{Command, ConnectSpec, Message, Opened},
    part::Role,
    plan::{HoldPlan, Room},
};
use crate::{
    Error, Stop,
    bench::{facts::Facts, progress::Progress, readings::Readings},
    descriptors,
};

/// Between two looks at memory and signals.
const INTERVAL: Duration = Duration::from_millis(100);
/// The kernel's figures of slabs lag behind a little.
const SETTLING: Duration = Duration::from_millis(300);
/// Of all memory, left to others unless something else is said.
const LEFT_SHARE: u64 = 10;

/// Connections that are open, and what opening them has shown.
#[derive(Debug)]
pub struct Held {
    crew: Crew,
    /// Without what happens from now on.
    pub result: HoldResult,
    opened_at: Instant,
}

/// Opens what `plan` says, or as much as `stop` and the machine's memory allow.
///
/// # Errors
/// When the parts cannot be started or one ends by itself. Connections that failed are part of the result.
pub fn open(plan: &HoldPlan, stop: &Stop, progress: &mut Progress) -> Result<Held, Error> {
    let room = Room { of_process: descriptors::room_for_connections(1), of_source: Facts::read().step() };
    let specs = plan.split(room)?;
    let mut crew = Crew::new();
    start(plan, &specs, &mut crew)?;
    let (before, before_own) = (MachineMemory::read(), Own::of(&crew));
    let readings = Readings::take();
    crew.tell(Role::Connect, Command::Go);
    let course = Course::follow(plan, before, &mut crew, stop, progress)?;
    std::thread::sleep(SETTLING);
    let (after, after_own) = (MachineMemory::read(), Own::of(&crew));
    let parts = course.parts;
    let first_ns = parts.iter().map(|part| part.first_ns).min().unwrap_or(0);
    let last_ns = parts.iter().map(|part| part.last_ns).max().unwrap_or(0);
    let mut result = HoldResult {
        schema: SCHEMA,
        settings: settings(plan, &specs),
        partial: course.stopped_because.is_some(),
        stopped_because: course.stopped_because,
        opened: parts.iter().map(|part| u64::from(part.count)).sum(),
        failed: [].into(),
        first_failure: None,
        elapsed_ns: last_ns - first_ns,
        connect: Histogram::new(FINE),
        kernel_counters: Readings::take().moved_since(&readings),
        memory: HoldMemory {
            slab_bytes: signed(after.slab) - signed(before.slab),
            tcp_bytes: signed(after.tcp) - signed(before.tcp),
            client_bytes: signed(after_own.client) - signed(before_own.client),
            sink_bytes: plan.server.is_none().then(|| signed(after_own.sink) - signed(before_own.sink)),
            used_bytes: signed(before.available) - signed(after.available),
        },
        held_ns: 0,
        lost: 0,
    };
    for part in &parts {
        add(part, &mut result);
    }
    Ok(Held { crew, result, opened_at: Instant::now() })
}

fn start(plan: &HoldPlan, specs: &[ConnectSpec], crew: &mut Crew) -> Result<(), Error> {
    let mut specs = specs.to_vec();
    if plan.server.is_none() {
        specs.iter().try_for_each(|spec| crew.add(Role::Sink, &spec.sink()))?;
        let mut listening = 0;
        while listening < specs.len() {
            if let Some((place, Message::Ready(Some(address)))) = crew.hear(INTERVAL)? {
                specs[place].server = address;
                listening += 1;
            }
        }
    }
    specs.iter().try_for_each(|spec| crew.add(Role::Connect, spec))?;
    let mut ready = 0;
    while ready < specs.len() {
        ready += usize::from(matches!(crew.hear(INTERVAL)?, Some((_, Message::Ready(_)))));
    }
    Ok(())
}

fn settings(plan: &HoldPlan, specs: &[ConnectSpec]) -> HoldSettings {
    HoldSettings {
        address: plan.server.map(|server| server.to_string()),
        connections: plan.connections,
        processes: u32::try_from(specs.len()).unwrap_or(u32::MAX),
        sources: u32::try_from(specs.iter().map(|spec| spec.sources.len()).sum::<usize>()).unwrap_or(u32::MAX),
        timeout_ns: plan.timeout_ns,
    }
}

fn add(part: &Opened, result: &mut HoldResult) {
    for (kind, count) in &part.failed {
        *result.failed.entry(kind.clone()).or_default() += count;
    }
    result.connect.merge(&part.connect);
    let is_first = |failure: &&reports::hold::FirstFailure| {
        result.first_failure.as_ref().is_none_or(|first| failure.at_ns < first.at_ns)
    };
    if let Some(failure) = part.first_failure.as_ref().filter(is_first) {
        result.first_failure = Some(failure.clone());
    }
}

fn signed(bytes: u64) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}

/// Memory of the parts themselves.
struct Own {
    client: u64,
    sink: u64,
}

impl Own {
    fn of(crew: &Crew) -> Self {
        let sum = |role| crew.pids(role).map(own_bytes).sum();
        Self { client: sum(Role::Connect), sink: sum(Role::Sink) }
    }
}

/// The time in which connections are opened.
struct Course {
    parts: Vec<Opened>,
    stopped_because: Option<String>,
}

impl Course {
    fn follow(
        plan: &HoldPlan,
        before: MachineMemory,
        crew: &mut Crew,
        stop: &Stop,
        progress: &mut Progress,
    ) -> Result<Self, Error> {
        let mut course = Self { parts: Vec::new(), stopped_because: None };
        let left = plan.leave_mib.map_or(before.total / LEFT_SHARE, |mib| mib << 20);
        let mut has = std::collections::BTreeMap::new();
        let mut looked_at = Instant::now();
        while course.parts.len() < crew.pids(Role::Connect).count() {
            match crew.hear(INTERVAL)? {
                Some((place, Message::Has(connections))) => drop(has.insert(place, connections)),
                Some((_, Message::Opened(opened))) => course.parts.push(opened),
                _ => {}
            }
            if looked_at.elapsed() < INTERVAL || course.stopped_because.is_some() {
                continue;
            }
            looked_at = Instant::now();
            // Both ends say how many they have, where both are here.
            let ends = if plan.server.is_none() { 2.0 } else { 1.0 };
            progress.set(f64::from(has.values().sum::<u32>()) / f64::from(plan.connections) / ends);
            course.stopped_because = why_to_stop(stop, left);
            if course.stopped_because.is_some() {
                crew.tell(Role::Connect, Command::Stop);
            }
        }
        progress.end();
        Ok(course)
    }
}

fn why_to_stop(stop: &Stop, left: u64) -> Option<String> {
    if let Some(signal) = stop.signal() {
        return Some(format!("signal {signal}"));
    }
    let available = MachineMemory::read().available;
    (available < left).then(|| format!("only {} MiB of memory were left", available >> 20))
}

impl Held {
    /// Keeps them for so long, or until `stop`.
    ///
    /// # Errors
    /// When a part ends by itself.
    pub fn keep(&mut self, duration: Option<Duration>, stop: &Stop) -> Result<(), Error> {
        while stop.signal().is_none() && duration.is_none_or(|duration| self.opened_at.elapsed() < duration) {
            let left = duration.map_or(INTERVAL, |duration| duration.saturating_sub(self.opened_at.elapsed()));
            self.crew.hear(left.min(INTERVAL))?;
        }
        Ok(())
    }

    /// Counts those that ended meanwhile, and closes all.
    ///
    /// # Errors
    /// When a part ended by itself: its connections were not kept.
    pub fn end(mut self) -> Result<HoldResult, Error> {
        self.result.held_ns = u64::try_from(self.opened_at.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let (parts, mut said) = (self.crew.pids(Role::Connect).count(), 0);
        for role in [Role::Connect, Role::Sink] {
            self.crew.tell(role, Command::End);
            while self.crew.running(role) > 0 {
                if let Some((_, Message::Ended { lost })) = self.crew.hear(INTERVAL)? {
                    self.result.lost += u64::from(lost);
                    said += 1;
                }
            }
        }
        if said < parts {
            return Err(Error::PartEnded { role: Role::Connect.name() });
        }
        Ok(self.result)
    }
}
