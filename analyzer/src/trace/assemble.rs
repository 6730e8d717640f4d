//! The recording, put together from what each part of a run has.

use jiff::Timestamp;
use probes::syscalls::{CLIENT, SERVER};
use reports::{
    bench::BenchResult,
    recording::{Group, InFlight, Recording, SCHEMA, Tcp},
};

use super::{
    outcome::{End, describe},
    session::{Finish, Start},
    spec::{TraceSpec, label_of},
    target::Target,
    workload::Workload,
};
use crate::{
    bpf::syscalls::{GroupCounts, by_process},
    cli::By,
    kernel::{calls::name_of, host},
};

/// What a run has when it is over.
pub(crate) struct Parts<'a> {
    pub(crate) spec: &'a TraceSpec,
    pub(crate) started: Timestamp,
    pub(crate) start: Start,
    pub(crate) finish: Finish,
    pub(crate) server: Option<(&'a Target, GroupCounts)>,
    pub(crate) client: Option<(&'a Workload, GroupCounts)>,
    pub(crate) tcp: Option<Tcp>,
    pub(crate) bench: Vec<BenchResult>,
}

impl Parts<'_> {
    /// The recording.
    pub(crate) fn into_recording(mut self) -> Recording {
        let shortfall = self.shortfall();
        let mut groups = Vec::new();
        if let Some((target, counts)) = self.server {
            let group = Group {
                name: "server".to_owned(),
                label: target.label.clone(),
                argv: target.argv.clone(),
                pids: target.pids.clone(),
                inner_pids: target.inner_pids.clone(),
                ended: self.finish.target_ended.clone(),
                listeners: target.listeners.iter().map(ToString::to_string).collect(),
                output: target.output(),
                perf: std::mem::take(&mut self.finish.perf[SERVER as usize]),
                ..group(counts, self.spec.by, in_flight(&self.finish, SERVER))
            };
            groups.push(group);
        }
        if let Some((workload, counts)) = self.client {
            let group = Group {
                name: "client".to_owned(),
                label: label_of(&workload.argv),
                argv: workload.argv.clone(),
                pids: vec![workload.process.pid],
                ended: workload_end(&self.finish.end),
                perf: std::mem::take(&mut self.finish.perf[CLIENT as usize]),
                ..group(counts, self.spec.by, in_flight(&self.finish, CLIENT))
            };
            groups.push(group);
        }
        let (series, resources) = self.finish.sampled.unzip();
        Recording {
            schema: SCHEMA,
            tool: format!("analyzer {}", env!("CARGO_PKG_VERSION")),
            complete: shortfall.is_none(),
            incomplete_because: shortfall,
            argv: std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect(),
            started: self.started.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
            duration_ns: u64::try_from(self.finish.duration.as_nanos()).unwrap_or(u64::MAX),
            host: host::host(),
            sysctls: host::sysctls(),
            probes: self.start.probes,
            groups,
            tcp: self.tcp,
            bench: self.bench,
            count_only: self.spec.count_only,
            series,
            resources,
            own_cost: Some(self.finish.own_cost),
            selection: self.spec.selection.words().to_vec(),
            ..Recording::default()
        }
    }

    fn shortfall(&self) -> Option<String> {
        let has_workload = self.client.is_some();
        let target_died = self.finish.target_ended.as_ref().filter(|_| has_workload);
        let target_died = target_died.map(|how| format!("the target ended during the run ({how})"));
        let partial =
            self.bench.iter().any(|result| result.partial).then(|| "the load generator was stopped".to_owned());
        self.finish.end.shortfall(has_workload).or(target_died).or(partial.filter(|_| self.spec.duration.is_none()))
    }
}

fn group(counts: GroupCounts, by: Option<By>, in_flight: Vec<InFlight>) -> Group {
    Group {
        processes: counts.processes,
        threads: counts.threads,
        syscalls: counts.syscalls,
        begun_before: counts.begun_before,
        in_flight,
        loss: counts.loss,
        split: counts.split.map(|split| if by == Some(By::Process) { by_process(split) } else { split }),
        io_uring: counts.io_uring,
        ..Group::default()
    }
}

fn in_flight(finish: &Finish, group: u32) -> Vec<InFlight> {
    let of_group = finish.in_flight.iter().filter(|call| call.group == group);
    let mut calls: Vec<InFlight> = of_group
        .map(|call| InFlight {
            name: finish.row_keys.get(call.row as usize).map_or_else(String::new, |key| name_of(key.abi, key.nr)),
            tid: call.tid,
            pid: call.tgid,
            age_ns: finish.stopped_ns.saturating_sub(if call.entered_ns == 0 {
                finish.started_ns
            } else {
                call.entered_ns
            }),
            begun_before: call.entered_ns == 0,
        })
        .collect();
    calls.sort_by_key(|call| std::cmp::Reverse(call.age_ns));
    calls
}

fn workload_end(end: &End) -> Option<String> {
    match end {
        End::Workload(status) => Some(describe(*status)),
        End::NotExecuted(error) => Some(error.to_string()),
        End::Time => Some("stopped when its time was over".to_owned()),
        End::Signal(signal) => Some(format!("stopped after signal {signal}")),
        End::NothingLeft => None,
    }
}
