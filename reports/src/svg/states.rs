//! The states of TCP as a graph: how often sockets went from one to another, and how long they stayed.

use super::{
    canvas::{Canvas, Look},
    figure::{self, Figure},
    frame::{self, Words},
    palette,
};
use crate::{
    recording::{Recording, Side, Tcp, Transition},
    table::{Cell, Table},
    units,
};

const WIDTH: f64 = 880.0;
const BOTTOM: f64 = 812.0;
/// Half of a node's width and height.
const HALF: (f64, f64) = (78.0, 29.0);

/// The kernel's name and the middle of each node. `CLOSE` is there twice: before a connection's life and after it.
const NODES: [(&str, (f64, f64)); 11] = [
    ("CLOSE", (440.0, 114.0)),
    ("LISTEN", (700.0, 200.0)),
    ("SYN_SENT", (180.0, 200.0)),
    ("SYN_RECV", (700.0, 320.0)),
    ("ESTABLISHED", (440.0, 420.0)),
    ("FIN_WAIT1", (180.0, 520.0)),
    ("CLOSE_WAIT", (700.0, 520.0)),
    ("FIN_WAIT2", (180.0, 640.0)),
    ("CLOSING", (400.0, 640.0)),
    ("LAST_ACK", (700.0, 640.0)),
    (END, (440.0, 770.0)),
];
const END: &str = "CLOSE, at the end";

/// A change that has a place in the graph, the way it is drawn, and where its number stands.
struct Edge {
    from: &'static str,
    to: &'static str,
    way: &'static [(f64, f64)],
    label: (f64, f64),
}

const fn edge(from: &'static str, to: &'static str, way: &'static [(f64, f64)], label: (f64, f64)) -> Edge {
    Edge { from, to, way, label }
}

const EDGES: [Edge; 22] = [
    edge("CLOSE", "LISTEN", &[(518.0, 122.0), (650.0, 171.0)], (590.0, 149.0)),
    edge("CLOSE", "SYN_SENT", &[(362.0, 122.0), (230.0, 171.0)], (290.0, 149.0)),
    edge("CLOSE", "SYN_RECV", &[(460.0, 143.0), (635.0, 291.0)], (510.0, 186.0)),
    edge("LISTEN", "SYN_RECV", &[(700.0, 229.0), (700.0, 291.0)], (700.0, 258.0)),
    edge("SYN_SENT", "SYN_RECV", &[(258.0, 212.0), (622.0, 312.0)], (440.0, 262.0)),
    edge("SYN_SENT", "ESTABLISHED", &[(215.0, 229.0), (400.0, 391.0)], (307.0, 310.0)),
    edge("SYN_RECV", "ESTABLISHED", &[(650.0, 349.0), (500.0, 391.0)], (575.0, 371.0)),
    edge("SYN_RECV", "FIN_WAIT1", &[(622.0, 330.0), (330.0, 440.0), (240.0, 491.0)], (330.0, 440.0)),
    edge("ESTABLISHED", "FIN_WAIT1", &[(390.0, 449.0), (230.0, 491.0)], (318.0, 470.0)),
    edge("ESTABLISHED", "CLOSE_WAIT", &[(500.0, 449.0), (650.0, 491.0)], (580.0, 470.0)),
    edge("FIN_WAIT1", "FIN_WAIT2", &[(180.0, 549.0), (180.0, 611.0)], (180.0, 580.0)),
    edge("FIN_WAIT1", "CLOSING", &[(240.0, 549.0), (350.0, 611.0)], (300.0, 582.0)),
    edge("CLOSE_WAIT", "LAST_ACK", &[(700.0, 549.0), (700.0, 611.0)], (700.0, 580.0)),
    edge("FIN_WAIT2", "CLOSE", &[(215.0, 669.0), (375.0, 741.0)], (295.0, 704.0)),
    edge("CLOSING", "CLOSE", &[(406.0, 669.0), (425.0, 741.0)], (416.0, 704.0)),
    edge("LAST_ACK", "CLOSE", &[(665.0, 669.0), (505.0, 741.0)], (600.0, 698.0)),
    edge("ESTABLISHED", "CLOSE", &[(470.0, 449.0), (510.0, 640.0), (465.0, 741.0)], (492.0, 540.0)),
    edge("SYN_SENT", "CLOSE", &[(102.0, 200.0), (50.0, 200.0), (50.0, 784.0), (362.0, 784.0)], (58.0, 400.0)),
    edge("FIN_WAIT1", "CLOSE", &[(102.0, 520.0), (76.0, 520.0), (76.0, 766.0), (362.0, 766.0)], (76.0, 580.0)),
    edge("LISTEN", "CLOSE", &[(778.0, 200.0), (838.0, 200.0), (838.0, 784.0), (518.0, 784.0)], (828.0, 400.0)),
    edge("SYN_RECV", "CLOSE", &[(778.0, 320.0), (808.0, 320.0), (808.0, 766.0), (518.0, 766.0)], (808.0, 460.0)),
    edge("CLOSE_WAIT", "CLOSE", &[(640.0, 549.0), (485.0, 741.0)], (585.0, 618.0)),
];

