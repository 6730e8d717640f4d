//! What one request cost the server: calls, wake-ups and bytes, where a load generator said how many requests there were.

use crate::recording::{Group, Recording, ReturnKind, Syscall};

/// Figures for each successful request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PerRequest {
    /// Successful requests.
    pub requests: u64,
    /// System calls, waiting ones included.
    pub calls: f64,
    /// Returns of `epoll_wait`, `poll` or `select` with something to do.
    pub wake_ups: f64,
    /// Events that they reported.
    pub events: f64,
    /// Bytes received.
    pub received_bytes: f64,
    /// Bytes sent.
    pub sent_bytes: f64,
}

const RECEIVING: [&str; 5] = ["read", "readv", "recvfrom", "recvmsg", "splice"];
const SENDING: [&str; 6] = ["write", "writev", "sendto", "sendmsg", "sendfile", "sendmmsg"];
const WAKING: [&str; 7] = ["epoll_wait", "epoll_pwait", "epoll_pwait2", "poll", "ppoll", "select", "pselect6"];

impl PerRequest {
    /// Of the server; `None` without one, or without successful requests.
    #[must_use]
    pub fn of(recording: &Recording) -> Option<Self> {
        let server = recording.group("server")?;
        let requests = recording.bench.iter().fold(0u64, |sum, result| sum.saturating_add(result.ok));
        if requests == 0 {
            return None;
        }
        let per = |amount: u64| amount as f64 / requests as f64;
        Some(Self {
            requests,
            calls: per(server.syscalls.iter().fold(0u64, |sum, row| sum.saturating_add(row.calls))),
            wake_ups: per(returned(server, &WAKING, ReturnKind::Events).map(non_zero).sum()),
            events: per(returned(server, &WAKING, ReturnKind::Events).map(sum).sum()),
            received_bytes: per(returned(server, &RECEIVING, ReturnKind::Bytes).map(sum).sum()),
            sent_bytes: per(returned(server, &SENDING, ReturnKind::Bytes).map(sum).sum()),
        })
    }
}

fn returned<'a>(group: &'a Group, names: &'a [&str], kind: ReturnKind) -> impl Iterator<Item = &'a Syscall> {
    let wanted = move |row: &&Syscall| {
        names.contains(&row.name.as_str()) && row.returned.as_ref().is_some_and(|returned| returned.kind == kind)
    };
    group.syscalls.iter().filter(wanted)
}

fn sum(row: &Syscall) -> u64 {
    row.returned.as_ref().map_or(0, |returned| returned.values.sum())
}

fn non_zero(row: &Syscall) -> u64 {
    let Some(returned) = &row.returned else { return 0 };
    let nothing: u64 = returned.values.buckets().filter(|&(low, _, _)| low == 0).map(|(_, _, count)| count).sum();
    returned.values.count() - nothing
}
