//! The server's time in each system call against the client's.

use std::collections::BTreeMap;

use super::{
    axis::LinearAxis,
    canvas::{Canvas, Look},
    figure::{self, Figure},
    frame::{self, MARGIN, Words},
    palette,
};
use crate::{
    printable::clipped,
    recording::{Group, Recording, Syscall},
    stats::ByTime,
    table::{Cell, Table},
    units,
};

const WIDTH: f64 = 860.0;
const BARS: f64 = 222.0;
const BARS_END: f64 = 620.0;
const ROW: f64 = 40.0;
const BAR: f64 = 13.0;
const TOP: f64 = frame::TOP + 22.0;
/// Calls that are drawn.
const SHOWN: usize = 14;

/// One system call on both sides: calls and wall time, where it was made.
struct Pair<'a> {
    name: &'a str,
    server: Option<&'a Syscall>,
    client: Option<&'a Syscall>,
}

impl Pair<'_> {
    fn time_ns(side: Option<&Syscall>) -> u64 {
        side.map_or(0, Syscall::time_ns)
    }

    fn both_ns(&self) -> u64 {
        Self::time_ns(self.server).saturating_add(Self::time_ns(self.client))
    }
}

/// The chart of the run named `run`; `None` unless both sides were traced and made working calls.
#[must_use]
pub fn sides<'a>(recording: &'a Recording, run: &str) -> Option<Figure<'a>> {
    let (server, client) = (recording.group("server")?, recording.group("client")?);
    let pairs = pairs(server, client);
    let made = |side: fn(&Pair) -> bool| pairs.iter().any(side);
    if !made(|pair| Pair::time_ns(pair.server) > 0) || !made(|pair| Pair::time_ns(pair.client) > 0) {
        return None;
    }
    let shown = pairs.len().min(SHOWN);
    let which =
        if pairs.len() > shown { format!("the {shown} longest of {} calls", pairs.len()) } else { "all calls".into() };
    let words = Words {
        title: "Where the server and the client spent their system-call time".into(),
        subtitle: "Wall time in all calls of a kind; calls that wait by design are left out".into(),
        caption: vec![
            frame::how_measured(recording, run),
            format!("{which}, {}; wall time includes waiting for a CPU", frame::clock(recording)),
        ],
    };
    let pairs = std::rc::Rc::new(pairs);
    let told = std::rc::Rc::clone(&pairs);
    let size = (WIDTH, TOP + ROW * shown as f64 + 28.0);
    let labels = [server, client].map(|group| frame::whose(&group.name, &group.label));
    Some(Figure::new("sides", words, size, move |canvas| paint(canvas, &pairs[..shown], &labels), move || data(&told)))
}

fn pairs<'a>(server: &'a Group, client: &'a Group) -> Vec<Pair<'a>> {
    let mut pairs: BTreeMap<&str, Pair> = BTreeMap::new();
    for row in ByTime::of(server).working {
        pairs.insert(&row.name, Pair { name: &row.name, server: Some(row), client: None });
    }
    for row in ByTime::of(client).working {
        pairs.entry(&row.name).or_insert(Pair { name: &row.name, server: None, client: None }).client = Some(row);
    }
    let mut pairs: Vec<Pair> = pairs.into_values().collect();
    pairs.sort_by(|a, b| b.both_ns().cmp(&a.both_ns()).then_with(|| a.name.cmp(b.name)));
    pairs
}

fn paint(canvas: &Canvas, pairs: &[Pair], labels: &[String; 2]) {
    let bottom = TOP + ROW * pairs.len() as f64;
    let longest =
        pairs.iter().map(|pair| Pair::time_ns(pair.server).max(Pair::time_ns(pair.client))).max().unwrap_or(0);
    let axis = LinearAxis::new(longest as f64, (BARS, BARS_END));
    for tick in axis.ticks(frame::TICK_LOOK.pixels(&units::duration(longest))) {
        canvas.line(&[(axis.at(tick), TOP - 4.0), (axis.at(tick), bottom + 4.0)], palette::GRID, 1.0);
        frame::tick_label(canvas, (axis.at(tick), bottom + 14.0), &units::duration_f64(tick));
    }
    let legend = Look::new(frame::VALUE, palette::TEXT);
    let room = legend.columns_in((WIDTH - BARS) / 2.0 - 40.0);
    canvas.bar((BARS, frame::TOP - 8.0), (14.0, 12.0), palette::BLUE);
    canvas.text((BARS + 20.0, frame::TOP - 2.0), &clipped(&labels[0], room), legend);
    let second = f64::midpoint(BARS, WIDTH);
    canvas.hatched_bar((second, frame::TOP - 8.0), (24.0, 12.0), palette::ALARM);
    canvas.text((second + 30.0, frame::TOP - 2.0), &clipped(&labels[1], room), legend);
    for (number, pair) in pairs.iter().enumerate() {
        let top = TOP + ROW * number as f64 + 5.0;
        let name = Look::new(frame::NAME, palette::TEXT).right();
        canvas.text((BARS - 10.0, top + BAR + 1.0), &clipped(pair.name, name.columns_in(BARS - 10.0 - MARGIN)), name);
        let (first, second) = (top, top + BAR + 3.0);
        let alone = f64::midpoint(first, second);
        let server_y = if pair.client.is_some() { first } else { alone };
        let client_y = if pair.server.is_some() { second } else { alone };
        for (side, y, hatched) in [(pair.server, server_y, false), (pair.client, client_y, true)] {
            let Some(row) = side else { continue };
            let length = axis.length(row.time_ns() as f64).max(1.0);
            if hatched {
                canvas.hatched_bar((BARS, y), (length, BAR), palette::ALARM);
            } else {
                canvas.bar((BARS, y), (length, BAR), palette::BLUE);
            }
            let text = format!("{}, {}", units::duration(row.time_ns()), units::counted(row.calls, "call"));
            frame::value_label(canvas, (BARS + length + 8.0, y + BAR / 2.0), WIDTH - 4.0, &text);
        }
    }
    canvas.line(&[(BARS, TOP - 4.0), (BARS, bottom)], palette::AXIS, 1.0);
}

fn data(pairs: &[Pair]) -> Table {
    let mut table = figure::data(&[
        ("syscall", ""),
        ("server calls", ""),
        ("server total", "ns"),
        ("client calls", ""),
        ("client total", "ns"),
    ]);
    let calls = |side: Option<&Syscall>| side.map_or(Cell::Missing, |row| Cell::Count(row.calls));
    let total = |side: Option<&Syscall>| Cell::ns(side.and_then(|row| row.total_ns));
    for pair in pairs {
        table.row(vec![
            Cell::text(pair.name),
            calls(pair.server),
            total(pair.server),
            calls(pair.client),
            total(pair.client),
        ]);
    }
    table
}
