//! One listening socket over time. Pure.

use std::collections::VecDeque;

use super::{
    causes::Moved,
    round::{Causes, Recent, Row, fill},
    waits::WaitHistory,
};
use crate::{bpf::watch::ListenerSeen, sockets::listeners::Listener};

/// Intervals that the small charts go back.
pub(crate) const RECENT: usize = 120;

pub(crate) struct Track {
    pub(crate) now: Listener,
    /// What the socket's counter and the final-ACK events moved since the start; the counter itself wraps at 2^32.
    moved: Moved,
    at_begin: Moved,
    /// The same at the last division by cause, and what is known since.
    divided: Moved,
    causes: Causes,
    drops_at_round: u64,
    high: u32,
    high_of_round: u32,
    pub(crate) cookies: u64,
    seen: ListenerSeen,
    syn_acks_at_begin: u64,
    waits: WaitHistory,
    recent: Recent,
    pub(crate) owner: Option<String>,
    pub(crate) looked_up: bool,
    pub(crate) gone: bool,
}

impl Track {
    /// A socket seen for the first time; `is_new` when it was made since the start, and dropped nothing before.
    pub(crate) fn new(now: Listener, seen: &ListenerSeen, is_new: bool) -> Self {
        let at_first = moved(&now, seen);
        let (at_begin, moved, syn_acks_at_begin) = if is_new {
            (Moved::default(), at_first, 0)
        } else {
            (at_first, Moved::default(), seen.syn_ack_retransmits.unwrap_or(0))
        };
        Self {
            high: now.queue,
            high_of_round: now.queue,
            now,
            moved,
            at_begin,
            divided: Moved::default(),
            causes: Causes::default(),
            drops_at_round: 0,
            cookies: 0,
            seen: seen.clone(),
            syn_acks_at_begin,
            waits: WaitHistory::default(),
            recent: Recent::default(),
            owner: None,
            looked_up: false,
            gone: false,
        }
    }

    /// Whether the socket's counter differs from when it was last seen.
    pub(crate) fn differs(&self, now: &Listener) -> bool {
        self.now.drops != now.drops
    }

    pub(crate) fn look(&mut self, now: Listener, seen: Option<&ListenerSeen>) {
        self.moved.counter += u64::from(now.drops.wrapping_sub(self.now.drops));
        self.high = self.high.max(now.queue);
        self.high_of_round = self.high_of_round.max(now.queue);
        self.now = now;
        if let Some(seen) = seen {
            let events = moved(&self.now, seen);
            self.moved.at_ack = events.at_ack.saturating_sub(self.at_begin.at_ack);
            self.moved.discarded = events.discarded.saturating_sub(self.at_begin.discarded);
            self.seen = seen.clone();
        }
    }

    /// Movement that is not divided up yet.
    pub(crate) fn pending(&self) -> Moved {
        Moved {
            counter: self.moved.counter - self.divided.counter,
            at_ack: self.moved.at_ack - self.divided.at_ack,
            discarded: self.moved.discarded - self.divided.discarded,
        }
    }

    /// Takes the causes of what was pending.
    pub(crate) fn divide(&mut self, causes: Causes) {
        self.divided = self.moved;
        self.causes.accept_queue_at_syn += causes.accept_queue_at_syn;
        self.causes.syn_queue += causes.syn_queue;
    }

    /// Connection attempts dropped since the start.
    pub(crate) fn drops(&self) -> u64 {
        self.moved.attempts()
    }

    /// What is not divided up yet is among the others.
    fn causes(&self) -> Causes {
        let at_ack = self.moved.at_ack;
        let known = self.causes.accept_queue_at_syn + at_ack + self.causes.syn_queue;
        Causes {
            accept_queue_at_ack: self.seen.dropped_at_ack.map(|_| at_ack),
            other: self.drops().saturating_sub(known),
            ..self.causes
        }
    }

    /// Ends an interval. `alone`: no other listener may have sent the namespace's cookies.
    pub(crate) fn row(&mut self, netns: u64, seconds: f64, alone: bool) -> Row {
        let drops = self.drops();
        let new = drops.saturating_sub(self.drops_at_round);
        self.drops_at_round = drops;
        let queue = if self.gone { 0 } else { self.now.queue };
        push(&mut self.recent.queue, u64::from(self.high_of_round));
        push(&mut self.recent.drops, new);
        self.high_of_round = queue;
        if let Some(waits) = self.seen.waits.clone() {
            self.waits.push(waits);
        }
        Row {
            address: self.now.address,
            cookie: self.now.cookie,
            netns,
            owner: self.owner.clone(),
            group: None,
            queue,
            high: self.high,
            asked: self.seen.asked,
            limit: self.now.limit,
            fill: fill(u64::from(queue), u64::from(self.now.limit), 1),
            drops,
            drops_per_s: new as f64 / seconds,
            causes: self.causes(),
            drops_ever: self.now.drops,
            put_aside: self.seen.discarded.map(|_| self.moved.discarded),
            cookies: alone.then_some(self.cookies),
            syn_ack_retransmits: self.seen.syn_ack_retransmits.map(|now| now.saturating_sub(self.syn_acks_at_begin)),
            accept_wait: self.waits.summary(),
            gone: self.gone,
            recent: self.recent.clone(),
        }
    }
}

/// Counts since the socket was made, or since the probes were attached.
fn moved(now: &Listener, seen: &ListenerSeen) -> Moved {
    Moved {
        counter: u64::from(now.drops),
        at_ack: seen.dropped_at_ack.unwrap_or(0),
        discarded: seen.discarded.unwrap_or(0),
    }
}

fn push(values: &mut VecDeque<u64>, value: u64) {
    if values.len() >= RECENT {
        values.pop_front();
    }
    values.push_back(value);
}
