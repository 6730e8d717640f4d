//! A run's checks of its own figures: facts with a number and what follows from it. Pure functions of the result.

mod distribution;
mod kernel;

use reports::{
    bench::{BenchResult, Finding, Mode, Unit},
    units,
};

use super::facts::Facts;

/// How far Little's law may be off before it is a warning.
const LITTLE_TOLERANCE: f64 = 0.02;
/// From this share of all client threads' time on, the client is likely what limits the rate.
const CLIENT_BUSY: f64 = 0.9;
/// An open loop that answers less than this share of what was due did not hold its rate.
const RATE_HELD: f64 = 0.98;
const LATE_NS: f64 = 1e8;
/// Pauses longer than this are not the ordinary doing of a scheduler.
const LONG_GAP_NS: u64 = 100_000_000;
const LONG_STALL_NS: u64 = 500_000_000;
/// NTP slews by 500 us a second at most; what is more was a step.
const CLOCK_STEP_NS: u64 = 100_000_000;
/// Time given to other guests that distorts a run.
const STOLEN: f64 = 0.05;
/// Runs shorter than this are mostly beginning and end.
const SHORT_RUN_NS: u64 = 1_000_000_000;

/// All checks that have something to say.
pub(super) fn of(result: &BenchResult, facts: &Facts, clock_jump_ns: u64) -> Vec<Finding> {
    let single = [
        little(result),
        client_cpu(result),
        rate(result),
        stall(result),
        client_gap(result),
        clock_jump(clock_jump_ns),
        steal(result),
        load(result),
        reconnects(result),
        unclosed(result),
        kernel::port_bound(result, facts),
    ];
    let mut findings: Vec<_> = single.into_iter().flatten().collect();
    findings.extend(kernel::counters(result));
    findings.extend(distribution::clusters(result));
    findings
}

fn finding(name: &str, warns: bool, (value, unit): (f64, Unit), text: String) -> Finding {
    Finding { name: name.to_owned(), warns, value, unit, text }
}

/// Connections = rate x mean time of a request: in a closed loop without pacing every connection is always busy. (Not in
/// mode `connect`, where one connect is over before the next begins, however many connections may be open.)
fn little(result: &BenchResult) -> Option<Finding> {
    let settings = &result.settings;
    let is_always_busy = !settings.is_open_loop() && settings.pace.is_none() && settings.mode != Mode::Connect;
    if !is_always_busy || result.elapsed_ns == 0 {
        return None;
    }
    let requests = result.ok + result.censored.count();
    let thinking_ns = settings.think_ns as f64 * requests as f64;
    let busy_ns = [&result.connect, &result.request, &result.censored].map(|times| times.sum() as f64);
    let busy_ns = busy_ns.iter().sum::<f64>() + thinking_ns;
    let value = busy_ns / (result.elapsed_ns as f64 * f64::from(settings.connections));
    let is_off = (value - 1.0).abs() > LITTLE_TOLERANCE;
    let follows = if !is_off {
        ""
    } else if value > 1.0 {
        ": more than there is, so some latencies began before the run was counted"
    } else if result.elapsed_ns < SHORT_RUN_NS {
        ": the run was short, and begins and ends with idle connections"
    } else {
        ": the rest went into opening and closing them, and into connections that had nothing more to do"
    };
    let text =
        format!("Little's law: requests account for {} of the connections' time{follows}", units::percent(value));
    // Opening and closing is work of a short run, not a flaw of it.
    let warns = is_off && (value > 1.0 || settings.mode == Mode::Long) && result.elapsed_ns >= SHORT_RUN_NS;
    Some(finding("little", warns, (value, Unit::Ratio), text))
}

fn client_cpu(result: &BenchResult) -> Option<Finding> {
    let share = result.client_cpu_share();
    let limit = share >= CLIENT_BUSY;
    let follows = if limit { ": the client was the limit, not the server; try more --threads" } else { "" };
    let threads = units::counted(u64::from(result.settings.threads), "thread");
    let text = format!("the client used {} of its {threads}{follows}", units::percent(share));
    (result.elapsed_ns > 0).then(|| finding("client-cpu", limit, (share, Unit::Ratio), text))
}

