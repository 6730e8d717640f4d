//! When to accept: always, except for a while after the descriptors ran out. Does not accept.

use std::time::{Duration, Instant};

/// After this a pause ends even if no connection of ours closed: the descriptors may be another process's.
const LONGEST_PAUSE: Duration = Duration::from_millis(100);

/// Whether the listener is watched.
///
/// A level-triggered listener that cannot be served would be reported again and again (a busy loop), an edge-triggered
/// one never again (a hang). Not watching it for a while is right for both.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Accepting {
    paused: Option<Pause>,
}

#[derive(Clone, Copy, Debug)]
struct Pause {
    until: Instant,
    closed_before: u64,
}

impl Accepting {
    pub(super) fn pause(&mut self, now: Instant, closed: u64) {
        self.paused = Some(Pause { until: now + LONGEST_PAUSE, closed_before: closed });
    }

    /// How long epoll may wait at most.
    pub(super) fn longest_wait(self) -> Option<Duration> {
        self.paused.map(|_| LONGEST_PAUSE)
    }

    /// Ends the pause when a connection was closed since it began, or time is up; true when it ended just now.
    pub(super) fn resume(&mut self, now: impl FnOnce() -> Instant, closed: u64) -> bool {
        let over = self.paused.is_some_and(|pause| closed > pause.closed_before || now() >= pause.until);
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
        let mut accepting = Accepting::default();
        assert!(!accepting.resume(|| start, 0));
        accepting.pause(start, 7);
        assert_eq!(accepting.longest_wait(), Some(LONGEST_PAUSE));
        assert!(!accepting.resume(|| start, 7));
        assert!(accepting.resume(|| start, 8));
        assert!(!accepting.resume(|| start, 9));
        accepting.pause(start, 9);
        assert!(accepting.resume(|| start + LONGEST_PAUSE, 9));
        assert_eq!(accepting.longest_wait(), None);
    }
}
