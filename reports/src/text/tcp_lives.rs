//! Connections living and ending: time in each state, who closed first, whole lives, peers, ports.

use super::{
    NAME_COLUMNS,
    grid::Grid,
    page::Page,
    style::{Style, Tone},
    tcp_connects::{distribution, more},
};
use crate::{
    histogram::Histogram,
    printable::clipped,
    recording::{Closes, Lifetimes, Peer, PortUse, Side, StateTime, Tcp, Tracked},
    units,
};

/// Peers that are shown, and the least number of connections that makes one worth it.
const PEERS_SHOWN: usize = 4;
const WORTH_SHOWING: u64 = 2;
/// From this share of the ports on a connect searches long (see the README).
const SHORT_OF_PORTS: f64 = 0.5;

pub(super) fn write(page: &mut Page, tcp: &Tcp, style: &Style) {
    states(page, &tcp.states, style);
    closes(page, &tcp.closes, style);
    lifetimes(page, &tcp.lifetimes, style);
    peers(page, &tcp.peers, style);
    ports(page, &tcp.ports);
    if let Some(tracked) = &tcp.tracked {
        followed(page, tracked);
    }
}

fn side(side: Side) -> &'static str {
    match side {
        Side::Active => "connected",
        Side::Passive => "accepted",
        Side::Unknown => "before start",
    }
}

fn states(page: &mut Page, rows: &[StateTime], style: &Style) {
    if rows.is_empty() {
        return;
    }
    page.blank();
    let mut grid = Grid::new(&[0, 1], &["end that", "time in", "n", "mean", "p50", "p90", "p99", "max"]);
    for row in rows {
        let mut cells = vec![
            side(row.side).to_owned(),
            clipped(&row.state, NAME_COLUMNS),
            units::count(row.time.count()),
            row.time.mean().map_or("-".to_owned(), units::duration_f64),
        ];
        cells.extend(distribution(&row.time));
        grid.row(Tone::Plain, cells);
    }
    page.block(&grid.render(style));
}

fn closes(page: &mut Page, rows: &[Closes], style: &Style) {
    if rows.is_empty() {
        return;
    }
    page.blank();
    let header = ["end that", "FIN first", "second", "both", "none", "RST came", "RST sent", "by close", "TIME_WAIT"];
    let mut grid = Grid::new(&[0], &header);
    for row in rows {
        let counts = [
            row.by_itself,
            row.by_peer,
            row.simultaneous,
            row.without_fin,
            row.resets_received,
            row.resets_sent,
            row.aborted_by_close,
            row.into_time_wait,
        ];
        let cells = std::iter::once(side(row.side).to_owned()).chain(counts.map(units::count)).collect();
        grid.row(Tone::Plain, cells);
    }
    page.block(&grid.render(style));
    page.prose(
        Tone::Quiet,
        4,
        "  FIN first, second: closed before or after the other end; by close: of the resets sent, those because of linger 0 \
         or unread data; TIME_WAIT: candidates, which ended with both FINs there; how many the kernel made of them is \
         TIME_WAIT created above",
    );
}

fn lifetimes(page: &mut Page, rows: &[Lifetimes], style: &Style) {
    if rows.is_empty() {
        return;
    }
    page.blank();
    let header = ["end that", "lived", "p50", "p90", "p99", "max", "received mean", "max", "sent mean", "max", "again"];
    let mut grid = Grid::new(&[0], &header).sparing(&[3, 7, 9]);
    for row in rows {
        let mut cells = vec![side(row.side).to_owned(), units::count(row.duration.count())];
        cells.extend(distribution(&row.duration));
        cells.extend([&row.received_bytes, &row.sent_bytes].into_iter().flat_map(bytes));
        cells.push(units::count(row.retransmits));
        grid.row(Tone::Plain, cells);
    }
    page.block(&grid.render(style));
    page.prose(
        Tone::Quiet,
        4,
        "  lived: from established to closed; received, sent: bytes; again: segments sent again",
    );
}

/// Mean and greatest.
fn bytes(sizes: &Histogram) -> [String; 2] {
    let mean = sizes.mean().map_or("-".to_owned(), units::ratio);
    [mean, sizes.max().map_or("-".to_owned(), units::count)]
}

fn peers(page: &mut Page, rows: &[Peer], style: &Style) {
    let used: Vec<&Peer> =
        rows.iter().filter(|row| row.connections >= WORTH_SHOWING && row.gap.max() > Some(0)).collect();
    if used.is_empty() {
        return;
    }
    page.blank();
    let mut grid = Grid::new(&[0, 1], &["peer", "is", "connections", "gap p50", "p90", "p99", "max"]);
    for row in used.iter().take(PEERS_SHOWN) {
        let is = match row.side {
            Side::Active => "server",
            Side::Passive => "client",
            Side::Unknown => "-",
        };
        let mut cells = vec![clipped(&row.address, NAME_COLUMNS), is.to_owned(), units::count(row.connections)];
        cells.extend(distribution(&row.gap));
        grid.row(Tone::Plain, cells);
    }
    page.block(&grid.render(style));
    more(page, used.len(), PEERS_SHOWN, "peer");
    page.prose(
        Tone::Quiet,
        4,
        "  gap: from the end of one connection to the start of the next with that peer, 0 where they overlap",
    );
}

fn ports(page: &mut Page, rows: &[PortUse]) {
    if rows.is_empty() {
        return;
    }
    page.blank();
    for row in rows.iter().take(PEERS_SHOWN) {
        let share = f64::from(row.in_use) / f64::from(row.available.max(1));
        let tone = if share >= SHORT_OF_PORTS { Tone::Alarm } else { Tone::Plain };
        let remark = format!(
            "{} of {}, {} to {}, TIME_WAIT included",
            units::percent(share),
            units::count(row.available.into()),
            clipped(&row.source, NAME_COLUMNS),
            clipped(&row.destination, NAME_COLUMNS)
        );
        page.fact(tone, "local ports in use", &units::count(row.in_use.into()), &remark);
    }
}

fn followed(page: &mut Page, tracked: &Tracked) {
    let text = format!(
        "  followed: {} from birth, {} that were there before the start, {} open at the end",
        units::counted(tracked.from_birth, "end"),
        units::count(tracked.before_start),
        units::count(tracked.open)
    );
    page.prose(Tone::Quiet, 4, &text);
}
