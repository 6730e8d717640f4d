//! Recordings with everything in them: what a run of a minute looks like, and what a hostile one may look like.

use std::collections::BTreeMap;

use probes::bucket;
use reports::{
    bench::Mode,
    histogram::{FINE, Histogram, KERNEL},
    recording::{
        Abi, CallCost, Connects, GroupSample, GroupSeries, HostCpu, ListenerQueue, ListenerSample, Outcome, OwnCost,
        PortUse, ProgramCost, Recording, Resources, SERIES_SUB_BITS, Sample, Series, SeriesPoint, Side, StateTime,
        SyscallSeries, TcpSockets, Transition,
    },
};

use super::{load, lognormal, typical};

const SECOND: u64 = 1_000_000_000;
const SECONDS: u32 = 60;

/// Rising and falling numbers that look like measured ones, 0 to 999.
fn wave(moment: u32, salt: u32) -> u64 {
    let (slow, fast) = ((moment * 37 + salt * 101) % 400, (moment * 7919 + salt * 104_729) % 600);
    u64::from(slow + fast)
}

fn series_of(name: &str, per_s: u64, median_ns: u64, fails: bool) -> SyscallSeries {
    let point = |second: u32| {
        let slow = if (20..26).contains(&second) { 9 } else { 1 };
        let calls = per_s / slow + wave(second, 3);
        let mut buckets: BTreeMap<u32, u64> = BTreeMap::new();
        for (part, share) in [(1, 50), (2, 30), (4, 15), (16, 4), (64, 1)] {
            let index = bucket::index(median_ns * part * slow * slow / 2, u32::from(SERIES_SUB_BITS));
            *buckets.entry(index).or_default() += calls * share / 100;
        }
        let errors = if fails { calls / 20 * slow } else { 0 };
        SeriesPoint {
            interval: second,
            calls,
            errors,
            total_ns: calls * median_ns * slow,
            buckets: buckets.into_iter().collect(),
        }
    };
    SyscallSeries { name: name.into(), abi: Abi::Native, points: (0..SECONDS).map(point).collect() }
}

fn series() -> Series {
    let server = vec![
        series_of("close", 15_000, 27_000, false),
        series_of("sendto", 15_000, 13_000, false),
        series_of("recvfrom", 30_000, 1_900, true),
        series_of("accept4", 19_000, 4_000, true),
    ];
    let client = vec![series_of("connect", 15_000, 22_000, true), series_of("close", 15_000, 12_000, false)];
    let group = |name: &str, syscalls| GroupSeries { name: name.into(), syscalls };
    Series { interval_ns: SECOND, intervals: SECONDS, groups: vec![group("server", server), group("client", client)] }
}

fn resources() -> Resources {
    let sample = |number: u32| {
        let part = |salt, scale: u64| wave(number, salt) * scale;
        Sample {
            at_ns: u64::from(number + 1) * SECOND / 2,
            cpu: HostCpu {
                user_ns: part(1, 150_000),
                system_ns: 400_000_000 + part(2, 200_000),
                softirq_ns: part(3, 180_000),
                irq_ns: 0,
                steal_ns: part(4, 20_000),
                idle_ns: 100_000_000,
            },
            context_switches: part(5, 10),
            load: 1.5,
            sockets: TcpSockets {
                in_use: 103,
                orphan: 0,
                time_wait: (u64::from(number) * 7_500).min(28_000) + part(6, 1),
                memory_bytes: 4096,
            },
            groups: [(7, 50_000), (9, 90_000)]
                .map(|(salt, scale)| GroupSample {
                    user_ns: part(salt, scale),
                    system_ns: 200_000_000 + part(salt + 1, scale),
                    rss_bytes: 4 << 20,
                    processes: 1,
                    threads: 1,
                })
                .to_vec(),
            listeners: vec![ListenerSample {
                queue: if (40..52).contains(&number) { 129 } else { number * 7 % 50 },
                drops: if (40..52).contains(&number) { 20 + number } else { 0 },
            }],
        }
    };
    Resources {
        groups: vec!["server".into(), "client".into()],
        listeners: vec!["0.0.0.0:9988".into()],
        samples: (0..2 * SECONDS).map(sample).collect(),
    }
}

/// Most attempts at once, some after one, two or three SYNs more.
fn connects(outcome: Outcome, n: u32, resent: &[(u64, u64)]) -> Connects {
    let mut latency = lognormal(KERNEL, n, 31_000, 0.5);
    for &(second, n) in resent {
        (0..n).for_each(|more| latency.record(second * SECOND + more * 91_000));
    }
    Connects {
        group: "client".into(),
        destination: "127.0.0.1:9988".into(),
        outcome,
        latency,
        syn_retransmits: resent.iter().map(|(second, n)| second * n).sum(),
        first_byte: None,
    }
}

