//! Latencies that sit where a timer of TCP puts them.

use reports::{
    bench::{BenchResult, Finding, Machine, Unit},
    histogram::Histogram,
    units,
};

use super::finding;

const MS: u64 = 1_000_000;
const SECOND: u64 = 1000 * MS;
/// A connect that waited for a second SYN takes this little longer than a whole second.
const SYN_SLACK_NS: u64 = 100 * MS;
/// The last SYN of v6.18 tcp_syn_linear_timeouts is sent well before.
const MOST_SECONDS: u64 = 20;
/// A heap is no accident when it has this share of all, and this many times what lies beside it.
const HEAP_SHARE: f64 = 0.01;
const HEAP_RATIO: u64 = 3;

/// Share of all CPUs' time from which on requests queue for them.
const BUSY: f64 = 0.9;

/// Requests in a range, and how wide its surroundings are.
struct Heap {
    name: &'static str,
    from_ns: u64,
    to_ns: u64,
    meaning: &'static str,
}

const HEAPS: [Heap; 2] = [
    Heap {
        name: "delayed-ack",
        from_ns: 39 * MS,
        to_ns: 46 * MS,
        meaning: "about 40 ms: a delayed ACK, held back by a peer with unsent data and no TCP_NODELAY",
    },
    Heap {
        name: "min-rto",
        from_ns: 199 * MS,
        to_ns: 216 * MS,
        meaning: "about 200 ms: a segment that was lost or dropped and sent again (the least RTO)",
    },
];

/// SYNs that were sent again, delayed ACKs, retransmits.
pub(super) fn clusters(result: &BenchResult) -> Vec<Finding> {
    let busy = result.machine.as_ref().and_then(Machine::shares).map_or(0.0, |shares| shares.iter().sum());
    let heaps = HEAPS.iter().filter(|heap| !is_queueing(&result.request, busy, heap));
    let heaps = heaps.filter_map(|heap| heaped(&result.request, heap));
    syn_back_off(&result.connect).into_iter().chain(heaps).collect()
}

fn syn_back_off(connects: &Histogram) -> Option<Finding> {
    let count: u64 =
        (1..=MOST_SECONDS).map(|second| within(connects, second * SECOND, second * SECOND + SYN_SLACK_NS)).sum();
    let text = format!(
        "{} took whole seconds: SYNs were dropped, as by a full accept queue, and sent again; raise the server's \
         --backlog and somaxconn, or use fewer connections",
        units::counted(count, "connect")
    );
    (count > 0).then(|| finding("syn-back-off", true, (count as f64, Unit::Count), text))
}

/// Most requests are there and the CPUs had no time left: they waited for their turn, not for a timer.
fn is_queueing(requests: &Histogram, busy: f64, heap: &Heap) -> bool {
    let median = requests.quantile(0.5).unwrap_or(0);
    busy >= BUSY && median + (heap.to_ns - heap.from_ns) >= heap.from_ns
}

fn heaped(requests: &Histogram, heap: &Heap) -> Option<Finding> {
    let count = within(requests, heap.from_ns, heap.to_ns);
    let width_ns = heap.to_ns - heap.from_ns;
    let beside =
        within(requests, heap.from_ns - width_ns, heap.from_ns) + within(requests, heap.to_ns, heap.to_ns + width_ns);
    let is_heap = count as f64 >= HEAP_SHARE * requests.count().max(1) as f64 && count > HEAP_RATIO * (beside / 2);
    let text = format!("{} took {}", units::counted(count, "request"), heap.meaning);
    (is_heap && count > 1).then(|| finding(heap.name, true, (count as f64, Unit::Count), text))
}

/// Values whose bucket's middle lies in the range.
fn within(histogram: &Histogram, from_ns: u64, to_ns: u64) -> u64 {
    let inside = histogram.buckets().filter(|&(low, width, _)| (from_ns..to_ns).contains(&(low + width / 2)));
    inside.map(|(_, _, count)| count).sum()
}

#[cfg(test)]
mod tests {
    use reports::histogram::FINE;

    use super::*;

    fn histogram(values: impl Iterator<Item = u64>) -> Histogram {
        let mut histogram = Histogram::new(FINE);
        values.for_each(|value| histogram.record(value));
        histogram
    }

    #[test]
    fn whole_seconds_are_seen_and_others_are_not() {
        let connects = [SECOND + 3 * MS, 3 * SECOND + 20 * MS, SECOND + 500 * MS, 900 * MS, 80_000];
        let found = syn_back_off(&histogram(connects.into_iter())).expect("two of them");
        assert!((found.value - 2.0).abs() < 1e-9);
        assert!(syn_back_off(&histogram([900 * MS, 1_200 * MS].into_iter())).is_none());
    }

    #[test]
    fn a_heap_at_40_ms_is_a_delayed_ack_and_a_smooth_slope_is_not() {
        let fast = (0..5000).map(|number| 100_000 + number * 10);
        let heap = (0..100).map(|number| 40 * MS + number * 20_000);
        assert!(heaped(&histogram(fast.clone().chain(heap)), &HEAPS[0]).is_some());
        let slope = (0..1000).map(|number| number * 100_000);
        assert!(heaped(&histogram(fast.chain(slope)), &HEAPS[0]).is_none());
    }

    #[test]
    fn requests_that_queue_for_a_busy_cpu_wait_for_no_timer() {
        let narrow = histogram((0..1000).map(|number| 39 * MS + number * 5_000));
        assert!(heaped(&narrow, &HEAPS[0]).is_some());
        assert!(is_queueing(&narrow, 0.99, &HEAPS[0]));
        assert!(!is_queueing(&narrow, 0.2, &HEAPS[0]));
        let fast = histogram((0..1000).map(|number| 100_000 + number));
        assert!(!is_queueing(&fast, 0.99, &HEAPS[0]));
    }
}
