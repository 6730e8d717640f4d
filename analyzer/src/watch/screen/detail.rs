//! What there is to say of the selected listener, and of its namespace. Pure.

use reports::{
    printable::{clipped, columns, printable},
    units,
};

use super::{
    Look,
    table::{short, time},
};
use crate::watch::round::{Count, Group, Host, NetnsRound, Round, Row, Wait};

/// The selected group's lines.
pub(crate) fn group(group: &Group, width: usize, look: &Look) -> Vec<String> {
    let words = [
        format!("{} sockets share this address (SO_REUSEPORT)", group.members),
        format!("{} of them full", group.full),
        format!("{} waiting", units::count(group.queue)),
        format!("limits {} in all", units::count(group.limit)),
        format!("{} dropped since the start", units::count(group.drops)),
        "a full member loses what is steered to it, however empty the others are".to_owned(),
    ];
    let mut lines = vec![ruled(&group.address.to_string(), width, look)];
    lines.extend(flowed("group   ", &words, width));
    lines
}

/// The selected listener's lines, the most important first.
pub(crate) fn row(row: &Row, round: &Round, width: usize, look: &Look) -> Vec<String> {
    let host = round.namespaces.iter().find(|netns| netns.netns == row.netns).map(|netns| &netns.host);
    let mut lines = vec![title(row, width, look)];
    lines.extend(flowed("queue   ", &queue_words(row, host), width));
    lines.extend(flowed("wait    ", &wait_words(row), width));
    lines.extend(flowed("drops   ", &drop_words(row), width));
    let room = width.saturating_sub(30).min(120);
    let top = u64::from(row.limit) + 1;
    lines.push(format!(" waiting {} 0..{}", look.glyphs.chart(&row.recent.queue, top, room), short(top)));
    let most = row.recent.drops.iter().copied().max().unwrap_or(0);
    lines.push(format!(
        " dropped {} most {} an interval",
        look.glyphs.chart(&row.recent.drops, most, room),
        short(most)
    ));
    lines.into_iter().map(|line| clipped(&line, width)).collect()
}

fn title(row: &Row, width: usize, look: &Look) -> String {
    let owner = row.owner.as_deref().map_or_else(String::new, |owner| format!("  {}", printable(owner)));
    let closed = if row.gone { "  (closed)" } else { "" };
    ruled(&format!("{}{owner}{closed}", row.address), width, look)
}

fn ruled(text: &str, width: usize, look: &Look) -> String {
    let text = format!("{0}{0} {text} ", look.glyphs.rule);
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
        format!("no drops but put aside {}", known(row.put_aside)),
        format!("socket's own counter {}", row.drops_ever),
    ]
}

fn wait_words(row: &Row) -> Vec<String> {
    let Some(waits) = row.accept_wait else { return vec!["not measured: no probes".to_owned()] };
    if waits.since_start.count == 0 {
        return vec!["no connection accepted since the start".to_owned()];
    }
    let words = |wait: &Wait| {
        [("p50", wait.p50_ns), ("p90", wait.p90_ns), ("p99", wait.p99_ns), ("max", wait.max_ns)]
            .map(|(name, ns)| format!("{name} {}", ns.map_or_else(|| "-".to_owned(), time)))
    };
    let mut all = Vec::from(words(&waits.recent));
    all.push(format!("of {}", units::counted(waits.recent.count, "accept")));
    let [median, rest @ ..] = words(&waits.since_start);
    all.push(format!("since the start {median}"));
    all.extend(rest);
    all.push(format!("of {}", units::count(waits.since_start.count)));
    all
}

/// The namespace's lines, the most important figures first.
pub(crate) fn host(netns: &NetnsRound, name: Option<String>, width: usize) -> Vec<String> {
    let host = &netns.host;
    let counter = |name: &str, count: &Count| match count.per_s {
        0.0 => format!("{name} {}", units::signed(count.since_start)),
        per_s => format!("{name} {} ({}/s)", units::signed(count.since_start), units::rate(per_s)),
    };
    let gauge = |name: &str, now: u64, most: Option<u64>| match most {
        Some(most) => format!("{name} {} of {}", short(now), short(most)),
        None => format!("{name} {}", short(now)),
    };
    let mut words = vec![
        counter("overflows", &host.listen_overflows),
        counter("listen drops", &host.listen_drops),
        counter("SYN queue full", &host.syn_queue_drops),
        counter("cookies", &host.cookies),
    ];
    words.extend(match (&host.syn_retransmits, &host.syn_ack_retransmits) {
        (Some(syn), Some(syn_ack)) => vec![counter("SYN again", syn), counter("SYN-ACK again", syn_ack)],
        _ => vec![counter("SYN and SYN-ACK again", &host.handshake_retransmits)],
    });
    let made = host.time_wait_made.per_s;
    let made = if made == 0.0 { String::new() } else { format!(" (+{}/s)", units::rate(made)) };
    words.push(format!("TIME_WAIT {}{made}", units::count(host.time_wait)));
    words.extend(host.ports().map(|ports| ports_in_use(host.ports_at_most, ports)));
    words.push(gauge("orphans", host.orphans, host.max_orphans));
    words.push(gauge("memory", host.memory_pages, host.memory_pressure_pages) + " pages");
    if host.memory_pressures.since_start > 0 {
        words.push(counter("memory pressure", &host.memory_pressures));
    }
    let label = name.unwrap_or_else(|| "host".to_owned());
    flowed(&format!("{label}  "), &words, width)
}

/// Without looking at every socket there is an upper bound only.
fn ports_in_use(at_most: u64, ports: u64) -> String {
    let share = at_most.min(ports) as f64 / ports as f64;
    format!("ports <= {} of {}", units::percent(share).replace(' ', ""), units::count(ports))
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
            let lines = super::row(listener, &round, width, &LOOK);
            assert!(lines.iter().all(|line| columns(line) <= width && !line.contains("...")), "{width}: {lines:#?}");
            let text = lines.join("\n");
            for part in ["holds 129", "asked for 4096", "at final ACK 15", "p99 2.50ms", "socket's own counter 300"] {
                assert!(text.contains(part), "{width}: {part} is missing in\n{text}");
            }
            let lines = host(&round.namespaces[0], None, width);
            assert!(lines.iter().all(|line| columns(line) <= width), "{width}: {lines:#?}");
            assert!(lines.join("\n").contains("ports <= 1.8% of 28,232"), "{lines:#?}");
        }
    }
}
