//! What `watch` remembers of one network namespace between looks, and what follows from it. Pure: no system calls.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Instant,
};

use probes::watch::NetnsEvents;
use reports::counters::KernelCounters;

use super::{
    causes::{self, ListenCounters, Moved, Patience},
    groups,
    round::{Count, Host, NetnsRound, Row},
    settings::Settings,
    track::Track,
};
use crate::{
    bpf::watch::ListenerSeen,
    sockets::{listeners::Listener, owners::Owner},
};

/// Looks after which pending drops are divided up with what is known.
const LOOKS_TO_WAIT: u32 = 5;

/// A reading of the sockets and, where some dropped something, of the counters right after.
pub(crate) struct Look {
    pub(crate) listeners: Vec<Listener>,
    /// By cookie; those that are not there have not changed, or there are no probes.
    pub(crate) seen: BTreeMap<u64, ListenerSeen>,
    pub(crate) counters: Option<ListenCounters>,
}

/// Readings that end an interval.
pub(crate) struct Ending {
    pub(crate) counters: KernelCounters,
    pub(crate) retransmits: Option<NetnsEvents>,
    pub(crate) settings: Settings,
    pub(crate) at: Instant,
}

/// Everything that is remembered of one namespace.
pub(crate) struct History {
    netns: u64,
    tracks: BTreeMap<u64, Track>,
    /// Readings of the start and of the last interval's end.
    first: Ending,
    last_counters: KernelCounters,
    last_retransmits: Option<NetnsEvents>,
    last_at: Instant,
    /// The counters up to which drops are divided up, those of the last look, and looks since the former.
    divided: ListenCounters,
    looked: ListenCounters,
    looks_pending: u32,
    /// More than one listener was there at some time.
    several: bool,
}

/// The counters that tell causes, out of a whole reading.
pub(crate) fn listen_counters(counters: &KernelCounters) -> ListenCounters {
    ListenCounters {
        overflows: counters.get("TcpExt.ListenOverflows"),
        drops: counters.get("TcpExt.ListenDrops"),
        syn_queue: counters.get("TcpExt.TCPReqQFullDrop"),
        cookies: counters.get("TcpExt.TCPReqQFullDoCookies"),
    }
}

impl History {
    /// The first look, against which everything is counted.
    pub(crate) fn begin(netns: u64, look: Look, first: Ending) -> Self {
        let counters = listen_counters(&first.counters);
        let unseen = ListenerSeen::default();
        let track = |listener: Listener| {
            let seen = look.seen.get(&listener.cookie).unwrap_or(&unseen);
            (listener.cookie, Track::new(listener, seen, false))
        };
        let tracks: BTreeMap<u64, Track> = look.listeners.into_iter().map(track).collect();
        Self {
            netns,
            several: tracks.len() > 1,
            tracks,
            last_counters: first.counters.clone(),
            last_retransmits: first.retransmits,
            last_at: first.at,
            divided: counters,
            looked: counters,
            looks_pending: 0,
            first,
        }
    }

    /// Whether some listener dropped something since the last look, or earlier drops still wait for their cause.
    pub(crate) fn asks_for_counters(&self, listeners: &[Listener]) -> bool {
        let moved = |listener: &Listener| match self.tracks.get(&listener.cookie) {
            Some(track) => track.differs(listener),
            None => listener.drops > 0,
        };
        self.looks_pending > 0 || listeners.iter().any(moved)
    }

    /// Whether what the probes saw of a listener is needed at this look.
    pub(crate) fn asks_for_events(&self, listener: &Listener) -> bool {
        self.tracks
            .get(&listener.cookie)
            .is_none_or(|track| track.differs(listener) || track.pending() != Moved::default())
    }

    /// A look between rounds, or the last one of a round.
    pub(crate) fn look(&mut self, look: Look) {
        let present: BTreeSet<u64> = look.listeners.iter().map(|listener| listener.cookie).collect();
        let unseen = ListenerSeen::default();
        for listener in look.listeners {
            let seen = look.seen.get(&listener.cookie);
            if let Some(track) = self.tracks.get_mut(&listener.cookie) {
                track.look(listener, seen);
            } else {
                // A socket that came later began with no drops.
                let track = Track::new(listener.clone(), seen.unwrap_or(&unseen), true);
                self.tracks.insert(listener.cookie, track);
            }
        }
        for (cookie, track) in &mut self.tracks {
            track.gone = !present.contains(cookie);
        }
        if let Some(counters) = look.counters {
            self.divide(counters);
        }
        self.tracks.retain(|_, track| !track.gone || track.drops() > 0);
        self.several |= self.tracks.len() > 1;
    }