fn transitions() -> Vec<Transition> {
    let all = [
        ("CLOSE", "LISTEN", 1),
        ("LISTEN", "CLOSE", 1),
        ("CLOSE", "SYN_SENT", 900_412),
        ("SYN_SENT", "ESTABLISHED", 900_000),
        ("SYN_SENT", "CLOSE", 412),
        ("LISTEN", "SYN_RECV", 900_000),
        ("SYN_RECV", "ESTABLISHED", 899_990),
        ("SYN_RECV", "CLOSE", 10),
        ("ESTABLISHED", "FIN_WAIT1", 899_000),
        ("ESTABLISHED", "CLOSE_WAIT", 899_000),
        ("ESTABLISHED", "CLOSE", 900),
        ("FIN_WAIT1", "FIN_WAIT2", 898_000),
        ("FIN_WAIT1", "CLOSING", 1_000),
        ("FIN_WAIT1", "CLOSE", 12),
        ("CLOSING", "CLOSE", 1_000),
        ("FIN_WAIT2", "CLOSE", 898_000),
        ("CLOSE_WAIT", "LAST_ACK", 899_000),
        ("CLOSE_WAIT", "CLOSE", 3),
        ("LAST_ACK", "CLOSE", 899_000),
        ("SYN_SENT", "SYN_RECV", 2),
        ("CLOSE", "SYN_RECV", 2),
        ("SYN_RECV", "FIN_WAIT1", 7),
        ("CLOSE", "ESTABLISHED", 4),
    ];
    all.map(|(from, to, count)| Transition { from: from.into(), to: to.into(), count }).to_vec()
}

fn own_cost() -> OwnCost {
    OwnCost {
        per_call: Some(CallCost { traced_ns: 182.0, bystander_ns: 71.5, calls: 100_000, repeats: 9 }),
        programs: vec![ProgramCost {
            name: "sys_exit".into(),
            runs: 1_200_000,
            run_time_ns: 96_000_000,
            verified_instructions: 412,
            jited_bytes: 2_311,
        }],
        sampled_share: 0.25,
        tracer_cpu_ns: 310_000_000,
        map_bytes: 2 << 20,
    }
}

/// A minute of short connections with a full listen queue in its middle.
pub(crate) fn full() -> Recording {
    let mut recording = typical();
    recording.duration_ns = u64::from(SECONDS) * SECOND;
    recording.sysctls = [("net.core.somaxconn", "4096"), ("net.ipv4.ip_local_port_range", "32768\t60999")]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into();
    for row in recording.groups.iter_mut().flat_map(|group| &mut group.syscalls) {
        if let Some(latency) = row.latency.as_ref().filter(|latency| latency.count() > 0) {
            let mut on_cpu = Histogram::new(KERNEL);
            let share = if row.waits_by_design() { 50 } else { 2 };
            latency.buckets().for_each(|(low, _, count)| on_cpu.record_many(low / share + 1, count));
            let off = latency.sum() - on_cpu.sum();
            (row.blocked_ns, row.runqueue_ns) = (off / 3, off / 9);
            row.on_cpu = Some(on_cpu);
        }
        if row.errors > 0 {
            row.errnos = BTreeMap::from([("EAGAIN".into(), row.errors - 1), ("EINTR".into(), 1)]);
        }
    }
    recording.series = Some(series());
    recording.resources = Some(resources());
    recording.own_cost = Some(own_cost());
    recording.bench = vec![load(Mode::Short, 20_000, u64::from(SECONDS) * SECOND)];
    let tcp = recording.tcp.as_mut().expect("there");
    tcp.counters.insert("TcpExt.ListenOverflows".into(), 612);
    tcp.counters.insert("TcpExt.TCPSynRetrans".into(), 634);
    tcp.transitions = Some(transitions());
    tcp.connects = vec![
        connects(Outcome::Established, 20_000, &[(1, 400), (2, 60), (3, 20), (7, 2)]),
        connects(Outcome::Refused, 300, &[]),
        connects(Outcome::TimedOut, 0, &[(5, 12)]),
    ];
    tcp.states = [("SYN_SENT", Side::Active, 31_000), ("ESTABLISHED", Side::Active, 800_000)]
        .into_iter()
        .chain([("ESTABLISHED", Side::Passive, 790_000), ("FIN_WAIT2", Side::Active, 41_000)])
        .map(|(state, side, ns)| StateTime { state: state.into(), side, time: lognormal(KERNEL, 1_000, ns, 0.4) })
        .collect();
    let port = |source: &str, in_use| PortUse {
        source: source.into(),
        destination: "127.0.0.1:9988".into(),
        in_use,
        available: 28_232,
    };
    tcp.ports = vec![port("127.0.0.1", 27_900), port("127.0.0.2", 9_000)];
    tcp.listeners = vec![listener("0.0.0.0:9988")];
    recording
}

