//! Why a listener dropped connection attempts, as far as the kernel tells. Pure.
//!
//! A SYN that is dropped fires no event that names its listener: there is only the socket's own drop counter, and the
//! namespace's counters by cause. So a cause is given to a listener only where nothing else can have been the cause.
//! A segment dropped at the final ACK moves the socket's counter by 2 (v6.18 `tcp_v4_syn_recv_sock`, `tcp_v4_rcv`), one
//! of a half-open connection that is put aside by 1 (v6.18 `tcp_check_req`); both are known by events.

use super::round::Causes;

/// The namespace's counters that tell causes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ListenCounters {
    /// `ListenOverflows`: accept queue full, at the SYN or at the final ACK.
    pub(crate) overflows: i64,
    /// `ListenDrops`: for any cause.
    pub(crate) drops: i64,
    /// `TCPReqQFullDrop`: SYN queue full, and no cookie sent.
    pub(crate) syn_queue: i64,
    /// `TCPReqQFullDoCookies`: SYN queue full, and a cookie sent.
    pub(crate) cookies: i64,
}

impl ListenCounters {
    pub(super) fn since(self, earlier: Self) -> Self {
        Self {
            overflows: self.overflows - earlier.overflows,
            drops: self.drops - earlier.drops,
            syn_queue: self.syn_queue - earlier.syn_queue,
            cookies: self.cookies - earlier.cookies,
        }
    }
}

/// How far one listener moved in a stretch of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Moved {
    /// The socket's drop counter.
    pub(crate) counter: u64,
    /// Drops at the final ACK.
    pub(crate) at_ack: u64,
    /// Segments put aside, which are no drops of connections.
    pub(crate) discarded: u64,
}

impl Moved {
    /// Drops at the SYN; `None` when the readings cannot be of the same stretch.
    fn at_syn(self) -> Option<u64> {
        self.counter.checked_sub(2 * self.at_ack)?.checked_sub(self.discarded)
    }

    /// Connection attempts dropped.
    pub(crate) fn attempts(self) -> u64 {
        self.counter.saturating_sub(self.at_ack + self.discarded)
    }
}

/// How sure the two readings are of the same stretch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Patience {
    /// Drops may have come between reading the sockets and reading the counters: a later look will tell.
    MayWait,
    /// The counters' stretch contains the sockets'; decide now.
    Decide,
}

/// Divides up what each listener dropped; `None` when a later look will know more.
///
/// `counters` is how far the namespace's moved.
pub(crate) fn divide(moved: &[Moved], counters: ListenCounters, patience: Patience) -> Option<Vec<Causes>> {
    let sum = |of: fn(&Moved) -> u64| i64::try_from(moved.iter().map(of).sum::<u64>()).unwrap_or(i64::MAX);
    let (attempts, at_ack) = (sum(|one| one.attempts()), sum(|one| one.at_ack));
    let kinds = Kinds {
        accept_queue: counters.overflows - at_ack,
        syn_queue: counters.syn_queue,
        rest: counters.drops - counters.overflows - counters.syn_queue,
    };
    let whole = moved.iter().all(|one| one.at_syn().is_some()) && kinds.possible();
    let same_stretch = whole && attempts == counters.drops;
    if !same_stretch && patience == Patience::MayWait {
        return None;
    }
    let dropping = moved.iter().filter(|one| one.at_syn() > Some(0)).count();
    let known = same_stretch || (whole && attempts <= counters.drops && kinds.is_one());
    Some(moved.iter().map(|one| kinds.of(*one, known, dropping)).collect())
}

/// Drops at the SYN of a namespace, by cause.
#[derive(Clone, Copy)]
struct Kinds {
    accept_queue: i64,
    syn_queue: i64,
    /// `ListenDrops` without a counter of its own: SYN queue three quarters full without cookies, no memory, no route.
    rest: i64,
}

impl Kinds {
    fn possible(self) -> bool {
        self.accept_queue >= 0 && self.syn_queue >= 0 && self.rest >= 0
    }

    fn is_one(self) -> bool {
        [self.accept_queue, self.syn_queue, self.rest].iter().filter(|&&number| number > 0).count() <= 1
    }

