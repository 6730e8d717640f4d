//! The whole page: title, host, table, the selected listener, keys. Draws into a buffer, asks nothing.

use std::time::Duration;

use ratatui::{
    Frame,
    layout::Rect,
    style::{Color, Modifier, Style},
    text::{Line, Text},
};
use reports::{
    printable::{clipped, columns},
    units,
};

use super::{
    Look, detail,
    state::State,
    table::{self, Layout},
};
use crate::watch::{lines::called, order::Entry, round::Round};

/// Below so many rows the selected listener is told in its table row only.
const ROOM_FOR_DETAIL: usize = 16;

const KEYS: [&str; 7] = ["q quit", "s sort", "/ port", "space pause", "up/down select", "? help", "Esc all ports"];

const HELP: &str = "\
KEYS
  q, Ctrl-C     quit; the last figures stay on the terminal
  up, down      select a listener (also j, k, PgUp, PgDn, Home, End)
  s             sort by drops, drops/s, queue, fill, wait, address
  /             show one port: type it, Enter; Esc shows all again
  space, p      pause what is shown; counting goes on
  Ctrl-Z        stop, as any program
COLUMNS
  QUEUE/LIMIT   connections that wait for accept, and the backlog in
                force; a listener holds one more than that
  HIGH, ASKED   most seen waiting; backlog given to listen, if seen
  DROPS, /S     connection attempts dropped since the start, per second
  AT-SYN        of these, accept queue full when the SYN came
  AT-ACK        accept queue full when the final ACK came
  SYN-Q, OTHER  SYN queue full, no cookie sent; any other cause, or one
                that the kernel does not tell of one among several
  P50, P99      wait in the accept queue, over the last 10 intervals
NOT HERE
";

/// Draws it.
pub(crate) fn draw(frame: &mut Frame<'_>, state: &mut State, round: &Round, interval: Duration, look: &Look) {
    let area = frame.area();
    let (width, height) = (usize::from(area.width), usize::from(area.height));
    let mut lines = vec![title(state, round, interval, width)];
    let footer = footer(state, round, width, look);
    if state.help {
        lines.extend(HELP.lines().map(|line| Line::raw(format!(" {line}"))));
        lines.extend(missing(round).map(|text| Line::styled(format!("   {text}"), look.color(Color::Yellow))));
        if missing(round).next().is_none() {
            lines.push(Line::raw("   nothing is missing"));
        }
    } else {
        lines.extend(body(state, round, (width, height.saturating_sub(1 + footer.len())), look));
    }
    lines.truncate(height.saturating_sub(footer.len()));
    lines.resize(height.saturating_sub(footer.len()), Line::default());
    lines.extend(footer);
    frame.render_widget(Text::from(lines), Rect { x: 0, y: 0, ..area });
}

/// Host, table and selected listener in so many columns and rows.
fn body(state: &mut State, round: &Round, (width, height): (usize, usize), look: &Look) -> Vec<Line<'static>> {
    let entries = state.entries(round);
    state.settle(&entries, 1);
    let several = round.namespaces.len() > 1;
    let selected_netns = match entries.get(state.selected) {
        Some(Entry::Row(row)) => Some(row.netns),
        Some(Entry::Group(group)) => Some(group.netns),
        None => None,
    };
    let netns = round.namespaces.iter().find(|netns| Some(netns.netns) == selected_netns).or(round.namespaces.first());
    let mut lines: Vec<Line<'static>> = Vec::new();
    if let Some(netns) = netns {
        let name = several.then(|| format!("netns {}", called(netns)));
        lines.extend(detail::host(netns, name, width).into_iter().take(height / 6 + 1).map(Line::raw));
    }
    lines.push(Line::default());
    let layout = Layout::of(width, several);
    lines.push(layout.header());
    let below = match entries.get(state.selected) {
        Some(Entry::Row(row)) if height >= ROOM_FOR_DETAIL => detail::row(row, round, width, look),
        Some(Entry::Group(group)) if height >= ROOM_FOR_DETAIL => detail::group(group, width, look),
        _ => Vec::new(),
    };
    // The table gets at least a third; what the selected listener takes beyond is cut at its end.
    let left = height.saturating_sub(lines.len());
    let below_room = below.len().min(left - left / 3);
    let room = left.saturating_sub(below_room).max(1);
    state.settle(&entries, room);
    if entries.is_empty() {
        lines.push(Line::raw(table::nothing(state)));
    }
    let shown = entries.iter().enumerate().skip(state.first).take(room);
    lines.extend(shown.map(|(place, entry)| layout.line(entry, place == state.selected, round, look)));
    lines.resize(height.saturating_sub(below_room), Line::default());
    lines.extend(below.into_iter().take(below_room).enumerate().map(|(place, line)| match place {
        0 => Line::styled(line, Style::new().add_modifier(Modifier::BOLD)),
        _ => Line::raw(line),
    }));
    lines
}

