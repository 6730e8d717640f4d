//! A round as lines of text, for pipes and logs: one per listener and group, then the namespace's.

use reports::{printable::printable, units};

use super::{
    order::{Entry, Sort, arranged},
    round::{Count, Group, Host, NetnsRound, Round, Row},
};

/// Above the first lines.
pub(crate) const HEADER: &str = concat!(
    "TIME      ADDRESS               QUEUE/LIMIT  HIGH   DROPS DROPS/s",
    "  AT-SYN  AT-ACK   SYN-Q   OTHER    EVER      P50      P99  OWNER"
);

/// What a round tells of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spans {
    /// The time since the start, too.
    Interval,
    /// One moment: nothing has been counted yet.
    Moment,
}

/// The lines, each with its time and a line feed.
pub(crate) fn lines(round: &Round, spans: Spans) -> String {
    let several = round.namespaces.len() > 1;
    let netns_of = |netns: u64| {
        let round = round.namespaces.iter().find(|round| round.netns == netns);
        if several { format!("  netns {}", round.map_or_else(String::new, called)) } else { String::new() }
    };
    let entries = arranged(round, Sort::Drops).into_iter().map(|entry| match entry {
        Entry::Group(group) => group_text(group, spans) + &netns_of(group.netns),
        Entry::Row(row) => row_text(row, spans) + &netns_of(row.netns),
    });
    let hosts = round.namespaces.iter().map(|netns| {
        let name = if several { format!(" netns {}", called(netns)) } else { String::new() };
        format!("host{name}  {}", host_text(&netns.host, spans))
    });
    let time = round.time.get(11..19).unwrap_or_default();
    entries.chain(hosts).map(|line| format!("{time}Z {line}\n")).collect()
}

/// Name of a namespace, or its inode.
pub(crate) fn called(netns: &NetnsRound) -> String {
    netns.name.as_deref().map_or_else(|| netns.netns.to_string(), printable)
}

impl Spans {
    /// A figure that grows with time.
    fn counted(self, text: impl std::fmt::Display) -> String {
        match self {
            Self::Interval => text.to_string(),
            Self::Moment => "-".to_owned(),
        }
    }
}

fn row_text(row: &Row, spans: Spans) -> String {
    let queue = format!("{}/{}", row.queue, row.limit);
    let wait = row.accept_wait.map(|wait| wait.recent);
    let time = |ns: Option<u64>| ns.map_or_else(|| "-".to_owned(), |ns| units::duration(ns).replace(' ', ""));
    let causes = row.causes;
    let at_ack = causes.accept_queue_at_ack.map_or_else(|| "-".to_owned(), |number| number.to_string());
    format!(
        "{:<21} {queue:>11} {:>5} {:>7} {:>7} {:>7} {at_ack:>7} {:>7} {:>7} {:>7} {:>8} {:>8}  {}{}",
        row.address.to_string(),
        spans.counted(row.high),
        spans.counted(row.drops),
        spans.counted(format_args!("{:.1}", row.drops_per_s)),
        spans.counted(causes.accept_queue_at_syn),
        spans.counted(causes.syn_queue),
        spans.counted(causes.other),
        row.drops_ever,
        time(wait.and_then(|wait| wait.p50_ns)),
        time(wait.and_then(|wait| wait.p99_ns)),
        printable(row.owner.as_deref().unwrap_or("-")),
        if row.gone { "  (closed)" } else { "" },
    )
}

fn group_text(group: &Group, spans: Spans) -> String {
    let queue = format!("{}/{}", group.queue, group.limit);
    format!(
        "{:<21} {queue:>11} {:>5} {:>7} {:>7}  group of {}, {} full",
        group.address.to_string(),
        "",
        spans.counted(group.drops),
        spans.counted(format_args!("{:.1}", group.drops_per_s)),
        group.members,
        group.full
    )
}

