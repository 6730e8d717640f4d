//! When to accept: always, except at first where that was asked for, for a while after the descriptors ran out, and while
//! there are as many connections as there may be. Does not accept.

use std::time::{Duration, Instant};

use super::options::ServerOptions;

/// After this a pause ends even if no connection of ours closed: the descriptors may be another process's.
const LONGEST_PAUSE: Duration = Duration::from_millis(100);

/// Whether the listener is watched.
///
/// A level-triggered listener that cannot be served would be reported again and again (a busy loop), an edge-triggered
/// one never again (a hang). Not watching it for a while is right for both.
#[derive(Clone, Copy, Debug)]
pub(super) struct Accepting {
    most: u64,
    paused: Option<Pause>,
}

/// Ends with whichever comes first.
#[derive(Clone, Copy, Debug)]
struct Pause {
    until: Option<Instant>,
    closed_before: Option<u64>,
}

impl Accepting {
    pub(super) fn new(options: &ServerOptions, now: Instant) -> Self {
        let stalled = Pause { until: Some(now + options.stall_accept), closed_before: None };
        Self {
            most: options.max_connections.map_or(u64::MAX, u64::from),
            paused: (!options.stall_accept.is_zero()).then_some(stalled),
        }
    }

    /// Begins a pause because nothing more can be opened.
    pub(super) fn pause(&mut self, now: Instant, closed: u64) {
        self.paused = Some(Pause { until: Some(now + LONGEST_PAUSE), closed_before: Some(closed) });
    }

    /// Begins a pause if there are as many connections as there may be; true if so.
    pub(super) fn pause_if_full(&mut self, connections: u64, closed: u64) -> bool {
        let full = connections - closed >= self.most;
        if full {
            self.paused = Some(Pause { until: None, closed_before: Some(closed) });
        }
        full
    }

    /// Ends a pause before its time, because what still queues is to be taken now.
    pub(super) fn end_pause(&mut self) {
        self.paused = None;
    }

    pub(super) fn is_paused(self) -> bool {
        self.paused.is_some()
    }

    /// How long to wait for events at most.
    pub(super) fn longest_wait(self, now: impl FnOnce() -> Instant) -> Option<Duration> {
        self.paused?.until.map(|until| until.saturating_duration_since(now()))
    }

    /// Ends the pause when a connection was closed since it began, or time is up; true when it ended just now.
    pub(super) fn resume(&mut self, now: impl FnOnce() -> Instant, closed: u64) -> bool {
        let over = self.paused.is_some_and(|pause| {
            pause.closed_before.is_some_and(|before| closed > before) || pause.until.is_some_and(|until| now() >= until)
        });
        if over {
            self.paused = None;
        }
        over
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_ends_with_a_closed_connection_or_with_time_and_only_once() {
        let start = Instant::now();
        let mut accepting = Accepting { most: u64::MAX, paused: None };
        assert!(!accepting.resume(|| start, 0));
        accepting.pause(start, 7);
        assert_eq!(accepting.longest_wait(|| start), Some(LONGEST_PAUSE));
        assert!(!accepting.resume(|| start, 7));
        assert!(accepting.resume(|| start, 8));
        assert!(!accepting.resume(|| start, 9));
        accepting.pause(start, 9);
        assert!(accepting.resume(|| start + LONGEST_PAUSE, 9));
        assert_eq!(accepting.longest_wait(|| start), None);
    }

    #[test]
    fn at_the_most_connections_only_a_closed_one_ends_the_pause() {
        let start = Instant::now();
        let mut accepting = Accepting { most: 3, paused: None };
        assert!(!accepting.pause_if_full(4, 2));
        assert!(accepting.pause_if_full(5, 2));
        assert_eq!(accepting.longest_wait(|| start), None);
        assert!(!accepting.resume(|| start + Duration::from_hours(1), 2));
        assert!(accepting.resume(|| start, 3));
    }
}
