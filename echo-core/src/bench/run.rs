//! A whole run: threads, and their counts put together with the kernel's. Does not print results.

use std::{
    sync::atomic::{AtomicU32, Ordering},
    thread,
};

use reports::bench::{BenchResult, SCHEMA};

use super::{
    findings, job::Job, monitor::Monitor, plan::Plan, progress::Progress, readings::Readings, tally::Tally,
    worker::Worker,
};
use crate::{Error, Stop};

/// Makes the requests of `plan`, or as many as `stop` leaves time for.
///
/// # Errors
/// When the kernel refuses what the threads are built on. Failed requests are part of the result.
pub fn run(plan: &Plan, stop: &Stop, progress: &mut Progress) -> Result<BenchResult, Error> {
    let before = Readings::take();
    let job = Job::begin(plan);
    let (tally, warm) = run_threads(plan, &job, stop, progress)?;
    let after = Readings::take();
    let before = warm.unwrap_or(before);
    let mut result = BenchResult {
        schema: SCHEMA,
        settings: plan.settings.clone(),
        partial: tally.interrupted,
        elapsed_ns: tally.elapsed_ns(),
        client_cpu_ns: after.client_cpu_ns_since(&before),
        ok: tally.ok,
        failed: tally.failed(),
        connected: tally.connected,
        reconnects: tally.reconnects,
        unclosed: tally.unclosed,
        stall_ns: tally.stall.longest_ns,
        client_gap_ns: tally.gap_ns,
        machine: after.machine_since(&before),
        kernel_counters: after.moved_since(&before),
        connect: tally.connect,
        first_byte: tally.first_byte,
        request: tally.request,
        censored: tally.censored,
        findings: Vec::new(),
    };
    result.findings = findings::of(&result, &plan.facts, after.clock_jump_ns_since(&before));
    Ok(result)
}

fn run_threads(
    plan: &Plan,
    job: &Job,
    stop: &Stop,
    progress: &mut Progress,
) -> Result<(Tally, Option<Readings>), Error> {
    let (threads, connections) = (plan.settings.threads, plan.settings.connections);
    let worker = |thread| Worker::new(job, stop, thread, (thread..connections).step_by(threads as usize));
    let workers = (0..threads).map(worker).collect::<Result<Vec<_>, _>>()?;
    let (main, ended) = (thread::current(), AtomicU32::new(0));
    let in_thread = |worker: Worker| {
        let tally = worker.run();
        ended.fetch_add(1, Ordering::Release);
        main.unpark();
        tally
    };
    let mut warm = None;
    let mut tallies = thread::scope(|scope| {
        let spawned = workers.into_iter().map(|worker| {
            let thread = thread::Builder::new().spawn_scoped(scope, || in_thread(worker));
            thread.map_err(|source| Error::System { action: "start a thread", source })
        });
        let running = spawned.collect::<Result<Vec<_>, _>>()?;
        warm = Monitor::new(plan, job, progress).watch(|| ended.load(Ordering::Acquire) == threads);
        let joined = running.into_iter().map(|thread| thread.join().expect("bug: a bench thread panicked"));
        joined.collect::<Result<Vec<Tally>, Error>>()
    })?
    .into_iter();
    let mut total = tallies.next().expect("bug: a run has at least one thread");
    tallies.for_each(|tally| total.merge(&tally));
    Ok((total, warm))
}
