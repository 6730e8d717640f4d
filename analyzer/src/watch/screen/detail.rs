//! What there is to say of the selected listener, and of its namespace. Pure.

use reports::{
    printable::{clipped, columns, printable},
    units,
};

use super::{
    Look,
    table::{short, time},
};
use crate::watch::round::{Count, Host, NetnsRound, Round, Row, Wait};

/// The selected listener's lines, the most important first.
pub(crate) fn lines(row: &Row, round: &Round, width: usize, look: &Look) -> Vec<String> {
    let host = round.namespaces.iter().find(|netns| netns.netns == row.netns).map(|netns| &netns.host);
    let mut lines = vec![title(row, width, look)];
    lines.extend(flowed("queue   ", &queue_words(row, host), width));
    lines.extend(flowed("drops   ", &drop_words(row), width));
    lines.extend(flowed("wait    ", &wait_words(row), width));
    let room = width.saturating_sub(30).min(120);
    let top = u64::from(row.limit) + 1;
    lines.push(format!(" queue   {} 0..{}", look.glyphs.chart(&row.recent.queue, top, room), short(top)));
    let most = row.recent.drops.iter().copied().max().unwrap_or(0);
    lines.push(format!(
        " drops   {} most {} an interval",
        look.glyphs.chart(&row.recent.drops, most, room),
        short(most)
    ));
    lines.into_iter().map(|line| clipped(&line, width)).collect()
}

fn title(row: &Row, width: usize, look: &Look) -> String {
    let owner = row.owner.as_deref().map_or_else(String::new, |owner| format!("  {}", printable(owner)));
    let closed = if row.gone { "  (closed)" } else { "" };
    let text = format!("{0}{0} {1}{owner}{closed} ", look.glyphs.rule, row.address);
    let rule = look.glyphs.rule.to_string().repeat(width.saturating_sub(columns(&text)));
    text + &rule
}

fn queue_words(row: &Row, host: Option<&Host>) -> Vec<String> {
    let asked = row.asked.map_or_else(|| "asked for: not seen".to_owned(), |asked| format!("asked for {asked}"));
    let somaxconn = host.and_then(|host| host.somaxconn);
    vec![
        format!("{} waiting", row.queue),
        format!("most {}", row.high),
        format!("holds {}", u64::from(row.limit) + 1),
        format!("limit {}", row.limit),
        asked,
        somaxconn.map_or_else(String::new, |most| format!("somaxconn {most}")),
    ]
}

fn drop_words(row: &Row) -> Vec<String> {
    let causes = row.causes;
    let known = |number: Option<u64>| number.map_or_else(|| "-".to_owned(), units::count);
    vec![
        format!("{} since the start", units::count(row.drops)),
        format!("accept queue full at SYN {}", units::count(causes.accept_queue_at_syn)),
        format!("at final ACK {}", known(causes.accept_queue_at_ack)),
        format!("SYN queue full {}", units::count(causes.syn_queue)),
        format!("other {}", units::count(causes.other)),
        format!("cookies sent {}", known(row.cookies)),
        format!("SYN-ACKs sent again {}", known(row.syn_ack_retransmits)),
        format!("socket's own counter {}", row.drops_ever),
    ]
}

fn wait_words(row: &Row) -> Vec<String> {
    let Some(waits) = row.accept_wait else { return vec!["not measured: no probes".to_owned()] };
    let percentile = |name: &str, ns: Option<u64>| format!("{name} {}", ns.map_or_else(|| "-".to_owned(), time));
    let words = |wait: &Wait| {
        [("p50", wait.p50_ns), ("p90", wait.p90_ns), ("p99", wait.p99_ns), ("max", wait.max_ns)]
            .map(|(name, ns)| percentile(name, ns))
            .join("  ")
    };
    vec![
        format!("{} in {}", words(&waits.recent), units::counted(waits.recent.count, "accept")),
        format!("since the start {} in {}", words(&waits.since_start), units::count(waits.since_start.count)),
    ]
}