    fn divide(&mut self, counters: ListenCounters) {
        let quiet = counters == self.looked;
        let before_this_look = std::mem::replace(&mut self.looked, counters);
        let pending: Vec<Moved> = self.tracks.values().map(Track::pending).collect();
        let moved = counters.since(self.divided);
        if pending.iter().all(|one| *one == Moved::default()) && moved.drops == 0 {
            (self.divided, self.looks_pending) = (counters, 0);
            self.add_cookies(moved.cookies);
            return;
        }
        // Readings that agree no better after a quiet look never will: a listener is gone with its counter.
        let decide = self.looks_pending >= LOOKS_TO_WAIT || (quiet && self.looks_pending > 0);
        if let Some(divided) = causes::divide(&pending, moved, Patience::MayWait) {
            self.settle(divided, counters, moved.cookies);
        } else if decide && let Some(divided) = causes::divide(&pending, moved, Patience::Decide) {
            // Drops since the sockets were read are in the counters already: the next stretch begins before them.
            let cookies = before_this_look.since(self.divided).cookies;
            self.settle(divided, before_this_look, cookies);
        } else {
            self.looks_pending += 1;
        }
    }

    fn settle(&mut self, divided: Vec<super::round::Causes>, up_to: ListenCounters, cookies: i64) {
        for (track, causes) in self.tracks.values_mut().zip(divided) {
            track.divide(causes);
        }
        (self.divided, self.looks_pending) = (up_to, 0);
        self.add_cookies(cookies);
    }