/// Host and table as plain text, to be left standing on the terminal.
pub(crate) fn farewell(state: &State, round: &Round, width: usize, look: &Look) -> String {
    let several = round.namespaces.len() > 1;
    let layout = Layout::of(width, several);
    let hosts = round.namespaces.iter().flat_map(|netns| {
        let name = several.then(|| format!("netns {}", called(netns)));
        detail::host(netns, name, width)
    });
    let rows = state.entries(round).into_iter().map(|entry| layout.line(&entry, false, round, look).to_string());
    let lines = hosts.chain([layout.header().to_string()]).chain(rows).chain(missing(round));
    lines.map(|line| format!("{}\n", line.trim_end())).collect()
}

fn title(state: &State, round: &Round, interval: Duration, width: usize) -> Line<'static> {
    let listeners: usize = round.namespaces.iter().map(|netns| netns.listeners.len()).sum();
    let elapsed = humantime::format_duration(Duration::from_secs_f64(round.elapsed_s.floor())).to_string();
    let mut words = vec!["analyzer watch".to_owned()];
    if state.paused {
        words.push("PAUSED".to_owned());
    }
    match (state.typing, state.port.as_str()) {
        (true, port) => words.push(format!("port: {port}_")),
        (false, "") => {}
        (false, port) => words.push(format!("port {port} only")),
    }
    words.push(format!("sort: {}", state.sort.name()));
    words.push(format!("every {}", humantime::format_duration(interval)));
    words.push(units::counted(listeners as u64, "listener"));
    words.push(format!("for {elapsed}"));
    if round.namespaces.len() > 1 {
        words.push(format!("{} namespaces", round.namespaces.len()));
    }
    let text = format!(" {}", words.join("  "));
    let padded = format!("{text}{}", " ".repeat(width.saturating_sub(columns(&text))));
    Line::styled(padded, Style::new().add_modifier(Modifier::REVERSED))
}

/// What is missing, in short, and the keys.
fn footer(state: &State, round: &Round, width: usize, look: &Look) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    let notes: Vec<String> = missing(round).collect();
    let left_out = Layout::of(width, round.namespaces.len() > 1).left_out;
    if left_out > 0 && !state.help {
        let text =
            format!(" without {}: widen, or see the selected listener", units::counted(left_out as u64, "column"));
        lines.push(Line::styled(clipped(&text, width), Style::new().add_modifier(Modifier::DIM)));
    }
    if !notes.is_empty() && !state.help {
        let text = match notes.len() {
            1 => format!(" {}", notes[0]),
            number => format!(" {} ({} more: ?)", notes[0], number - 1),
        };
        lines.push(Line::styled(clipped(&text, width), look.color(Color::Yellow)));
    }
    let keys = if state.help { "any key: back to the table" } else { "" };
    let mut text = format!(" {keys}");
    for key in KEYS.iter().filter(|_| !state.help) {
        if columns(&text) + key.len() + 2 <= width {
            text.push_str(key);
            text.push_str("  ");
        }
    }
    lines.push(Line::styled(text, Style::new().add_modifier(Modifier::DIM)));
    lines
}

fn missing(round: &Round) -> impl Iterator<Item = String> + '_ {
    let lost = round.lost.filter(|&lost| lost > 0).map(|lost| format!("the probes could not count {lost} events"));
    lost.into_iter().chain(round.missing.iter().map(|text| format!("not shown: {text}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::{
        round::Row,
        sample::{round, row},
        screen::glyphs::ASCII,
    };
    use ratatui::{Terminal, backend::TestBackend};

    const LOOK: Look = Look { glyphs: ASCII, color: false };

    fn drawn(state: &mut State, rows: usize, (width, height): (u16, u16)) -> String {
        let many = (0..rows).map(|n| Row { cookie: n as u64, ..row(&format!("10.0.0.1:{}", 7000 + n)) }).collect();
        let mut round = round(many);
        round.missing = vec!["owners: that needs root".to_owned()];
        let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("a buffer");
        terminal.draw(|frame| draw(frame, state, &round, Duration::from_secs(1), &LOOK)).expect("drawn");
        terminal.backend().to_string()
    }

    #[test]
    fn every_size_has_the_table_the_keys_and_what_is_missing() {
        for size in [(60, 20), (80, 24), (140, 40)] {
            let page = drawn(&mut State::default(), 3, size);
            for part in
                ["analyzer watch", "QUEUE/LIMIT", "10.0.0.1:7000", "3/128", "q quit", "not shown: owners", "p99 2.50ms"]
            {
                assert!(page.contains(part), "{size:?}: no `{part}` in\n{page}");
            }
        }
    }

    #[test]
    fn no_size_is_too_small_to_draw() {
        for width in [1, 5, 20, 61] {
            for height in 1..20 {
                drawn(&mut State::default(), 50, (width, height));
                let mut state = State::default();
                state.help = true;
                drawn(&mut state, 0, (width, height));
            }
        }
    }

    #[test]
    fn the_selected_listener_is_on_the_page_however_far_down() {
        let mut state = State::default();
        state.selected = 45;
        let page = drawn(&mut state, 50, (80, 24));
        assert!(page.contains("10.0.0.1:7045"), "{page}");
    }
}
