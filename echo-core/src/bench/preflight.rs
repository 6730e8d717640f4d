//! What can be known before a run to go wrong in it, each with its remedy. Does not change settings, but for the limit of
//! file descriptors, which it raises as far as it may.

use reports::bench::Mode;

use super::{plan::Plan, sources};
use crate::{Error, descriptors};

/// Looks at the file descriptors, the local ports, the `TIME_WAIT` stock and the accept queue's limit. Gives what will
/// distort the run.
///
/// # Errors
/// [`Error::FdLimit`] and [`Error::Ports`] when some connections cannot be had at all. `force` makes warnings of them.
pub fn preflight(plan: &Plan, force: bool) -> Result<Vec<String>, Error> {
    let mut warnings = Vec::new();
    for hopeless in [descriptors(plan), ports(plan)].into_iter().filter_map(Result::err) {
        match hopeless {
            Error::FdLimit { .. } | Error::Ports { .. } if force => warnings.push(hopeless.to_string()),
            _ => return Err(hopeless),
        }
    }
    if !warnings.is_empty() {
        descriptors::raise_limit()?;
    }
    warnings.extend(time_wait(plan));
    warnings.extend(accept_queue(plan));
    Ok(warnings)
}

fn descriptors(plan: &Plan) -> Result<(), Error> {
    let settings = &plan.settings;
    // Each thread has an epoll, and a timer where requests have moments.
    let timed = settings.is_open_loop() || settings.pace.is_some() || settings.think_ns > 0;
    descriptors::make_room(settings.connections, settings.threads * if timed { 2 } else { 1 })
}

fn ports(plan: &Plan) -> Result<(), Error> {
    let settings = &plan.settings;
    let ports = plan.facts.port_count() * u64::from(settings.sources);
    if u64::from(settings.connections) > ports {
        return Err(Error::Ports { connections: settings.connections, ports });
    }
    Ok(())
}

/// A run by time without a rate is watched instead: how many connections it makes is not known.
fn time_wait(plan: &Plan) -> Option<String> {
    let (settings, facts) = (&plan.settings, &plan.facts);
    let is_known = settings.rounds.is_some() || settings.is_open_loop();
    let taken = if is_known { sources::expected_ports(settings, facts) } else { facts.time_wait };
    let is_bound = taken >= facts.step() * u64::from(settings.sources);
    let connects_often = settings.mode != Mode::Long && sources::leaves_time_wait(settings);
    (is_bound && connects_often)
        .then(|| format!("{}, {} are there now", sources::port_bound(taken, settings, facts), facts.time_wait))
}

fn accept_queue(plan: &Plan) -> Option<String> {
    let (connections, somaxconn) = (plan.settings.connections, plan.facts.somaxconn);
    // Elsewhere the limit is another machine's.
    let is_short = plan.server.ip().is_loopback() && u64::from(connections) > somaxconn;
    is_short.then(|| {
        format!(
            "{connections} connections begin at once, but an accept queue holds at most somaxconn, {somaxconn}: what \
             overflows it waits a second or more; `sysctl net.core.somaxconn={connections}`, and as much for the \
             server's --backlog"
        )
    })
}