fn listener(address: &str) -> ListenerQueue {
    ListenerQueue {
        address: address.into(),
        cookie: 7,
        owner: Some("123/echo-epoll-lt".into()),
        reuseport: false,
        limit: Some(128),
        queue_high: 129,
        drops: Some(612),
        drops_at_final_ack: Some(300),
        established: 20_000,
        accepted: 20_000,
        syn_ack_retransmits: 12,
        handshake: lognormal(KERNEL, 1_000, 22_000, 0.3),
        accept_wait: lognormal(KERNEL, 1_000, 61_000, 0.9),
        first_byte: None,
    }
}

/// Every number as large as its type allows, every name as long and as evil as an enemy can make it.
pub(crate) fn extreme() -> Recording {
    let evil = format!("=cmd|'/c calc'!A0<script>\"&\x1b[2J\n\u{202e}{}", "x".repeat(300));
    let mut recording = full();
    recording.duration_ns = u64::MAX;
    recording.host.cpus = u32::MAX;
    let (groups, own) = (&mut recording.groups, recording.own_cost.as_mut().expect("there"));
    for row in groups.iter_mut().flat_map(|group| &mut group.syscalls) {
        row.name.push_str(&evil);
        (row.blocked_ns, row.runqueue_ns) = (u64::MAX, u64::MAX);
    }
    groups[0].label.clone_from(&evil);
    (own.sampled_share, own.tracer_cpu_ns, own.map_bytes) = (f64::MAX, u64::MAX, u64::MAX);
    own.per_call = Some(CallCost { traced_ns: f64::MAX, bystander_ns: -1.0, calls: 0, repeats: 0 });
    let series = recording.series.as_mut().expect("there");
    (series.intervals, series.interval_ns) = (u32::MAX, u64::MAX);
    for call in series.groups.iter_mut().flat_map(|group| &mut group.syscalls) {
        call.name.push_str(&evil);
        let point = &mut call.points[0];
        (point.interval, point.calls, point.errors, point.total_ns) = (u32::MAX, u64::MAX, u64::MAX, u64::MAX);
        point.buckets = vec![(u32::MAX, 1), (5, 1), (3, 1), (247, 1)];
    }
    let resources = recording.resources.as_mut().expect("there");
    resources.listeners = vec![evil.clone(); 9];
    resources.groups.push(evil.clone());
    let wild = Sample {
        at_ns: u64::MAX,
        cpu: HostCpu { user_ns: u64::MAX, ..HostCpu::default() },
        context_switches: u64::MAX,
        load: f64::MIN,
        sockets: TcpSockets { time_wait: u64::MAX, ..TcpSockets::default() },
        groups: vec![],
        listeners: vec![ListenerSample { queue: u32::MAX, drops: u32::MAX }; 9],
    };
    resources.samples.insert(3, wild);
    let tcp = recording.tcp.as_mut().expect("there");
    for change in tcp.transitions.iter_mut().flatten() {
        change.count = u64::MAX;
    }
    tcp.transitions.as_mut().expect("there").push(Transition { from: evil.clone(), to: evil.clone(), count: u64::MAX });
    tcp.connects[0].latency.record(u64::MAX);
    tcp.connects.push(Connects { latency: Histogram::new(FINE), ..tcp.connects[0].clone() });
    let port = |number: u32| PortUse {
        source: evil.clone(),
        destination: format!("{number}{evil}"),
        in_use: u32::MAX - number,
        available: u32::MAX,
    };
    tcp.ports = (0..60).map(port).collect();
    tcp.listeners = vec![listener(&evil); 3];
    recording
}

/// Numbers that are none: a file cannot hold them, a program can.
pub(crate) fn not_numbers() -> Recording {
    let mut recording = full();
    let own = recording.own_cost.as_mut().expect("there");
    own.sampled_share = f64::NAN;
    own.per_call = Some(CallCost { traced_ns: f64::INFINITY, bystander_ns: f64::NAN, calls: 0, repeats: 0 });
    recording.resources.as_mut().expect("there").samples[0].load = f64::NAN;
    recording
}

/// Fields that are there but hold nothing.
pub(crate) fn hollow() -> Recording {
    let mut recording = full();
    recording.series = Some(Series { interval_ns: 0, intervals: 0, groups: vec![] });
    recording.resources = Some(Resources { groups: vec![], listeners: vec![], samples: vec![] });
    let tcp = recording.tcp.as_mut().expect("there");
    tcp.transitions = Some(vec![]);
    (tcp.connects, tcp.ports, tcp.states) = (vec![], vec![], vec![]);
    recording.bench.clear();
    recording.groups.clear();
    recording
}
