//! The table of listeners: as many columns as fit, the ones that matter most first. Pure.

use ratatui::{
    style::{Color, Modifier, Style},
    text::{Line, Span},
};
use reports::{
    printable::{clipped, columns},
    units,
};

use super::{Look, state::State};
use crate::watch::{
    lines::called,
    order::Entry,
    round::{Group, Round, Row},
};

/// A column; those first in [`COLUMNS`] stand leftmost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    Listener,
    Queue,
    Fill,
    High,
    Asked,
    Drops,
    Rate,
    AtSyn,
    AtAck,
    SynQueue,
    Other,
    P50,
    P99,
    Owner,
    Netns,
    QueueChart,
    DropsChart,
}

use Column as C;

/// Column, title, least width, and rank: 0 is never left out.
const COLUMNS: [(Column, &str, usize, u8); 17] = [
    (C::Listener, "LISTENER", 21, 0),
    (C::Queue, "QUEUE/LIMIT", 11, 0),
    (C::Fill, "FILL", 5, 3),
    (C::High, "HIGH", 5, 5),
    (C::Asked, "ASKED", 6, 9),
    (C::Drops, "DROPS", 7, 1),
    (C::Rate, "/S", 6, 2),
    (C::AtSyn, "AT-SYN", 7, 11),
    (C::AtAck, "AT-ACK", 6, 12),
    (C::SynQueue, "SYN-Q", 6, 13),
    (C::Other, "OTHER", 6, 14),
    (C::P50, "P50", 6, 7),
    (C::P99, "P99", 6, 6),
    (C::Owner, "OWNER", 12, 4),
    (C::Netns, "NETNS", 10, 8),
    (C::QueueChart, "QUEUE TREND", 12, 15),
    (C::DropsChart, "DROPS TREND", 12, 10),
];

/// Columns that fit, with their widths.
pub(crate) struct Layout {
    columns: Vec<(Column, &'static str, usize)>,
    /// How many do not fit.
    pub(crate) left_out: usize,
}

impl Layout {
    /// What fits into so many columns of the terminal.
    pub(crate) fn of(width: usize, several_namespaces: bool) -> Self {
        let mut wanted: Vec<_> = COLUMNS.iter().filter(|column| several_namespaces || column.0 != C::Netns).collect();
        let all = wanted.len();
        let needed = |columns: &[&(Column, &str, usize, u8)]| columns.iter().map(|column| column.2 + 1).sum::<usize>();
        while needed(&wanted) > width + 1 {
            let Some(least) = wanted.iter().map(|column| column.3).max().filter(|&rank| rank > 0) else { break };
            wanted.retain(|column| column.3 != least);
        }
        let left_out = all - wanted.len();
        let mut spare = (width + 1).saturating_sub(needed(&wanted));
        let mut widths: Vec<_> = wanted.into_iter().map(|&(column, title, width, _)| (column, title, width)).collect();
        for (wide, most) in [(C::Owner, 24), (C::Fill, 12), (C::QueueChart, 30), (C::DropsChart, 30), (C::Listener, 40)]
        {
            if let Some(column) = widths.iter_mut().find(|column| column.0 == wide) {
                let more = spare.min(most - column.2);
                column.2 += more;
                spare -= more;
            }
        }
        Self { columns: widths, left_out }
    }

    /// The line of titles.
    pub(crate) fn header(&self) -> Line<'static> {
        let cells = self.columns.iter().map(|&(column, title, width)| column.aligned(title, width));
        Line::styled(cells.collect::<Vec<_>>().join(" "), Style::new().add_modifier(Modifier::BOLD))
    }

    /// A listener or a group.
    pub(crate) fn line(&self, entry: &Entry<'_>, is_selected: bool, round: &Round, look: &Look) -> Line<'static> {
        let mut spans = Vec::new();
        for &(column, _, width) in &self.columns {
            if !spans.is_empty() {
                spans.push(Span::raw(" "));
            }
            let (text, style) = match entry {
                Entry::Row(row) => (column.of_row(row, width, round, look), column.style_of_row(row, look)),
                Entry::Group(group) => (column.of_group(group, width, look), Style::new().add_modifier(Modifier::BOLD)),
            };
            spans.push(Span::styled(column.aligned(&text, width), style));
        }
        let line = Line::from(spans);
        if is_selected { line.patch_style(Style::new().add_modifier(Modifier::REVERSED)) } else { line }
    }
}

impl Column {
    /// Words to the left, numbers to the right.
    fn aligned(self, text: &str, width: usize) -> String {
        let text = clipped(text, width);
        let missing = " ".repeat(width.saturating_sub(columns(&text)));
        match self {
            C::Listener | C::Fill | C::Owner | C::Netns | C::QueueChart | C::DropsChart => text + &missing,
            _ => missing + &text,
        }
    }