/// The graph of the run named `run`; `None` when no change of state was counted.
#[must_use]
pub fn states<'a>(recording: &'a Recording, run: &str) -> Option<Figure<'a>> {
    let tcp = recording.tcp.as_ref()?;
    let changes: Vec<&Transition> = tcp.transitions.iter().flatten().filter(|change| change.count > 0).collect();
    if changes.is_empty() {
        return None;
    }
    let all = changes.iter().fold(0u64, |sum, change| sum.saturating_add(change.count));
    let drawn = |change: &&&Transition| EDGES.iter().any(|edge| edge.from == change.from && edge.to == change.to);
    let (drawn, others): (Vec<&Transition>, Vec<&Transition>) = changes.iter().partition(|change| drawn(change));
    let elsewhere = others.iter().fold(0u64, |sum, change| sum.saturating_add(change.count));
    let also = if elsewhere > 0 {
        format!("; {} of kinds that are in the data only", units::count(elsewhere))
    } else {
        String::new()
    };
    let words = Words {
        title: "Which states connections went through, and how long they stayed".into(),
        subtitle:
            "Numbers: changes of state (inet_sock_set_state); in the boxes: median time in the state at either end"
                .into(),
        caption: vec![
            frame::how_measured(recording, run),
            format!(
                "{} in the whole network namespace{also}; TIME_WAIT begins when FIN_WAIT2 becomes CLOSE",
                units::counted(all, "change")
            ),
        ],
    };
    let paint = move |canvas: &Canvas| {
        let edges = || drawn.iter().filter_map(|change| Some((edge_of(change)?, change.count)));
        edges().for_each(|(edge, count)| arrow(canvas, edge, count));
        edges().for_each(|(edge, count)| label(canvas, edge, count));
        for (name, middle) in NODES {
            node(canvas, name, middle, tcp, &drawn);
        }
    };
    Some(Figure::new("tcp-states", words, (WIDTH, BOTTOM), paint, move || data(tcp, &changes)))
}

fn edge_of(change: &Transition) -> Option<&'static Edge> {
    EDGES.iter().find(|edge| edge.from == change.from && edge.to == change.to)
}

/// Thicker by the logarithm of its count.
fn arrow(canvas: &Canvas, edge: &Edge, count: u64) {
    let width = 1.0 + (count as f64).log10().clamp(0.0, 6.0) * 0.5;
    canvas.line(edge.way, palette::BLUE, width);
    if let [.., (x0, y0), (x, y)] = *edge.way {
        let length = (x - x0).hypot(y - y0).max(1.0);
        let (dx, dy) = ((x - x0) / length, (y - y0) / length);
        let wide = 3.0 + width;
        let back = (x - dx * 10.0, y - dy * 10.0);
        canvas.filled(
            &[(x, y), (back.0 - dy * wide, back.1 + dx * wide), (back.0 + dy * wide, back.1 - dx * wide)],
            palette::BLUE,
        );
    }
}

fn label(canvas: &Canvas, edge: &Edge, count: u64) {
    let look = Look::new(frame::VALUE, palette::TEXT).bold().centered();
    let text = short(count);
    let half = look.pixels(&text) / 2.0 + 2.0;
    canvas.bar((edge.label.0 - half, edge.label.1 - 8.0), (2.0 * half, 16.0), palette::PAPER);
    canvas.text(edge.label, &text, look);
}

/// At most nine letters.
fn short(count: u64) -> String {
    if count < 10_000_000 { units::count(count) } else { format!("{:.2e}", count as f64) }
}

fn node(canvas: &Canvas, name: &str, (x, y): (f64, f64), tcp: &Tcp, changes: &[&Transition]) {
    let visited = match name {
        END => changes.iter().any(|change| change.to == "CLOSE"),
        "CLOSE" => changes.iter().any(|change| change.from == name),
        _ => changes.iter().any(|change| change.from == name || change.to == name),
    };
    let (ink, border) = if visited { (palette::TEXT, palette::AXIS) } else { (palette::QUIET, palette::GRID) };
    let (left, top, right, bottom) = (x - HALF.0, y - HALF.1, x + HALF.0, y + HALF.1);
    canvas.bar((left, top), (2.0 * HALF.0, 2.0 * HALF.1), if visited { palette::FAINT } else { palette::PAPER });
    canvas.line(&[(left, top), (right, top), (right, bottom), (left, bottom), (left, top)], border, 1.2);
    let times: Vec<String> = [(Side::Active, "connecting"), (Side::Passive, "accepting")]
        .into_iter()
        .filter_map(|(side, word)| {
            let time = tcp.states.iter().find(|time| time.state == name && time.side == side)?;
            Some(format!("{word}: {}", units::duration(time.time.quantile(0.5)?)))
        })
        .collect();
    let up = 8.0 * times.len() as f64;
    canvas.text((x, y - up), name, Look::new(frame::NAME, ink).bold().centered());
    for (number, time) in times.iter().enumerate() {
        let look = Look::new(frame::TICK, palette::QUIET).centered();
        canvas.text((x, y - up + 16.0 * (number + 1) as f64), time, look);
    }
}

fn data(tcp: &Tcp, changes: &[&Transition]) -> Table {
    let mut table = figure::data(&[
        ("from", ""),
        ("to", ""),
        ("changes", ""),
        ("end", ""),
        ("times", ""),
        ("p50", "ns"),
        ("p99", "ns"),
        ("max", "ns"),
    ]);
    for change in changes {
        let mut cells = vec![Cell::text(&change.from), Cell::text(&change.to), Cell::Count(change.count)];
        cells.resize(8, Cell::Missing);
        table.row(cells);
    }
    for time in &tcp.states {
        let side = match time.side {
            Side::Active => "connecting",
            Side::Passive => "accepting",
            Side::Unknown => "unknown",
        };
        let h = &time.time;
        let times = [Cell::Count(h.count()), Cell::ns(h.quantile(0.5)), Cell::ns(h.quantile(0.99)), Cell::ns(h.max())];
        let first = [Cell::Text(format!("time in {}", time.state)), Cell::Missing, Cell::Missing, Cell::text(side)];
        table.row(first.into_iter().chain(times).collect());
    }
    table
}
