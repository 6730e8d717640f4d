//! Connections being made: attempts by destination and outcome, listeners and how long accept let wait.

use super::{
    NAME_COLUMNS,
    grid::Grid,
    page::Page,
    style::{Style, Tone},
};
use crate::{
    histogram::Histogram,
    printable::clipped,
    recording::{Connects, ListenerQueue, Outcome, Tcp},
    units,
};

/// Rows of each table.
const SHOWN: usize = 8;

pub(super) fn write(page: &mut Page, tcp: &Tcp, style: &Style) {
    connects(page, &tcp.connects, style);
    listeners(page, &tcp.listeners, style);
}

fn connects(page: &mut Page, rows: &[Connects], style: &Style) {
    if rows.is_empty() {
        return;
    }
    page.blank();
    let mut most_first: Vec<&Connects> = rows.iter().collect();
    most_first.sort_by_key(|row| std::cmp::Reverse(row.latency.count()));
    let header = ["connect by", "to", "outcome", "n", "again", "p50", "p99", "max", "1st byte p50", "p99"];
    let mut grid = Grid::new(&[0, 1, 2], &header).sparing(&[9, 6, 8]);
    for row in most_first.iter().take(SHOWN) {
        let first_byte = row.first_byte.as_ref();
        let tone = if has_failed(row.outcome) { Tone::Alarm } else { Tone::Plain };
        let mut cells = vec![
            clipped(&row.group, NAME_COLUMNS),
            clipped(&row.destination, NAME_COLUMNS),
            outcome(row.outcome).to_owned(),
            units::count(row.latency.count()),
            units::count(row.syn_retransmits),
        ];
        let [p50, _, p99, max] = distribution(&row.latency);
        cells.extend([p50, p99, max]);
        cells.extend([0.5, 0.99].map(|q| duration(first_byte.and_then(|times| times.quantile(q)))));
        grid.row(tone, cells);
    }
    page.block(&grid.render(style));
    more(page, rows.len(), SHOWN, "row");
    page.prose(
        Tone::Quiet,
        4,
        "  from SYN_SENT to the outcome, the network's time; again: SYNs sent again; 1st byte: from established to the \
         first byte back",
    );
}

fn has_failed(outcome: Outcome) -> bool {
    !matches!(outcome, Outcome::Established | Outcome::Cancelled | Outcome::InProgress)
}

/// As the recording spells it, with spaces.
fn outcome(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Established => "established",
        Outcome::Refused => "refused",
        Outcome::Reset => "reset",
        Outcome::Unreachable => "unreachable",
        Outcome::TimedOut => "timed out",
        Outcome::Cancelled => "cancelled",
        Outcome::NotSent => "not sent",
        Outcome::InProgress => "in progress",
    }
}

fn listeners(page: &mut Page, rows: &[ListenerQueue], style: &Style) {
    // Idle ones say nothing about the run.
    let busy: Vec<&ListenerQueue> =
        rows.iter().filter(|row| row.established > 0 || row.drops.is_some_and(|drops| drops > 0)).collect();
    if busy.is_empty() {
        return;
    }
    page.blank();
    let header =
        ["listener", "owner", "high", "limit", "came in", "drops", "at ACK", "wait p50", "p99", "max", "1st byte p50"];
    let mut grid = Grid::new(&[0, 1], &header).sparing(&[8, 10, 6]);
    for row in busy.iter().take(SHOWN) {
        let first_byte = row.first_byte.as_ref();
        let mut cells = vec![
            clipped(&row.address, NAME_COLUMNS),
            row.owner.as_deref().map_or("-".to_owned(), |owner| clipped(owner, NAME_COLUMNS)),
            units::count(row.queue_high.into()),
            row.limit.map_or("-".to_owned(), |limit| units::count(limit.into())),
            units::count(row.established),
            row.drops.map_or("-".to_owned(), units::count),
            row.drops_at_final_ack.map_or("-".to_owned(), units::count),
        ];
        let [p50, _, p99, max] = distribution(&row.accept_wait);
        cells.extend([p50, p99, max]);
        cells.push(duration(first_byte.and_then(|times| times.quantile(0.5))));
        grid.row(if row.drops.is_some_and(|drops| drops > 0) { Tone::Alarm } else { Tone::Plain }, cells);
    }
    page.block(&grid.render(style));
    more(page, busy.len(), SHOWN, "listener");
    page.prose(
        Tone::Quiet,
        4,
        "  wait: in the accept queue, from established to accept's return; high: most that waited at once (it holds one more \
         than its limit); drops: one that is sent and dropped again counts again",
    );
    if busy.iter().any(|row| row.drops.is_none()) {
        page.prose(Tone::Quiet, 4, "  - closed before the end, and its counters with it");
    }
    for row in busy.iter().filter(|row| row.syn_ack_retransmits > 0) {
        let again = units::counted(row.syn_ack_retransmits, "SYN-ACK");
        page.prose(Tone::Quiet, 4, &format!("  {}: {again} sent again", clipped(&row.address, NAME_COLUMNS)));
    }
    let unaccepted =
        busy.iter().fold(0u64, |sum, row| sum.saturating_add(row.established.saturating_sub(row.accepted)));
    if unaccepted > 0 {
        let text = format!(
            "  {} came in without a wait: not accepted in the run, or not by a traced process",
            units::counted(unaccepted, "connection")
        );
        page.prose(Tone::Quiet, 4, &text);
    }
}

/// p50, p90, p99 and the longest.
pub(super) fn distribution(times: &Histogram) -> [String; 4] {
    let [p50, p90, p99] = [0.5, 0.9, 0.99].map(|q| duration(times.quantile(q)));
    [p50, p90, p99, duration(times.max())]
}

pub(super) fn duration(ns: Option<u64>) -> String {
    ns.map_or("-".to_owned(), units::duration)
}

/// Says how many rows a table does without.
pub(super) fn more(page: &mut Page, rows: usize, shown: usize, noun: &str) {
    if let Some(more @ 1..) = rows.checked_sub(shown) {
        page.line(Tone::Quiet, &format!("  and {} more", units::counted(more as u64, noun)));
    }
}