    fn of(self, one: Moved, known: bool, dropping: usize) -> Causes {
        let at_syn = one.at_syn().unwrap_or(0);
        let mut causes = Causes { accept_queue_at_ack: Some(one.at_ack), ..Causes::default() };
        let unsigned = |number: i64| u64::try_from(number).unwrap_or(0);
        if known && self.is_one() {
            match self {
                Self { accept_queue: 1.., .. } => causes.accept_queue_at_syn = at_syn,
                Self { syn_queue: 1.., .. } => causes.syn_queue = at_syn,
                _ => causes.other = at_syn,
            }
        } else if known && dropping == 1 && at_syn > 0 {
            causes.accept_queue_at_syn = unsigned(self.accept_queue);
            causes.syn_queue = unsigned(self.syn_queue);
            causes.other = unsigned(self.rest);
        } else {
            causes.other = at_syn;
        }
        causes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counters(overflows: i64, drops: i64, syn_queue: i64) -> ListenCounters {
        ListenCounters { overflows, drops, syn_queue, cookies: 0 }
    }

    fn moved(pairs: &[(u64, u64)]) -> Vec<Moved> {
        pairs.iter().map(|&(counter, at_ack)| Moved { counter, at_ack, discarded: 0 }).collect()
    }

    fn causes(syn: u64, ack: u64, queue: u64, other: u64) -> Causes {
        Causes { accept_queue_at_syn: syn, accept_queue_at_ack: Some(ack), syn_queue: queue, other }
    }

    #[test]
    fn an_overflow_at_the_final_ack_moves_the_sockets_counter_by_two_and_is_one_drop() {
        let divided = divide(&moved(&[(43 + 2 * 15, 15)]), counters(58, 58, 0), Patience::MayWait);
        assert_eq!(divided, Some(vec![causes(43, 15, 0, 0)]));
    }

    #[test]
    fn segments_put_aside_are_no_drops() {
        let one = Moved { counter: 26 + 2 * 18 + 5, at_ack: 18, discarded: 26 };
        assert_eq!(one.attempts(), 23);
        assert_eq!(divide(&[one], counters(23, 23, 0), Patience::MayWait), Some(vec![causes(5, 18, 0, 0)]));
    }

    #[test]
    fn a_cause_that_was_the_only_one_is_that_of_every_listener() {
        let both = moved(&[(10, 0), (20, 0)]);
        assert_eq!(
            divide(&both, counters(30, 30, 0), Patience::MayWait),
            Some(vec![causes(10, 0, 0, 0), causes(20, 0, 0, 0)])
        );
        assert_eq!(
            divide(&both, counters(0, 30, 30), Patience::MayWait),
            Some(vec![causes(0, 0, 10, 0), causes(0, 0, 20, 0)])
        );
        assert_eq!(
            divide(&both, counters(0, 30, 0), Patience::MayWait),
            Some(vec![causes(0, 0, 0, 10), causes(0, 0, 0, 20)])
        );
    }

    #[test]
    fn several_causes_are_told_apart_for_the_only_listener_that_dropped() {
        let divided = divide(&moved(&[(0, 0), (30, 0)]), counters(12, 30, 10), Patience::MayWait);
        assert_eq!(divided, Some(vec![causes(0, 0, 0, 0), causes(12, 0, 10, 8)]));
    }

    #[test]
    fn several_causes_of_several_listeners_are_not_guessed() {
        let divided = divide(&moved(&[(10, 0), (24, 2)]), counters(12 + 2, 32, 18), Patience::MayWait);
        assert_eq!(divided, Some(vec![causes(0, 0, 0, 10), causes(0, 2, 0, 20)]));
    }

    #[test]
    fn readings_of_different_stretches_wait_for_the_next_look() {
        // A drop between the sockets' reading and the counters'.
        assert_eq!(divide(&moved(&[(10, 0)]), counters(11, 11, 0), Patience::MayWait), None);
        // Between the two counters of one drop.
        assert_eq!(divide(&moved(&[(10, 0)]), counters(11, 10, 0), Patience::MayWait), None);
        // An event that came before the counter that it belongs to was read.
        assert_eq!(divide(&moved(&[(1, 1)]), counters(1, 1, 0), Patience::MayWait), None);
    }

    #[test]
    fn a_longer_stretch_of_the_counters_still_tells_the_only_cause() {
        let both = moved(&[(10, 0), (20, 0)]);
        assert_eq!(
            divide(&both, counters(35, 35, 0), Patience::Decide),
            Some(vec![causes(10, 0, 0, 0), causes(20, 0, 0, 0)])
        );
        // Two causes: which drops lie outside is unknown.
        assert_eq!(divide(&moved(&[(10, 0)]), counters(6, 12, 6), Patience::Decide), Some(vec![causes(0, 0, 0, 10)]));
    }

    #[test]
    fn what_a_socket_dropped_beyond_the_counters_is_other() {
        // A socket filter, or final ACKs without the probes: not in ListenDrops.
        assert_eq!(divide(&moved(&[(7, 0)]), counters(0, 0, 0), Patience::Decide), Some(vec![causes(0, 0, 0, 7)]));
        assert_eq!(divide(&moved(&[(9, 0)]), counters(5, 5, 0), Patience::Decide), Some(vec![causes(0, 0, 0, 9)]));
    }
}