/// The namespace's lines.
pub(crate) fn host(netns: &NetnsRound, name: Option<String>, width: usize) -> Vec<String> {
    let host = &netns.host;
    let per_s = |count: &Count| format!("{} ({}/s)", units::signed(count.since_start), rate(count.per_s));
    let mut words = vec![match (&host.syn_retransmits, &host.syn_ack_retransmits) {
        (Some(syn), Some(syn_ack)) => {
            format!("sent again: SYN {}  SYN-ACK {}", per_s(syn), per_s(syn_ack))
        }
        _ => format!("sent again: SYN and SYN-ACK {}", per_s(&host.handshake_retransmits)),
    }];
    words.push(format!("overflows {}", per_s(&host.listen_overflows)));
    words.push(format!("listen drops {}", per_s(&host.listen_drops)));
    words.push(format!("SYN queue full {}", per_s(&host.syn_queue_drops)));
    words.push(format!("cookies {}", per_s(&host.cookies)));
    words.push(format!("TIME_WAIT {} (+{}/s)", units::count(host.time_wait), rate(host.time_wait_made.per_s)));
    words.extend(host.ports().map(|ports| ports_in_use(host.ports_at_most, ports)));
    words.push(format!("orphans {}{}", units::count(host.orphans), of(host.max_orphans)));
    let pressed = match host.memory_pressures.since_start {
        0 => String::new(),
        times => format!(", {times} x short"),
    };
    words.push(format!("memory {}{} pages{pressed}", units::count(host.memory_pages), of(host.memory_pressure_pages)));
    let label = name.map_or_else(|| "host  ".to_owned(), |name| format!("{name}  "));
    flowed(&label, &words, width)
}

/// Without looking at every socket there is an upper bound only.
fn ports_in_use(at_most: u64, ports: u64) -> String {
    let share = at_most.min(ports) as f64 / ports as f64;
    format!("ports at most {} of {}", units::percent(share).replace(' ', ""), units::count(ports))
}

fn of(limit: Option<u64>) -> String {
    limit.map_or_else(String::new, |limit| format!(" of {}", short(limit)))
}

fn rate(per_s: f64) -> String {
    if per_s == 0.0 { "0".to_owned() } else { units::rate(per_s) }
}

/// Words in as many lines as they need, two spaces apart, below a label.
fn flowed(label: &str, words: &[String], width: usize) -> Vec<String> {
    let indent = " ".repeat(label.len() + 1);
    let mut lines = vec![format!(" {label}")];
    let mut is_fresh = true;
    for word in words.iter().filter(|word| !word.is_empty()) {
        let gap = if is_fresh { "" } else { "  " };
        let Some(line) = lines.last_mut() else { break };
        if is_fresh || columns(line) + gap.len() + columns(word) <= width {
            line.push_str(gap);
            line.push_str(word);
        } else {
            lines.push(format!("{indent}{word}"));
        }
        is_fresh = false;
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::{
        sample::{round, row},
        screen::glyphs::ASCII,
    };

    const LOOK: Look = Look { glyphs: ASCII, color: false };

    #[test]
    fn nothing_is_cut_off_where_it_can_flow_into_another_line() {
        let round = round(vec![row("0.0.0.0:9988")]);
        let listener = &round.namespaces[0].listeners[0];
        for width in [60, 80, 140] {
            let lines = lines(listener, &round, width, &LOOK);
            assert!(lines.iter().all(|line| columns(line) <= width && !line.contains("...")), "{width}: {lines:#?}");
            let text = lines.join("\n");
            for part in ["holds 129", "asked for 4096", "at final ACK 15", "p99 2.50ms", "socket's own counter 300"] {
                assert!(text.contains(part), "{width}: {part} is missing in\n{text}");
            }
            let lines = host(&round.namespaces[0], None, width);
            assert!(lines.iter().all(|line| columns(line) <= width), "{width}: {lines:#?}");
            assert!(lines.join("\n").contains("ports at most 1.8% of 28,232"), "{lines:#?}");
        }
    }
}
