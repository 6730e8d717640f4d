//! A whole run: room for descriptors, threads, and their counts put together with the kernel's. Does not print.

use std::{collections::BTreeMap, io, path::Path, thread};

use reports::{
    bench::{BenchResult, SCHEMA},
    counters::KernelCounters,
};

use super::{
    clock::process_cpu_ns,
    plan::Plan,
    tally::Tally,
    worker::{Job, Worker},
};
use crate::{Error, Stop, descriptors, warn};

/// Counters that explain slow or failed connects.
const COUNTERS: [&str; 7] = [
    "Tcp.RetransSegs",
    "TcpExt.ListenDrops",
    "TcpExt.ListenOverflows",
    "TcpExt.TCPReqQFullDoCookies",
    "TcpExt.TCPReqQFullDrop",
    "TcpExt.TCPSynRetrans",
    "TcpExt.TCPTimeouts",
];

/// Makes the requests of `plan`, or as many as `stop` leaves time for.
///
/// # Errors
/// When there is no room for the descriptors, or the kernel refuses what the threads are built on. Failed requests are
/// part of the result.
pub fn run(plan: &Plan, stop: &Stop) -> Result<BenchResult, Error> {
    let settings = &plan.settings;
    descriptors::make_room(settings.connections, settings.threads)?;
    let counters_before = read_counters();
    let cpu_before_ns = process_cpu_ns();
    let job = Job::new(plan);
    let tally = run_threads(&job, settings.threads, settings.connections, stop)?;
    Ok(BenchResult {
        schema: SCHEMA,
        settings: settings.clone(),
        partial: tally.interrupted,
        elapsed_ns: tally.elapsed_ns(),
        client_cpu_ns: process_cpu_ns() - cpu_before_ns,
        ok: tally.ok,
        failed: tally.failed(),
        connected: tally.connected,
        kernel_counters: moved(counters_before.as_ref(), read_counters().as_ref()),
        connect: tally.connect,
        request: tally.request,
    })
}

fn run_threads(job: &Job, threads: u32, connections: u32, stop: &Stop) -> Result<Tally, Error> {
    let workers: Result<Vec<Worker>, Error> =
        (0..threads).map(|first| Worker::new(job, stop, (first..connections).step_by(threads as usize))).collect();
    let workers = workers?;
    let mut tallies = thread::scope(|scope| {
        let workers = workers.into_iter();
        let running: io::Result<Vec<_>> =
            workers.map(|worker| thread::Builder::new().spawn_scoped(scope, move || worker.run())).collect();
        let running = running.map_err(|source| Error::System { action: "start a thread", source })?;
        let joined = running.into_iter().map(|thread| thread.join().expect("bug: a bench thread panicked"));
        joined.collect::<Result<Vec<Tally>, Error>>()
    })?
    .into_iter();
    let mut total = tallies.next().expect("bug: a run has at least one thread");
    tallies.for_each(|tally| total.merge(&tally));
    Ok(total)
}

fn read_counters() -> Option<KernelCounters> {
    KernelCounters::read(Path::new("/proc/self/net"))
        .inspect_err(|error| warn(&format!("failed to read the kernel's TCP counters: {error}")))
        .ok()
}

fn moved(before: Option<&KernelCounters>, after: Option<&KernelCounters>) -> BTreeMap<String, i64> {
    let (Some(before), Some(after)) = (before, after) else { return BTreeMap::new() };
    let mut moved = after.moved_since(before);
    moved.retain(|name, _| COUNTERS.contains(&name.as_str()));
    moved
}