fn rate(result: &BenchResult) -> Option<Finding> {
    let settings = &result.settings;
    let requested = settings.rate_per_s?;
    let achieved = result.requests_per_s()?;
    let due = result.ok + result.failures();
    // What was in flight at the end is waited for, which takes any run a little longer.
    let planned_ns = settings.duration_ns.unwrap_or(due.saturating_mul(1_000_000_000) / requested.max(1));
    let is_late = !result.partial && result.elapsed_ns as f64 > planned_ns as f64 / RATE_HELD + LATE_NS;
    let missed = is_late || (result.ok as f64) < RATE_HELD * due as f64;
    let follows = if missed { ": the rate was not held, and latencies grow with the length of the run" } else { "" };
    let value = achieved / requested as f64;
    let (requested, answered) = (units::count(requested), units::rate(achieved));
    let text = format!("{requested} requests were due each second, {answered} were answered{follows}");
    Some(finding("rate", missed, (value, Unit::Ratio), text))
}

fn stall(result: &BenchResult) -> Option<Finding> {
    if result.stall_ns < LONG_STALL_NS {
        return None;
    }
    let hidden = if result.settings.is_open_loop() {
        ""
    } else {
        ", and a closed loop asked nothing meanwhile, so that its percentiles hide it: --rate shows it"
    };
    let text = format!("no request was answered for {}{hidden}", units::duration(result.stall_ns));
    Some(finding("stall", true, (result.stall_ns as f64, Unit::Ns), text))
}

fn client_gap(result: &BenchResult) -> Option<Finding> {
    let gap_ns = result.client_gap_ns;
    let text = format!(
        "the client's own loop did not run for {}: latencies contain that, whatever the server did",
        units::duration(gap_ns)
    );
    (gap_ns >= LONG_GAP_NS).then(|| finding("client-gap", true, (gap_ns as f64, Unit::Ns), text))
}

fn clock_jump(jump_ns: u64) -> Option<Finding> {
    let text = format!(
        "the wall clock was set by {} during the run: latencies are by another clock, but the machine may have stood still",
        units::duration(jump_ns)
    );
    (jump_ns >= CLOCK_STEP_NS).then(|| finding("clock-jump", true, (jump_ns as f64, Unit::Ns), text))
}

fn steal(result: &BenchResult) -> Option<Finding> {
    let machine = result.machine.as_ref()?;
    let whole_ns = result.elapsed_ns as f64 * f64::from(machine.cpus);
    let share = machine.steal_ns as f64 / whole_ns.max(1.0);
    let text = format!("the hypervisor gave {} of the machine's time to others", units::percent(share));
    (share >= STOLEN).then(|| finding("steal", true, (share, Unit::Ratio), text))
}

/// More that wants to run than client, server and CPUs account for.
fn load(result: &BenchResult) -> Option<Finding> {
    let machine = result.machine.as_ref()?;
    let ordinary = f64::from(machine.cpus) + f64::from(result.settings.threads) + 2.0;
    let text = format!(
        "the load average is {} on {}: others compete with client and server",
        units::ratio(machine.load_1m),
        units::counted(u64::from(machine.cpus), "CPU")
    );
    (machine.load_1m > ordinary).then(|| finding("load", true, (machine.load_1m, Unit::Count), text))
}

fn reconnects(result: &BenchResult) -> Option<Finding> {
    let count = result.reconnects;
    let text = format!("{} replaced one that had failed", units::counted(count, "connection"));
    (count > 0).then(|| finding("reconnects", true, (count as f64, Unit::Count), text))
}

fn unclosed(result: &BenchResult) -> Option<Finding> {
    let count = result.unclosed;
    let text = format!(
        "{} did not end by the server's FIN within the timeout: the client closed them, and has their TIME_WAIT",
        units::counted(count, "connection")
    );
    (count > 0).then(|| finding("unclosed", true, (count as f64, Unit::Count), text))
}
