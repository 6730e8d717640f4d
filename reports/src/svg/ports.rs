//! How many of the local ports towards each destination were taken at the end of a run.

use super::{
    figure::{self, Figure},
    frame::{self, Words},
    stacked::{self, Row, Stacked},
};
use crate::{
    recording::{PortUse, Recording},
    table::{Cell, Table},
    units,
};

/// The chart of the run named `run`; `None` when no port was seen in use.
#[must_use]
pub fn ports<'a>(recording: &'a Recording, run: &str) -> Option<Figure<'a>> {
    let mut ports: Vec<&PortUse> = recording.tcp.as_ref()?.ports.iter().filter(|port| port.available > 0).collect();
    ports.sort_by(|a, b| share(b).total_cmp(&share(a)).then_with(|| a.destination.cmp(&b.destination)));
    let row = |port: &&PortUse| Row {
        name: format!("{} to {}", port.source, port.destination),
        parts: vec![share(port)],
        label: format!("{} of {} ports", units::count(port.in_use.into()), units::count(port.available.into())),
    };
    let words = Words {
        title: "How many of the local ports were taken".into(),
        subtitle: "Ports in use over ip_local_port_range, by local address and destination, TIME_WAIT included".into(),
        caption: vec![
            frame::how_measured(recording, run),
            "at the end of the run; beyond half of the range connect() searches ports one by one, at full it fails"
                .into(),
        ],
    };
    let chart = Stacked {
        name: "ports",
        words,
        kinds: vec!["taken".into()],
        rest: false,
        rows: ports.iter().map(row).collect(),
        show: stacked::share,
        least_end: 1.0,
        guide: Some((0.5, "half: connect() slows down")),
    };
    chart.figure(move || data(&ports))
}

fn share(port: &PortUse) -> f64 {
    (f64::from(port.in_use) / f64::from(port.available.max(1))).min(1.0)
}

fn data(ports: &[&PortUse]) -> Table {
    let mut table =
        figure::data(&[("source", ""), ("destination", ""), ("in use", ""), ("available", ""), ("share", "")]);
    for port in ports {
        table.row(vec![
            Cell::text(&port.source),
            Cell::text(&port.destination),
            Cell::Count(port.in_use.into()),
            Cell::Count(port.available.into()),
            Cell::Share(share(port)),
        ]);
    }
    table
}
