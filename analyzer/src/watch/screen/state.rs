//! What the user has chosen: order, filter, pause, selected row. Pure.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use crate::watch::{
    order::{Entry, Sort, arranged},
    round::Round,
};

/// What a key asks of the loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    Nothing,
    Redraw,
    Quit,
    /// Stop as Ctrl-Z does any program.
    Suspend,
}

/// The user's choices.
#[derive(Clone, Debug, Default)]
pub(crate) struct State {
    pub(crate) sort: Sort,
    /// Digits of the port that is asked for.
    pub(crate) port: String,
    /// The port is being typed.
    pub(crate) typing: bool,
    pub(crate) paused: bool,
    pub(crate) help: bool,
    /// Entry of the table that is selected, and the first that is shown.
    pub(crate) selected: usize,
    pub(crate) first: usize,
    /// Cookie of the selected row: the selection follows it through the orders.
    cookie: Option<u64>,
}

impl State {
    /// Takes a key.
    pub(crate) fn key(&mut self, key: KeyEvent, round: Option<&Round>) -> Action {
        if key.kind == KeyEventKind::Release {
            return Action::Nothing;
        }
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Char('c' | 'd') if control => return Action::Quit,
            KeyCode::Char('z') if control => return Action::Suspend,
            KeyCode::Char('l') if control => return Action::Redraw,
            _ if self.typing => return self.type_port(key.code),
            _ if self.help => {
                self.help = false;
                return if key.code == KeyCode::Char('q') { Action::Quit } else { Action::Redraw };
            }
            _ => {}
        }
        match key.code {
            KeyCode::Char('q') => return Action::Quit,
            KeyCode::Char('s') => self.sort = self.sort.next(),
            KeyCode::Char('/' | 'f') => {
                self.typing = true;
                self.port.clear();
            }
            KeyCode::Esc => self.port.clear(),
            KeyCode::Char(' ' | 'p') => self.paused = !self.paused,
            KeyCode::Char('?' | 'h') => self.help = true,
            KeyCode::Down | KeyCode::Char('j') => self.step(1, round),
            KeyCode::Up | KeyCode::Char('k') => self.step(-1, round),
            KeyCode::PageDown => self.step(10, round),
            KeyCode::PageUp => self.step(-10, round),
            KeyCode::Home | KeyCode::Char('g') => self.step(isize::MIN, round),
            KeyCode::End | KeyCode::Char('G') => self.step(isize::MAX, round),
            _ => return Action::Nothing,
        }
        Action::Redraw
    }

    fn type_port(&mut self, code: KeyCode) -> Action {
        match code {
            KeyCode::Char(digit) if digit.is_ascii_digit() && self.port.len() < 5 => self.port.push(digit),
            KeyCode::Backspace => {
                self.port.pop();
            }
            KeyCode::Enter => self.typing = false,
            KeyCode::Esc => {
                self.typing = false;
                self.port.clear();
            }
            _ => return Action::Nothing,
        }
        Action::Redraw
    }

    fn step(&mut self, by: isize, round: Option<&Round>) {
        let entries = round.map(|round| self.entries(round)).unwrap_or_default();
        self.selected = self.selected.saturating_add_signed(by).min(entries.len().saturating_sub(1));
        self.cookie = entries.get(self.selected).and_then(cookie_of);
    }

    /// The table's entries: in the chosen order, and on ports that begin with what was typed.
    pub(crate) fn entries<'a>(&self, round: &'a Round) -> Vec<Entry<'a>> {
        let mut entries = arranged(round, self.sort);
        entries.retain(|entry| {
            let port = match entry {
                Entry::Group(group) => group.address.port(),
                Entry::Row(row) => row.address.port(),
            };
            let port = port.to_string();
            if self.typing { port.starts_with(&self.port) } else { self.port.is_empty() || port == self.port }
        });
        entries
    }

    /// Finds the selected row again, and moves what is shown so that it is visible among `room` entries.
    pub(crate) fn settle(&mut self, entries: &[Entry<'_>], room: usize) {
        if let Some(cookie) = self.cookie {
            let place = entries.iter().position(|entry| cookie_of(entry) == Some(cookie));
            self.selected = place.unwrap_or(self.selected);
        }
        self.selected = self.selected.min(entries.len().saturating_sub(1));
        let lowest = (self.selected + 1).saturating_sub(room.max(1));
        self.first = self.first.clamp(lowest, self.selected.max(lowest));
        self.first = self.first.min(entries.len().saturating_sub(room.max(1)));
    }
}

