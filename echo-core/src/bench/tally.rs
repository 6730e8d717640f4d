//! What one thread counts, and how threads add up. Does not decide what counts as what.

use std::collections::BTreeMap;

use reports::histogram::{FINE, Histogram};

use super::failure::Failure;

/// Counts and latencies of one thread.
#[derive(Debug)]
pub(super) struct Tally {
    pub(super) ok: u64,
    pub(super) connected: u64,
    pub(super) connect: Histogram,
    pub(super) request: Histogram,
    failed: [u64; Failure::ALL.len()],
    /// Just before the first connect.
    pub(super) first_ns: u64,
    /// When the last request ended, well or not.
    pub(super) last_ns: u64,
    /// A signal ended the run before it was done.
    pub(super) interrupted: bool,
}

impl Tally {
    pub(super) fn new(now_ns: u64) -> Self {
        Self {
            ok: 0,
            connected: 0,
            connect: Histogram::new(FINE),
            request: Histogram::new(FINE),
            failed: [0; Failure::ALL.len()],
            first_ns: now_ns,
            last_ns: now_ns,
            interrupted: false,
        }
    }

    /// From the first connect to the end of the last request.
    pub(super) fn elapsed_ns(&self) -> u64 {
        self.last_ns - self.first_ns
    }

    pub(super) fn fail(&mut self, kind: Failure, requests: u64) {
        self.failed[kind as usize] += requests;
    }

    pub(super) fn failed(&self) -> BTreeMap<String, u64> {
        let kinds = Failure::ALL.iter().zip(self.failed);
        kinds.filter(|&(_, count)| count > 0).map(|(kind, count)| (kind.name().to_owned(), count)).collect()
    }

    pub(super) fn merge(&mut self, other: &Self) {
        self.ok += other.ok;
        self.connected += other.connected;
        self.connect.merge(&other.connect);
        self.request.merge(&other.request);
        for (mine, theirs) in self.failed.iter_mut().zip(other.failed) {
            *mine += theirs;
        }
        self.first_ns = self.first_ns.min(other.first_ns);
        self.last_ns = self.last_ns.max(other.last_ns);
        self.interrupted |= other.interrupted;
    }
}
