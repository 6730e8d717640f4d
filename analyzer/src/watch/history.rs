//! What `watch` remembers between looks, and what follows from it. Pure: no system calls.

use std::{
    collections::{BTreeMap, BTreeSet},
    net::SocketAddr,
    time::Instant,
};

use reports::counters::KernelCounters;

use crate::sockets::{listeners::Listener, owners::Owner};

/// Counters of the host lines: our name, the kernel's.
const HOST_COUNTERS: [(&str, &str); 3] = [
    ("ListenOverflows", "TcpExt.ListenOverflows"),
    ("ListenDrops", "TcpExt.ListenDrops"),
    ("SYN retransmits", "TcpExt.TCPSynRetrans"),
];

/// One listening socket over time.
struct Track {
    now: Listener,
    high: u32,
    /// Drops when we began to look, and at the last round. The kernel's counter wraps at 2^32.
    drops_at_begin: u32,
    drops_at_round: u32,
    owner: Option<String>,
    looked_up: bool,
    gone: bool,
}

/// Everything that is remembered.
pub(crate) struct History {
    tracks: BTreeMap<u64, Track>,
    first: KernelCounters,
    last: KernelCounters,
    last_at: Instant,
}

/// A row of one round.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Row {
    pub(crate) address: SocketAddr,
    pub(crate) owner: String,
    pub(crate) queue: u32,
    pub(crate) limit: u32,
    pub(crate) high: u32,
    pub(crate) drops: u32,
    pub(crate) drops_per_s: f64,
    /// Drops since the socket was made.
    pub(crate) drops_ever: u32,
    /// Closed since; shown on because it dropped connections.
    pub(crate) gone: bool,
}

/// A counter of the host in one round.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct HostCount {
    pub(crate) name: &'static str,
    pub(crate) since_start: i64,
    pub(crate) per_s: f64,
}

/// What is shown at one time.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Round {
    pub(crate) rows: Vec<Row>,
    pub(crate) host: Vec<HostCount>,
    /// Sockets in `TIME_WAIT` now.
    pub(crate) time_wait: u64,
}

impl History {
    /// The first look, against which everything is counted.
    pub(crate) fn begin(listeners: Vec<Listener>, counters: KernelCounters, at: Instant) -> Self {
        let mut history = Self { tracks: BTreeMap::new(), first: counters.clone(), last: counters, last_at: at };
        for listener in listeners {
            history.tracks.insert(listener.cookie, Track::new(listener.clone(), listener.drops));
        }
        history
    }

    /// A look between rounds.
    pub(crate) fn look(&mut self, listeners: Vec<Listener>) {
        let seen: BTreeSet<u64> = listeners.iter().map(|listener| listener.cookie).collect();
        for listener in listeners {
            // A socket that came later began with no drops.
            let track = self.tracks.entry(listener.cookie).or_insert_with(|| Track::new(listener.clone(), 0));
            track.high = track.high.max(listener.queue);
            track.now = listener;
        }
        for (cookie, track) in &mut self.tracks {
            track.gone = !seen.contains(cookie);
        }
        self.tracks.retain(|_, track| !track.gone || track.drops() > 0);
    }

    /// Inodes of sockets whose owner was not looked for yet.
    pub(crate) fn unnamed(&self) -> impl Iterator<Item = u32> + '_ {
        self.tracks.values().filter(|track| !track.looked_up && !track.gone).map(|track| track.now.inode)
    }

    /// Takes the owners that were found; sockets without one stay nameless.
    pub(crate) fn name(&mut self, owners: &BTreeMap<u32, Owner>) {
        for track in self.tracks.values_mut().filter(|track| !track.looked_up) {
            // Short, and as `netstat -p` has it.
            track.owner = owners.get(&track.now.inode).map(|owner| format!("{}/{}", owner.pid, owner.command));
            track.looked_up = true;
        }
    }

    /// Ends a round: worst rows first.
    pub(crate) fn round(&mut self, counters: KernelCounters, at: Instant) -> Round {
        let seconds = at.duration_since(self.last_at).as_secs_f64().max(1e-3);
        let mut rows: Vec<Row> = self.tracks.values_mut().map(|track| track.row(seconds)).collect();
        rows.sort_by(|a, b| (b.drops, b.queue, a.address).cmp(&(a.drops, a.queue, b.address)));
        let host = HOST_COUNTERS.map(|(name, kernel_name)| {
            let now = counters.get(kernel_name);
            HostCount {
                name,
                since_start: now - self.first.get(kernel_name),
                per_s: (now - self.last.get(kernel_name)) as f64 / seconds,
            }
        });
        let time_wait = counters.time_wait;
        (self.last, self.last_at) = (counters, at);
        Round { rows, host: host.to_vec(), time_wait }
    }
}