    fn of_row(self, row: &Row, width: usize, round: &Round, look: &Look) -> String {
        let wait = row.accept_wait.map(|wait| wait.recent);
        match self {
            C::Listener => {
                let indent = if row.group.is_some() { "  " } else { "" };
                // The port matters most, and is last.
                reports::printable::clipped_middle(&format!("{indent}{}", row.address), width)
            }
            C::Queue => queue(row.queue.into(), row.limit.into()),
            C::Fill => look.glyphs.bar(row.fill, width),
            C::High => short(row.high.into()),
            C::Asked => or_dash(row.asked.map(|asked| short(asked.into()))),
            C::Drops => short(row.drops),
            C::Rate => rate(row.drops_per_s),
            C::AtSyn => short(row.causes.accept_queue_at_syn),
            C::AtAck => or_dash(row.causes.accept_queue_at_ack.map(short)),
            C::SynQueue => short(row.causes.syn_queue),
            C::Other => short(row.causes.other),
            C::P50 => or_dash(wait.and_then(|wait| wait.p50_ns).map(time)),
            C::P99 => or_dash(wait.and_then(|wait| wait.p99_ns).map(time)),
            C::Owner if row.gone => "(closed)".to_owned(),
            C::Owner => or_dash(row.owner.clone()),
            C::Netns => round.namespaces.iter().find(|netns| netns.netns == row.netns).map_or_else(String::new, called),
            C::QueueChart => look.glyphs.chart(&row.recent.queue, u64::from(row.limit) + 1, width),
            C::DropsChart => {
                let top = row.recent.drops.iter().copied().max().unwrap_or(0);
                look.glyphs.chart(&row.recent.drops, top, width)
            }
        }
    }

    fn of_group(self, group: &Group, width: usize, look: &Look) -> String {
        match self {
            C::Listener => reports::printable::clipped_middle(&group.address.to_string(), width),
            C::Queue => queue(group.queue, group.limit),
            C::Fill => look.glyphs.bar(group.fill, width),
            C::Drops => short(group.drops),
            C::Rate => rate(group.drops_per_s),
            C::Owner => match group.full {
                0 => format!("group of {}", group.members),
                full => format!("{full} of {} full", group.members),
            },
            _ => String::new(),
        }
    }

    fn style_of_row(self, row: &Row, look: &Look) -> Style {
        let plain = Style::new();
        if row.gone {
            return plain.add_modifier(Modifier::DIM);
        }
        match self {
            C::Fill | C::QueueChart => look.color(match row.fill {
                fill if fill >= 0.9 => Color::Red,
                fill if fill >= 0.5 => Color::Yellow,
                _ => Color::Green,
            }),
            C::Queue if row.fill >= 0.9 => look.color(Color::Red),
            C::Drops | C::Rate if row.drops_per_s > 0.0 => look.color(Color::Red).add_modifier(Modifier::BOLD),
            C::Drops if row.drops > 0 => look.color(Color::Yellow),
            C::DropsChart => look.color(Color::Red),
            C::Owner | C::Netns => look.color(Color::Cyan),
            _ => plain,
        }
    }
}

/// What the table says when it is empty.
pub(crate) fn nothing(state: &State) -> String {
    if state.port.is_empty() {
        "no listening sockets".to_owned()
    } else {
        format!("no listening sockets on port {}", state.port)
    }
}

fn queue(queue: u64, limit: u64) -> String {
    format!("{}/{}", short(queue), short(limit))
}

/// A count in six characters: `271`, `99,999`, `123k`, `4.56M`.
pub(crate) fn short(number: u64) -> String {
    let scaled = |divisor: f64, unit: &str| format!("{}{unit}", units::ratio(number as f64 / divisor));
    match number {
        0..100_000 => units::count(number),
        100_000..1_000_000 => scaled(1e3, "k"),
        1_000_000..1_000_000_000 => scaled(1e6, "M"),
        _ => scaled(1e9, "G"),
    }
}

fn rate(per_s: f64) -> String {
    match per_s {
        none if none <= 0.0 => "0".to_owned(),
        small if small < 999.5 => units::rate(small),
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive, and saturating")]
        large => short(large as u64),
    }
}

pub(crate) fn time(ns: u64) -> String {
    units::duration(ns).replace(' ', "")
}

fn or_dash(text: Option<String>) -> String {
    text.unwrap_or_else(|| "-".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::{
        sample::{round, row},
        screen::glyphs::ASCII,
    };

    const LOOK: Look = Look { glyphs: ASCII, color: false };

    fn text(width: usize) -> (String, String) {
        let round = round(vec![row("0.0.0.0:9988")]);
        let layout = Layout::of(width, false);
        let row = layout.line(&Entry::Row(&round.namespaces[0].listeners[0]), false, &round, &LOOK);
        (layout.header().to_string(), row.to_string())
    }

    #[test]
    fn narrow_tables_keep_queue_drops_and_rate_and_wide_ones_have_everything() {
        let (header, row) = text(60);
        assert_eq!(header.trim_end(), "LISTENER              QUEUE/LIMIT FILL          DROPS     /S");
        let (header, _) = text(80);
        let expected = "LISTENER              QUEUE/LIMIT FILL   HIGH   DROPS     /S    P99 OWNER";
        assert_eq!(header.trim_end(), expected);
        assert_eq!(row.trim_end(), "0.0.0.0:9988                3/128 #..........     271   13.6");
        let (header, _) = text(200);
        assert!(header.trim_end().ends_with("DROPS TREND"), "{header}");
        let left_out = [60, 80, 200].map(|width| Layout::of(width, false).left_out);
        assert_eq!(left_out, [11, 8, 0]);
    }

    #[test]
    fn no_line_is_wider_than_the_terminal() {
        for width in [40, 60, 80, 100, 120, 140, 200, 300] {
            for line in [text(width).0, text(width).1] {
                assert!(columns(&line) <= width, "{width}: {line}");
            }
        }
    }

    #[test]
    fn long_counts_are_shortened() {
        for (number, text) in
            [(0, "0"), (99_999, "99,999"), (123_456, "123k"), (4_560_000, "4.56M"), (u64::from(u32::MAX), "4.29G")]
        {
            assert_eq!(short(number), text);
        }
    }
}
