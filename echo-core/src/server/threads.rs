//! Threads that serve together, each with its own part of the work. Does not know what they do.

use std::thread::{Builder, ScopedJoinHandle, scope};

use anyhow::Context as _;

use super::{pinning::pin, totals::Totals};
use crate::Error;

/// Runs each body in a thread of its own, and gives what they counted. All of them are to end by the same signal.
///
/// # Errors
/// When a thread cannot be had, or the first error of a body.
pub(super) fn run_threads<B>(bodies: impl Iterator<Item = B>, pinned: bool) -> anyhow::Result<Vec<Totals>>
where
    B: FnOnce() -> Result<Totals, Error> + Send,
{
    scope(|scope| {
        let mut threads: Vec<ScopedJoinHandle<'_, Result<Totals, Error>>> = Vec::new();
        for (index, body) in bodies.enumerate() {
            let body = move || {
                if pinned {
                    pin(index)?;
                }
                body()
            };
            let thread = Builder::new().name(format!("worker-{index}")).spawn_scoped(scope, body);
            threads.push(thread.context("failed to start a thread")?);
        }
        let join = |thread: ScopedJoinHandle<'_, _>| thread.join().expect("bug: a worker panicked");
        Ok(threads.into_iter().map(join).collect::<Result<_, Error>>()?)
    })
}