    fn add_cookies(&mut self, cookies: i64) {
        if let (1, Some(only)) = (self.tracks.len(), self.tracks.values_mut().next()) {
            only.cookies += u64::try_from(cookies).unwrap_or(0);
        }
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

    /// Ends a round.
    pub(crate) fn round(&mut self, ending: Ending, name: Option<String>) -> NetnsRound {
        let seconds = ending.at.duration_since(self.last_at).as_secs_f64().max(1e-3);
        let (netns, alone) = (self.netns, !self.several);
        let mut listeners: Vec<Row> = self.tracks.values_mut().map(|track| track.row(netns, seconds, alone)).collect();
        let groups =
            groups::found(&mut listeners, |cookie| self.tracks.get(&cookie).map_or(0, |track| track.now.interface));
        let host = self.host(&ending, seconds);
        (self.last_counters, self.last_retransmits, self.last_at) = (ending.counters, ending.retransmits, ending.at);
        NetnsRound { netns, name, listeners, groups, host }
    }

    fn host(&self, ending: &Ending, seconds: f64) -> Host {
        let (first, last, now) = (&self.first.counters, &self.last_counters, &ending.counters);
        let count = |names: &[&str]| {
            let of = |reading: &KernelCounters| names.iter().map(|name| reading.get(name)).sum::<i64>();
            Count { since_start: of(now) - of(first), per_s: (of(now) - of(last)) as f64 / seconds }
        };
        let events = |of: fn(&NetnsEvents) -> u64| {
            let first = self.first.retransmits.as_ref().map(of)?;
            let (last, now) = (self.last_retransmits.as_ref().map(of)?, ending.retransmits.as_ref().map(of)?);
            let since_start = i64::try_from(now.saturating_sub(first)).unwrap_or(i64::MAX);
            Some(Count { since_start, per_s: now.saturating_sub(last) as f64 / seconds })
        };
        let settings = ending.settings;
        Host {
            listen_overflows: count(&["TcpExt.ListenOverflows"]),
            listen_drops: count(&["TcpExt.ListenDrops"]),
            syn_queue_drops: count(&["TcpExt.TCPReqQFullDrop"]),
            cookies: count(&["TcpExt.TCPReqQFullDoCookies"]),
            handshake_retransmits: count(&["TcpExt.TCPSynRetrans"]),
            syn_retransmits: events(|events| events.syn_retransmits),
            syn_ack_retransmits: events(|events| events.syn_ack_retransmits),
            time_wait: now.time_wait,
            time_wait_made: count(&["TcpExt.TW", "TcpExt.TWKilled"]),
            port_range: settings.port_range,
            ports_at_most: now.in_use + now.time_wait,
            somaxconn: settings.somaxconn,
            orphans: now.orphans,
            max_orphans: settings.max_orphans,
            memory_pages: now.memory_pages,
            memory_pressure_pages: settings.memory_pressure_pages,
            memory_pressures: count(&["TcpExt.TCPMemoryPressures"]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::round::Causes;
    use std::time::Duration;

    fn listener(cookie: u64, queue: u32, drops: u32) -> Listener {
        let address = "127.0.0.1:9988".parse().expect("valid");
        Listener { address, interface: 0, cookie, inode: 7, queue, limit: 16, drops }
    }

    fn ending(at: Instant) -> Ending {
        Ending { counters: KernelCounters::default(), retransmits: None, settings: Settings::default(), at }
    }

    fn look(listeners: Vec<Listener>, counters: Option<ListenCounters>) -> Look {
        Look { listeners, seen: BTreeMap::new(), counters }
    }

    fn begun(listeners: Vec<Listener>) -> (History, Instant) {
        let start = Instant::now();
        (History::begin(1, look(listeners, None), ending(start)), start)
    }

    fn rounds(looks: Vec<Vec<Listener>>) -> NetnsRound {
        let mut looks = looks.into_iter();
        let (mut history, start) = begun(looks.next().unwrap_or_default());
        looks.for_each(|listeners| history.look(look(listeners, None)));
        history.round(ending(start + Duration::from_secs(2)), None)
    }

    fn overflows(number: i64) -> ListenCounters {
        ListenCounters { overflows: number, drops: number, ..ListenCounters::default() }
    }

    #[test]
    fn drops_count_from_our_start_and_the_high_water_mark_from_every_look() {
        let round = rounds(vec![vec![listener(1, 0, 100)], vec![listener(1, 17, 104)], vec![listener(1, 2, 110)]]);
        let row = &round.listeners[0];
        assert_eq!((row.queue, row.high, row.drops, row.drops_ever), (2, 17, 10, 110));
        assert!((row.drops_per_s - 5.0).abs() < 1e-9);
        assert_eq!(Vec::from(row.recent.queue.clone()), [17]);
    }

    #[test]
    fn a_socket_that_came_later_counts_from_nothing_and_a_counter_may_wrap() {
        assert_eq!(rounds(vec![vec![], vec![listener(1, 0, 3)]]).listeners[0].drops, 3);
        assert_eq!(rounds(vec![vec![listener(1, 0, u32::MAX)], vec![listener(1, 0, 4)]]).listeners[0].drops, 5);
    }

    #[test]
    fn a_closed_socket_stays_only_if_it_dropped_something() {
        assert!(rounds(vec![vec![listener(1, 0, 0)], vec![]]).listeners.is_empty());
        let round = rounds(vec![vec![listener(1, 0, 0)], vec![listener(1, 3, 9)], vec![]]);
        let row = &round.listeners[0];
        assert_eq!((row.gone, row.queue, row.drops), (true, 0, 9));
    }

    #[test]
    fn two_sockets_on_one_address_are_two_rows_and_a_group() {
        let round =
            rounds(vec![vec![listener(1, 0, 0), listener(2, 0, 0)], vec![listener(1, 0, 1), listener(2, 0, 6)]]);
        assert_eq!(round.listeners.iter().map(|row| row.drops).collect::<Vec<_>>(), [1, 6]);
        assert_eq!((round.groups.len(), round.groups[0].drops), (1, 7));
    }

    #[test]
    fn counters_are_asked_for_only_when_a_socket_dropped_something() {
        let (mut history, _) = begun(vec![listener(1, 0, 5)]);
        assert!(!history.asks_for_counters(&[listener(1, 3, 5)]));
        assert!(!history.asks_for_counters(&[listener(1, 3, 5), listener(2, 0, 0)]));
        assert!(history.asks_for_counters(&[listener(1, 3, 6)]));
        // The counters are behind: asked for until they agree.
        history.look(look(vec![listener(1, 3, 6)], Some(overflows(0))));
        assert!(history.asks_for_counters(&[listener(1, 3, 6)]));
        history.look(look(vec![listener(1, 3, 6)], Some(overflows(1))));
        assert!(!history.asks_for_counters(&[listener(1, 3, 6)]));
    }

    #[test]
    fn drops_whose_readings_never_agree_are_divided_up_once_all_is_quiet() {
        let (mut history, start) = begun(vec![listener(1, 0, 0), listener(2, 0, 0)]);
        // The second socket dropped 4 and was closed before a look saw that.
        history.look(look(vec![listener(1, 0, 6)], Some(overflows(10))));
        let pending = history.round(ending(start + Duration::from_secs(1)), None).listeners[0].causes;
        assert_eq!(pending, Causes { other: 6, ..Causes::default() });
        history.look(look(vec![listener(1, 0, 6)], Some(overflows(10))));
        let settled = history.round(ending(start + Duration::from_secs(2)), None).listeners[0].causes;
        // Accept-queue overflows were all that there was.
        assert_eq!(settled, Causes { accept_queue_at_syn: 6, ..Causes::default() });
        // What comes afterwards is measured from there.
        history.look(look(vec![listener(1, 0, 9)], Some(overflows(13))));
        let later = history.round(ending(start + Duration::from_secs(3)), None).listeners[0].causes;
        assert_eq!(later, Causes { accept_queue_at_syn: 9, ..Causes::default() });
    }

    #[test]
    fn cookies_are_given_to_a_listener_only_when_it_was_alone() {
        let cookies = Some(ListenCounters { cookies: 7, ..ListenCounters::default() });
        let (mut alone, start) = begun(vec![listener(1, 0, 0)]);
        alone.look(look(vec![listener(1, 0, 0)], cookies));
        assert_eq!(alone.round(ending(start), None).listeners[0].cookies, Some(7));
        let two = vec![listener(1, 0, 0), listener(2, 0, 0)];
        let (mut several, start) = begun(two.clone());
        several.look(look(two, cookies));
        assert_eq!(several.round(ending(start), None).listeners[0].cookies, None);
    }
}
