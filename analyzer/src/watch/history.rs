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
            match self.tracks.get_mut(&listener.cookie) {
                Some(track) => track.look(listener, seen),
                // A socket that came later began with no drops.
                None => {
                    let track = Track::new(listener.clone(), seen.unwrap_or(&unseen), true);
                    self.tracks.insert(listener.cookie, track);
                }
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
