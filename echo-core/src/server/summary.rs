//! The last words of a server: its totals as text or JSON, and how the work was spread. Does not count.

use std::fmt::Write as _;

use serde::Serialize;

use super::totals::Totals;

/// What a server prints when it ends.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// The calls it waits in, as they are named in the line of totals.
    #[serde(skip)]
    pub waits_in: &'static str,
    /// The sum over all workers.
    #[serde(flatten)]
    pub totals: Totals,
    /// Of each worker, where there are several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub workers: Vec<WorkerTotals>,
}

/// The part that one worker had.
#[derive(Clone, Debug, Default, Serialize)]
pub struct WorkerTotals {
    /// Times that it had to be started again.
    pub restarts: u64,
    /// Times that it ended without its totals: what it did in that life is missing everywhere.
    pub lives_not_counted: u64,
    /// Over all its other lives.
    #[serde(flatten)]
    pub totals: Totals,
}

impl Summary {
    /// Of a server that is its own only worker.
    #[must_use]
    pub fn of_one(waits_in: &'static str, totals: Totals) -> Self {
        Self { waits_in, totals, workers: Vec::new() }
    }

    /// Of several threads, each with one life.
    #[must_use]
    pub fn of_threads(waits_in: &'static str, totals: Vec<Totals>) -> Self {
        let of_one = |totals| WorkerTotals { totals, ..WorkerTotals::default() };
        Self::of_workers(waits_in, totals.into_iter().map(of_one).collect())
    }

    /// Of several workers.
    #[must_use]
    pub fn of_workers(waits_in: &'static str, workers: Vec<WorkerTotals>) -> Self {
        let mut totals = Totals::default();
        for worker in &workers {
            totals += worker.totals;
        }
        Self { waits_in, totals, workers }
    }

    /// One line of JSON.
    ///
    /// # Errors
    /// Never, as far as we know: it is plain numbers.
    pub fn json(&self) -> serde_json::Result<String> {
        Ok(serde_json::to_string(self)? + "\n")
    }

    /// The line of totals, and the line of system calls.
    #[must_use]
    pub fn text(&self) -> String {
        let Totals { connections, requests, sent_bytes, wake_ups, useless_wake_ups, .. } = self.totals;
        let mut text = format!(
            "totals: connections {connections}, requests {requests}, bytes {sent_bytes}, {} returns {wake_ups}, \
             useless wake-ups {useless_wake_ups}\n",
            self.waits_in
        );
        let made = self.totals.system_calls.by_kind().into_iter().filter(|&(_, count)| count > 0);
        let calls: Vec<String> = made.map(|(name, count)| format!("{name} {count}")).collect();
        let _ = writeln!(text, "system calls: {}", if calls.is_empty() { "none".to_owned() } else { calls.join(", ") });
        let lost: u64 = self.workers.iter().map(|worker| worker.lives_not_counted).sum();
        if lost > 0 {
            let _ = writeln!(text, "not in these totals: what {lost} workers did that ended without theirs");
        }
        text
    }

    /// A table with a line for each worker.
    #[must_use]
    pub fn balance(&self) -> String {
        let mut text = format!(
            "{:<8}{:>14}{:>9}{:>14}{:>9}{:>10}\n",
            "worker", "connections", "share", "requests", "share", "restarts"
        );
        for (index, worker) in self.workers.iter().enumerate() {
            let Totals { connections, requests, .. } = worker.totals;
            let shares = [(connections, self.totals.connections), (requests, self.totals.requests)]
                .map(|(part, whole)| if whole == 0 { "-".to_owned() } else { percent(part, whole) });
            let [of_connections, of_requests] = shares;
            let _ = writeln!(
                text,
                "{index:<8}{connections:>14}{of_connections:>9}{requests:>14}{of_requests:>9}{:>10}",
                worker.restarts
            );
        }
        text
    }
}

fn percent(part: u64, whole: u64) -> String {
    format!("{:.1} %", part as f64 / whole as f64 * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn worker(connections: u64, requests: u64) -> WorkerTotals {
        WorkerTotals { totals: Totals { connections, requests, ..Totals::default() }, ..WorkerTotals::default() }
    }

    #[test]
    fn workers_add_up_and_their_shares_are_of_the_sum() {
        let summary = Summary::of_workers("epoll_wait", vec![worker(3, 10), worker(1, 30)]);
        assert_eq!((summary.totals.connections, summary.totals.requests), (4, 40));
        let balance = summary.balance();
        let lines: Vec<Vec<&str>> = balance.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(lines[1], ["0", "3", "75.0", "%", "10", "25.0", "%", "0"]);
        assert_eq!(lines[2], ["1", "1", "25.0", "%", "30", "75.0", "%", "0"]);
    }

    #[test]
    fn only_calls_that_were_made_are_listed_and_what_is_missing_is_said() {
        let mut lost = worker(0, 0);
        lost.lives_not_counted = 2;
        lost.totals.system_calls.accept4 = 5;
        let text = Summary::of_workers("epoll_wait", vec![lost]).text();
        assert!(text.contains("\nsystem calls: accept4 5\n"), "{text}");
        assert!(text.contains("what 2 workers did"), "{text}");
    }
}