/// The namespace's counters since the start and per second, and what there is now.
fn host_text(host: &Host, spans: Spans) -> String {
    let counter = |name: &str, count: &Count| format!("{name} {} ({:.1}/s)", count.since_start, count.per_s);
    let mut words = Vec::new();
    if spans == Spans::Interval {
        words.push(counter("ListenOverflows", &host.listen_overflows));
        words.push(counter("ListenDrops", &host.listen_drops));
        let syns = host.syn_retransmits.as_ref().unwrap_or(&host.handshake_retransmits);
        words.push(counter("SYN retransmits", syns));
        words.extend(host.syn_ack_retransmits.as_ref().map(|count| counter("SYN-ACK retransmits", count)));
        words.push(counter("SYN-queue drops", &host.syn_queue_drops));
        words.push(counter("cookies", &host.cookies));
        words.push(format!("TIME_WAIT now {} (+{:.1}/s)", host.time_wait, host.time_wait_made.per_s));
    } else {
        words.push(format!("TIME_WAIT now {}", host.time_wait));
    }
    words.extend(host.ports().map(|ports| format!("ports at most {} of {ports}", host.ports_at_most.min(ports))));
    let of = |limit: Option<u64>| limit.map_or_else(String::new, |limit| format!(" of {limit}"));
    words.push(format!("orphans {}{}", host.orphans, of(host.max_orphans)));
    words.push(format!("memory {}{} pages", host.memory_pages, of(host.memory_pressure_pages)));
    words.join("  ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::{
        groups,
        sample::{round, row},
    };

    #[test]
    fn a_line_says_queue_limit_high_water_drops_by_cause_wait_and_owner() {
        let round = round(vec![Row { owner: Some("1/echo\x1b[31m".to_owned()), ..row("0.0.0.0:9988") }]);
        let text = lines(&round, Spans::Interval);
        let expected = "10:00:00Z 0.0.0.0:9988                3/128   129     271    13.6     250      15       4       2     \
                        300    120us   2.50ms  1/echo\\u{1b}[31m\n";
        assert!(text.starts_with(expected), "{text}");
        assert!(text.contains("\n10:00:00Z host  ListenOverflows 271 (13.6/s)  ListenDrops 280 (14.0/s)"), "{text}");
        assert!(text.contains("TIME_WAIT now 12 (+6.0/s)  ports at most 512 of 28232  orphans 1 of 131072"), "{text}");
    }

    #[test]
    fn columns_stand_below_their_names() {
        let line = lines(&round(vec![Row { drops: 9_999_999, ..row("255.255.255.255:65535") }]), Spans::Interval);
        let line = line.lines().next().expect("a line");
        for (name, value) in [("DROPS", "9999999"), ("AT-SYN", "250"), ("OTHER", "2"), ("P99", "2.50ms")] {
            let end = |text: &str, word: &str| text.find(word).map(|at| at + word.len());
            assert_eq!(end(HEADER, &format!("{name} ")), end(line, &format!(" {value} ")), "{name}\n{HEADER}\n{line}");
        }
    }

    #[test]
    fn without_the_probes_what_they_would_tell_is_a_dash() {
        let bare = Row { accept_wait: None, asked: None, ..row("0.0.0.0:1") };
        let text = lines(&round(vec![Row { causes: super::super::round::Causes::default(), ..bare }]), Spans::Interval);
        let words: Vec<&str> = text.lines().next().expect("a line").split_whitespace().collect();
        assert_eq!((words[7], words[11], words[12]), ("-", "-", "-"));
    }

    #[test]
    fn of_one_moment_nothing_is_counted_but_the_sockets_own_counter() {
        let text = lines(&round(vec![Row { accept_wait: None, ..row("0.0.0.0:1") }]), Spans::Moment);
        let mut lines = text.lines();
        let words: Vec<&str> = lines.next().expect("a line").split_whitespace().skip(2).collect();
        assert_eq!(words[..9], ["3/128", "-", "-", "-", "-", "15", "-", "-", "300"]);
        assert!(lines.next().expect("a line").starts_with("10:00:00Z host  TIME_WAIT now 12  ports"), "{text}");
    }

    #[test]
    fn a_group_has_a_line_of_its_own_above_its_members() {
        let mut rows = vec![row("0.0.0.0:80"), row("0.0.0.0:80")];
        let groups = groups::found(&mut rows, |_| 0);
        let mut round = round(rows);
        round.namespaces[0].groups = groups;
        let text = lines(&round, Spans::Interval);
        assert!(text.lines().next().expect("a line").ends_with("542    27.1  group of 2, 0 full"), "{text}");
        assert_eq!(text.lines().count(), 4);
    }
}