fn cookie_of(entry: &Entry<'_>) -> Option<u64> {
    match entry {
        Entry::Row(row) => Some(row.cookie),
        Entry::Group(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::{
        round::Row,
        sample::{round, row},
    };

    fn press(state: &mut State, round: &Round, codes: &[KeyCode]) -> Action {
        codes.iter().map(|&code| state.key(KeyEvent::from(code), Some(round))).last().expect("a key")
    }

    fn three() -> Round {
        let with = |port: u16, drops, cookie| Row { cookie, drops, ..row(&format!("0.0.0.0:{port}")) };
        round(vec![with(80, 1, 1), with(8080, 3, 2), with(443, 2, 3)])
    }

    fn ports(state: &State, round: &Round) -> Vec<u16> {
        let port = |entry: Entry<'_>| match entry {
            Entry::Row(row) => row.address.port(),
            Entry::Group(group) => group.address.port(),
        };
        state.entries(round).into_iter().map(port).collect()
    }

    #[test]
    fn a_port_is_narrowed_down_while_typed_and_exact_afterwards() {
        let (mut state, round) = (State::default(), three());
        press(&mut state, &round, &[KeyCode::Char('/'), KeyCode::Char('8'), KeyCode::Char('0')]);
        assert_eq!(ports(&state, &round), [8080, 80]);
        press(&mut state, &round, &[KeyCode::Char('x'), KeyCode::Enter]);
        assert_eq!(ports(&state, &round), [80]);
        press(&mut state, &round, &[KeyCode::Esc]);
        assert_eq!(ports(&state, &round), [8080, 443, 80]);
    }

    #[test]
    fn the_selection_stays_on_its_listener_when_the_order_changes() {
        let (mut state, round) = (State::default(), three());
        press(&mut state, &round, &[KeyCode::Down]);
        state.settle(&state.entries(&round), 3);
        assert_eq!(ports(&state, &round)[state.selected], 443);
        while state.sort != Sort::Address {
            press(&mut state, &round, &[KeyCode::Char('s')]);
        }
        let entries = state.entries(&round);
        state.settle(&entries, 3);
        assert_eq!(ports(&state, &round)[state.selected], 443);
    }

    #[test]
    fn the_selected_row_is_always_among_those_shown() {
        let (mut state, round) = (State::default(), three());
        for (keys, room) in [(KeyCode::End, 1), (KeyCode::Up, 1), (KeyCode::Home, 2), (KeyCode::PageDown, 2)] {
            press(&mut state, &round, &[keys]);
            let entries = state.entries(&round);
            state.settle(&entries, room);
            assert!((state.first..state.first + room).contains(&state.selected), "{keys:?}: {state:?}");
        }
    }

    #[test]
    fn q_and_control_c_quit_wherever_one_is() {
        let control_c = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
        let (mut state, round) = (State::default(), three());
        assert_eq!(press(&mut state, &round, &[KeyCode::Char('q')]), Action::Quit);
        assert_eq!(press(&mut state, &round, &[KeyCode::Char('?'), KeyCode::Char('q')]), Action::Quit);
        press(&mut state, &round, &[KeyCode::Char('/')]);
        assert_eq!(state.key(control_c, Some(&round)), Action::Quit);
    }
}
