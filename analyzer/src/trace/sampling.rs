//! Looks at a run while it goes on: the series of system calls, and what machine and processes use.

use std::{
    net::SocketAddr,
    time::{Duration, Instant},
};

use anyhow::Result;
use reports::recording::{GroupSample, HostCpu, ListenerSample, Resources, Sample, Series};

use super::series::Growing;
use crate::{
    bpf::syscalls::RowSum,
    kernel::{
        netns::Netns,
        usage::{HostUsage, tcp_sockets},
    },
    process::usage::GroupUsage,
    sockets::listeners::{Listener, ListenerQuery},
};

/// First length of an interval, where none was asked for: it doubles with the run.
const FIRST_INTERVAL: Duration = Duration::from_millis(100);
/// When there would be more intervals than this, two become one.
const MOST_INTERVALS: usize = 120;
/// How often the descendants of the traced processes are looked for.
const LOOK_FOR_MEMBERS: Duration = Duration::from_millis(500);

/// A group to look at.
pub(crate) struct SampledGroup {
    pub(crate) name: &'static str,
    pub(crate) pids: Vec<u32>,
}

/// What is looked at beside the system calls.
pub(crate) struct Subjects<'a> {
    pub(crate) groups: &'a [SampledGroup],
    /// Addresses of the target's listeners, in `netns`.
    pub(crate) listeners: &'a [SocketAddr],
    pub(crate) netns: &'a Netns,
}

/// The target's listening sockets, one after the other, with the drops each had at the last look.
struct Queues {
    query: ListenerQuery,
    known: Vec<Listener>,
}

/// Takes samples at equal intervals.
pub(crate) struct Sampler {
    began: Instant,
    interval: Duration,
    next: Instant,
    calls: Growing,
    resources: Resources,
    groups: Vec<GroupUsage>,
    looked_for_members: Instant,
    host: HostUsage,
    queues: Queues,
}

impl Sampler {
    /// Begins now.
    ///
    /// # Errors
    /// When the host's counters cannot be read.
    pub(crate) fn begin(interval: Option<Duration>, subjects: &Subjects<'_>) -> Result<Self> {
        let began = Instant::now();
        let interval = interval.unwrap_or(FIRST_INTERVAL);
        let groups = subjects.groups;
        let queues = subjects.netns.within(|| Queues::begin(subjects.listeners))?;
        Ok(Self {
            began,
            interval,
            next: began + interval,
            calls: Growing::default(),
            resources: Resources {
                groups: groups.iter().map(|group| group.name.to_owned()).collect(),
                listeners: queues.known.iter().map(|listener| listener.address.to_string()).collect(),
                samples: Vec::new(),
            },
            groups: groups.iter().map(|group| GroupUsage::of(&group.pids)).collect(),
            looked_for_members: began,
            host: HostUsage::now()?,
            queues,
        })
    }

    /// When the next sample is due.
    pub(crate) fn due(&self) -> Instant {
        self.next
    }

    /// Ends an interval.
    ///
    /// # Errors
    /// When the host's counters cannot be read.
    pub(crate) fn sample(&mut self, rows: &[RowSum], netns: &Netns) -> Result<()> {
        self.calls.end_interval(rows);
        let now = Instant::now();
        if now.duration_since(self.looked_for_members) >= LOOK_FOR_MEMBERS {
            self.groups.iter_mut().for_each(GroupUsage::look_for_members);
            self.looked_for_members = now;
        }
        let host = HostUsage::now()?;
        self.resources.samples.push(Sample {
            at_ns: u64::try_from(now.duration_since(self.began).as_nanos()).unwrap_or(u64::MAX),
            cpu: host.cpu_since(&self.host),
            context_switches: host.context_switches.saturating_sub(self.host.context_switches),
            load: host.load,
            sockets: netns.within(tcp_sockets)?,
            groups: self.groups.iter_mut().map(GroupUsage::sample).collect(),
            listeners: self.queues.look()?,
        });
        self.host = host;
        if self.calls.len() > MOST_INTERVALS {
            self.calls.halve();
            halve(&mut self.resources.samples);
            self.interval *= 2;
        }
        // From now on, where a look came late: intervals are about equal, never made up for.
        let ended = u32::try_from(self.calls.len()).unwrap_or(u32::MAX);
        self.next = (self.began + self.interval * (ended + 1)).max(now + self.interval / 2);
        Ok(())
    }

    /// What was collected.
    pub(crate) fn finish(self) -> (Series, Resources) {
        (self.calls.into_series(self.interval), self.resources)
    }
}

impl Queues {
    fn begin(addresses: &[SocketAddr]) -> Result<Self> {
        let query = ListenerQuery::open()?;
        let mut known = if addresses.is_empty() { Vec::new() } else { query.listeners()? };
        known.retain(|listener| addresses.contains(&listener.address));
        Ok(Self { query, known })
    }

    fn look(&mut self) -> Result<Vec<ListenerSample>> {
        if self.known.is_empty() {
            return Ok(Vec::new());
        }
        let now = self.query.listeners()?;
        let sample = |known: &mut Listener| {
            let Some(now) = now.iter().find(|now| now.cookie == known.cookie) else { return ListenerSample::default() };
            let drops = now.drops.wrapping_sub(known.drops);
            known.drops = now.drops;
            ListenerSample { queue: now.queue, drops }
        };
        Ok(self.known.iter_mut().map(sample).collect())
    }
}

/// Makes one sample of every two: times add up, gauges are those of the later one.
fn halve(samples: &mut Vec<Sample>) {
    let mut halved: Vec<Sample> = Vec::new();
    for (number, sample) in std::mem::take(samples).into_iter().enumerate() {
        match halved.last_mut().filter(|_| number % 2 == 1) {
            Some(first) => *first = joined(first, sample),
            None => halved.push(sample),
        }
    }
    *samples = halved;
}

fn joined(first: &Sample, second: Sample) -> Sample {
    let (a, b) = (&first.cpu, &second.cpu);
    let group = |(earlier, later): (&GroupSample, &GroupSample)| GroupSample {
        user_ns: earlier.user_ns + later.user_ns,
        system_ns: earlier.system_ns + later.system_ns,
        ..*later
    };
    let listener = |(earlier, later): (&ListenerSample, &ListenerSample)| ListenerSample {
        queue: earlier.queue.max(later.queue),
        drops: earlier.drops + later.drops,
    };
    Sample {
        cpu: HostCpu {
            user_ns: a.user_ns + b.user_ns,
            system_ns: a.system_ns + b.system_ns,
            softirq_ns: a.softirq_ns + b.softirq_ns,
            irq_ns: a.irq_ns + b.irq_ns,
            steal_ns: a.steal_ns + b.steal_ns,
            idle_ns: a.idle_ns + b.idle_ns,
        },
        context_switches: first.context_switches + second.context_switches,
        groups: first.groups.iter().zip(&second.groups).map(group).collect(),
        listeners: first.listeners.iter().zip(&second.listeners).map(listener).collect(),
        ..second
    }
}
