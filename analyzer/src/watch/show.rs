//! A round on the terminal, redrawn in place, or as lines into a pipe.

use std::io::{self, IsTerminal, Write};

use jiff::Timestamp;
use reports::{printable::printable, terminal};

use super::history::{HostCount, Round, Row};

const HEADER: &str = "ADDRESS               QUEUE/LIMIT  HIGH   DROPS DROPS/s    EVER  OWNER";

/// Where rounds go.
pub(crate) struct Screen<W> {
    out: W,
    redraw: bool,
    shown: bool,
}

impl<W: Write + IsTerminal> Screen<W> {
    /// Redraws in place on a terminal, writes lines elsewhere.
    pub(crate) fn new(out: W) -> Self {
        let redraw = out.is_terminal();
        Self { out, redraw, shown: false }
    }

    /// Shows one round.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(crate) fn show(&mut self, round: &Round) -> io::Result<()> {
        let text = if self.redraw {
            let (rows, columns) = terminal::size().unwrap_or((24, 80));
            redrawn(round, rows, columns)
        } else {
            let header = if self.shown { String::new() } else { format!("TIME      {HEADER}\n") };
            header + &lines(round, &Timestamp::now().strftime("%H:%M:%SZ").to_string())
        };
        self.shown = true;
        self.out.write_all(text.as_bytes())?;
        self.out.flush()
    }

    /// Leaves the last round standing, and the cursor below it.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(crate) fn finish(&mut self) -> io::Result<()> {
        if self.redraw && self.shown {
            self.out.write_all(b"\n")?;
        }
        self.out.flush()
    }
}

/// The screen's text: redrawn from the top, as many rows as fit, the host's lines last.
fn redrawn(round: &Round, rows: usize, columns: usize) -> String {
    let host = host_lines(round);
    let room = rows.saturating_sub(host.len() + 3).max(1);
    let mut text = vec![HEADER.to_owned()];
    text.extend(round.rows.iter().take(room).map(row_text));
    if round.rows.is_empty() {
        text.push("no listening sockets".to_owned());
    }
    if round.rows.len() > room {
        text.push(format!("... and {} more listeners", round.rows.len() - room));
    }
    text.extend(host);
    // One row stays free for the cursor, so that nothing scrolls.
    text.truncate(rows.saturating_sub(1).max(1));
    let fitted = text.iter().map(|line| line.chars().take(columns).collect::<String>() + "\x1b[K");
    format!("\x1b[H{}\x1b[J", fitted.collect::<Vec<_>>().join("\r\n"))
}

/// One line a listener and one for the host, each with its time.
fn lines(round: &Round, time: &str) -> String {
    let rows = round.rows.iter().map(row_text).chain([format!("host  {}", host_lines(round).join("  "))]);
    rows.map(|line| format!("{time} {line}\n")).collect()
}

fn row_text(row: &Row) -> String {
    let queue = format!("{}/{}", row.queue, row.limit);
    let gone = if row.gone { "  (closed)" } else { "" };
    format!(
        "{:<21} {queue:>11} {:>5} {:>7} {:>7.1} {:>7}  {}{gone}",
        row.address.to_string(),
        row.high,
        row.drops,
        row.drops_per_s,
        row.drops_ever,
        printable(&row.owner)
    )
}

/// The host's counters since the start and per second, in two lines that fit 80 columns each.
fn host_lines(round: &Round) -> Vec<String> {
    let count = |count: &HostCount| format!("{} {} ({:.1}/s)", count.name, count.since_start, count.per_s);
    let mut words: Vec<String> = round.host.iter().map(count).collect();
    words.push(format!("TIME_WAIT now {}", round.time_wait));
    words.chunks(2).map(|pair| pair.join("  ")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round(rows: usize) -> Round {
        let row = Row {
            address: "0.0.0.0:9988".parse().expect("valid"),
            owner: "1/echo\x1b[31m".to_owned(),
            queue: 3,
            limit: 128,
            high: 129,
            drops: 271,
            drops_per_s: 13.55,
            drops_ever: 300,
            gone: false,
        };
        let host = vec![HostCount { name: "ListenOverflows", since_start: 271, per_s: 13.55 }];
        Round { rows: vec![row; rows], host, time_wait: 12 }
    }

    #[test]
    fn a_line_says_queue_limit_high_water_drops_and_owner() {
        let text = lines(&round(1), "10:00:00Z");
        assert_eq!(
            text,
            "10:00:00Z 0.0.0.0:9988                3/128   129     271    13.6     300  1/echo\\u{1b}[31m\n\
             10:00:00Z host  ListenOverflows 271 (13.6/s)  TIME_WAIT now 12\n"
        );
    }

    #[test]
    fn a_redrawn_screen_fits_the_terminal() {
        for (rows, columns) in [(24, 80), (5, 20), (1, 1)] {
            let text = redrawn(&round(100), rows, columns);
            let visible = text.replace("\x1b[H", "").replace("\x1b[K", "").replace("\x1b[J", "");
            let lines: Vec<&str> = visible.split("\r\n").collect();
            assert!(lines.len() <= rows, "{rows}x{columns}: {} lines", lines.len());
            assert!(lines.iter().all(|line| line.chars().count() <= columns));
        }
    }
}