impl Track {
    fn new(now: Listener, drops_at_begin: u32) -> Self {
        Self {
            high: now.queue,
            drops_at_begin,
            drops_at_round: drops_at_begin,
            now,
            owner: None,
            looked_up: false,
            gone: false,
        }
    }

    fn drops(&self) -> u32 {
        self.now.drops.wrapping_sub(self.drops_at_begin)
    }

    fn row(&mut self, seconds: f64) -> Row {
        let new = self.now.drops.wrapping_sub(self.drops_at_round);
        self.drops_at_round = self.now.drops;
        Row {
            address: self.now.address,
            owner: self.owner.clone().unwrap_or_else(|| "-".to_owned()),
            queue: if self.gone { 0 } else { self.now.queue },
            limit: self.now.limit,
            high: self.high,
            drops: self.drops(),
            drops_per_s: f64::from(new) / seconds,
            drops_ever: self.now.drops,
            gone: self.gone,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn listener(cookie: u64, queue: u32, drops: u32) -> Listener {
        Listener { address: "127.0.0.1:9988".parse().expect("valid"), cookie, inode: 7, queue, limit: 16, drops }
    }

    fn rounds(looks: Vec<Vec<Listener>>) -> Round {
        let start = Instant::now();
        let mut looks = looks.into_iter();
        let first = looks.next().unwrap_or_default();
        let mut history = History::begin(first, KernelCounters::default(), start);
        looks.for_each(|look| history.look(look));
        history.round(KernelCounters::default(), start + Duration::from_secs(2))
    }

    #[test]
    fn drops_count_from_our_start_and_the_high_water_mark_from_every_look() {
        let round = rounds(vec![vec![listener(1, 0, 100)], vec![listener(1, 17, 104)], vec![listener(1, 2, 110)]]);
        let row = &round.rows[0];
        assert_eq!((row.queue, row.high, row.drops), (2, 17, 10));
        assert!((row.drops_per_s - 5.0).abs() < 1e-9);
    }

    #[test]
    fn a_socket_that_came_later_counts_from_nothing_and_a_counter_may_wrap() {
        assert_eq!(rounds(vec![vec![], vec![listener(1, 0, 3)]]).rows[0].drops, 3);
        assert_eq!(rounds(vec![vec![listener(1, 0, u32::MAX)], vec![listener(1, 0, 4)]]).rows[0].drops, 5);
    }

    #[test]
    fn a_closed_socket_stays_only_if_it_dropped_something() {
        assert!(rounds(vec![vec![listener(1, 0, 0)], vec![]]).rows.is_empty());
        let round = rounds(vec![vec![listener(1, 0, 0)], vec![listener(1, 3, 9)], vec![]]);
        assert_eq!((round.rows[0].gone, round.rows[0].queue, round.rows[0].drops), (true, 0, 9));
    }

    #[test]
    fn two_sockets_on_one_address_are_two_rows_and_the_worst_is_first() {
        let round =
            rounds(vec![vec![listener(1, 0, 0), listener(2, 0, 0)], vec![listener(1, 0, 1), listener(2, 0, 6)]]);
        assert_eq!(round.rows.iter().map(|row| row.drops).collect::<Vec<_>>(), [6, 1]);
    }
}
