//! Fixed recordings for the tests of renderers and reader: typical and extreme ones, the same on every machine.

#![allow(dead_code, reason = "each test binary uses some of them")]

pub(crate) mod full;
mod tcp;

use std::collections::BTreeMap;

use reports::{
    bench::{self, BenchResult, BenchSettings, Client, Close, Mode},
    histogram::{FINE, Histogram, KERNEL},
    recording::{self, Group, Host, InFlight, Loss, Probe, Recording, Retransmits, Syscall, Tcp, Transition},
};

pub(crate) use full::{extreme, full, hollow};

/// About lognormal, from sums and products only, so that no libm decides what a golden file holds.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "times, far below 2^53")]
pub(crate) fn lognormal(sub_bits: u8, n: u32, median_ns: u32, spread: f64) -> Histogram {
    let mut histogram = Histogram::new(sub_bits);
    let mut state = u64::from(n) ^ u64::from(median_ns) << 20;
    for _ in 0..n {
        let mut normal = -6.0;
        for _ in 0..12 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            normal += f64::from(u32::try_from(state >> 32).expect("32 bits")) / 4_294_967_296.0;
        }
        let exponent = normal * spread;
        let power = (1.0 + exponent - exponent.floor()) * 2.0_f64.powi(exponent.floor() as i32);
        histogram.record((f64::from(median_ns) * power) as u64);
    }
    histogram
}

pub(crate) fn syscall(name: &str, latency: Histogram) -> Syscall {
    let mut row = Syscall { name: name.into(), ..Syscall::default() };
    row.set_latency(latency);
    row
}

fn record(row: &mut Syscall, latency_ns: u64) {
    let mut latency = row.latency.take().expect("measured");
    latency.record(latency_ns);
    row.set_latency(latency);
}

pub(crate) fn calls(name: &str, n: u32, median_ns: u32, spread: f64) -> Syscall {
    syscall(name, lognormal(KERNEL, n, median_ns, spread))
}

pub(crate) fn group(name: &str, label: &str, syscalls: Vec<Syscall>) -> Group {
    Group {
        name: name.into(),
        label: label.into(),
        argv: vec![label.into()],
        pids: vec![123],
        processes: 1,
        threads: 1,
        syscalls,
        ..Group::default()
    }
}

/// Nothing was traced and nothing happened.
pub(crate) fn empty() -> Recording {
    Recording {
        schema: recording::SCHEMA,
        tool: "0.1.0".into(),
        complete: true,
        argv: ["analyzer", "trace", "-p", "123"].map(String::from).to_vec(),
        started: "2026-11-30T14:39:51Z".into(),
        duration_ns: 0,
        host: Host { kernel: "6.18.5".into(), arch: "x86_64".into(), cpus: 2, clock: "CLOCK_MONOTONIC".into() },
        groups: vec![group("server", "echo-epoll-lt", vec![])],
        ..Recording::default()
    }
}

/// A server that made one call, of one thread.
pub(crate) fn one_call() -> Recording {
    let mut recording = empty();
    let mut close = calls("close", 1, 4_200, 0.0);
    close.errors = 1;
    recording.groups[0].syscalls = vec![close];
    recording.duration_ns = 1_000_000_000;
    recording.selection = vec!["close".into()];
    recording
}

pub(crate) fn load(mode: Mode, ok: u32, elapsed_ns: u64) -> BenchResult {
    BenchResult {
        schema: bench::SCHEMA,
        settings: BenchSettings {
            http: None,
            client: Client::Epoll,
            address: "127.0.0.1:9988".into(),
            mode,
            connections: 100,
            requests_per_connection: None,
            rate_per_s: None,
            rounds: Some(10),
            duration_ns: None,
            warmup_ns: 0,
            think_ns: 0,
            pace: None,
            payload_bytes: 64,
            payload_max_bytes: None,
            threads: 1,
            timeout_ns: 5_000_000_000,
            close: Close::Client,
            linger0: false,
            sources: 1,
        },
        partial: false,
        elapsed_ns,
        client_cpu_ns: elapsed_ns / 2,
        ok: ok.into(),
        failed: BTreeMap::new(),
        statuses: BTreeMap::new(),
        connected: ok.into(),
        connect: lognormal(FINE, ok, 61_000, 0.5),
        first_byte: lognormal(FINE, ok, 843_000, 0.6),
        request: lognormal(FINE, ok, 843_000, 0.6),
        censored: Histogram::new(FINE),
        reconnects: 0,
        unclosed: 0,
        stall_ns: 2_000_000,
        client_gap_ns: 1_000_000,
        machine: None,
        findings: vec![],
        kernel_counters: [("Tcp.ActiveOpens", i64::from(ok)), ("Tcp.InSegs", 8_204), ("TcpExt.TW", 12)]
            .map(|(name, change)| (name.to_owned(), change))
            .into(),
    }
}

fn probe(hook: &str, off_because: Option<&str>) -> Probe {
    Probe { hook: hook.into(), kind: "tp_btf".into(), off_because: off_because.map(str::to_owned) }
}

fn transition(from: &str, to: &str, count: u64) -> Transition {
    Transition { from: from.into(), to: to.into(), count }
}

/// Short mode against the level-triggered server, everything in order.
pub(crate) fn typical() -> Recording {
    let mut recording = empty();
    recording.argv =
        ["analyzer", "trace", "--target", "echo-epoll-lt", "--", "bench", "--mode", "short"].map(String::from).to_vec();
    recording.duration_ns = 57_300_000;
    recording.probes =
        ["sys_enter", "sys_exit", "task_newtask", "inet_sock_set_state"].map(|hook| probe(hook, None)).to_vec();
    recording.groups = vec![server(), client()];
    recording.tcp = Some(Tcp {
        netns: 4_026_531_840,
        counters: [("Tcp.ActiveOpens", 1_000), ("Tcp.PassiveOpens", 1_000), ("Tcp.InSegs", 8_204), ("TcpExt.TW", 998)]
            .map(|(name, change)| (name.to_owned(), change))
            .into(),
        time_wait: (40, 1_026),
        transitions: Some(vec![
            transition("CLOSE", "SYN_SENT", 1_000),
            transition("FIN_WAIT2", "CLOSE", 1_000),
            transition("LAST_ACK", "CLOSE", 1_000),
            transition("LISTEN", "CLOSE", 1),
        ]),
        retransmits: Some(Retransmits::default()),
        ..Tcp::default()
    });
    recording.bench = vec![load(Mode::Short, 1_000, 45_600_000)];
    recording
}

fn server() -> Group {
    let mut exit = syscall("exit_group", Histogram::new(KERNEL));
    exit.unreturned = 1;
    let mut accept = calls("accept4", 1_412, 2_900, 0.7);
    accept.errors = 412;
    let mut server = group(
        "server",
        "echo-epoll-lt",
        vec![
            calls("close", 1_000, 5_300, 0.8),
            calls("read", 2_004, 880, 0.5),
            calls("write", 1_000, 9_700, 0.6),
            calls("epoll_ctl", 3_000, 410, 0.4),
            calls("fcntl", 90, 190, 0.3),
            calls("brk", 3, 2_100, 0.3),
            calls("epoll_wait", 1_388, 23_000, 1.9),
            accept,
            exit,
        ],
    );
    server.listeners = vec!["0.0.0.0:9988".into()];
    server.syscalls[6].begun_before = 1;
    server.ended = Some("exit 0".into());
    server.output = "connections 1000 requests 1000 bytes 64000\nepoll_wait returns 1388 useless 4\n".into();
    server
}

fn client() -> Group {
    let mut client = group(
        "client",
        "bench",
        vec![
            calls("connect", 1_000, 31_000, 0.5),
            calls("socket", 1_000, 3_800, 0.5),
            calls("close", 1_000, 8_400, 0.7),
            calls("sendto", 1_000, 11_000, 0.6),
            calls("recvfrom", 1_000, 990, 0.5),
            calls("epoll_wait", 800, 18_000, 1.5),
        ],
    );
    client.pids = vec![124, 125, 126, 127, 128, 129];
    client.threads = 6;
    client
}

/// Counts and times at the end of what the form can hold.
pub(crate) fn huge() -> Recording {
    let mut recording = typical();
    let count = 1_000_000_000;
    for row in &mut recording.groups[0].syscalls {
        let latency = row.latency.as_ref().expect("measured");
        let buckets: Vec<(u64, u64, u64)> = latency.buckets().collect();
        let mut counts = vec![0; 700];
        for (low, _, n) in buckets {
            counts[probes::bucket::index_ns(low) as usize] = n * count;
        }
        let (min, max) = (latency.min().unwrap_or(0), latency.max().unwrap_or(0));
        let (n, sum) = (latency.count() * count, latency.sum().saturating_mul(count));
        row.set_latency(Histogram::from_parts(KERNEL, n, sum, if n == 0 { u64::MAX } else { min }, max, counts));
    }
    let mut futex = calls("futex", 200, 4_000_000_000, 0.4);
    record(&mut futex, u64::MAX);
    recording.groups[0].syscalls.push(futex);
    recording.duration_ns = u64::MAX;
    recording.groups[0].loss.foreign_abi = u64::MAX;
    recording.groups[1].loss.foreign_abi = u64::MAX;
    recording.bench[0].ok = u64::MAX;
    recording.bench[0].failed = BTreeMap::from([("reset".into(), u64::MAX), ("timeout".into(), 1)]);
    recording
}

/// Everything that can go wrong without ending the run, and much of it.
pub(crate) fn lossy() -> Recording {
    let mut recording = typical();
    recording.groups[0].loss = Loss { exit_without_enter: 3, histogram_full: 1_200, ..Loss::default() };
    recording.groups[0].in_flight = (0..7)
        .map(|number| InFlight {
            name: "epoll_wait".into(),
            tid: 123 + number,
            pid: 123,
            age_ns: 1_200_000_000 + u64::from(number),
            begun_before: number == 0,
        })
        .collect();
    recording.groups[0].syscalls[1].restarted = 2;
    recording.probes.push(probe("kfree_skb", Some("the kernel has no member `rx_sk`")));
    // SYNs that were sent again: whole seconds.
    for (n, second) in [(271, 1), (12, 2), (3, 3)] {
        (0..n).for_each(|more| record(&mut recording.groups[1].syscalls[0], second * 1_000_000_000 + more * 91_000));
    }
    let bench = &mut recording.bench[0];
    bench.failed = BTreeMap::from([("refused".into(), 10), ("timeout".into(), 1_271), ("closed".into(), 0)]);
    bench.client_cpu_ns = bench.elapsed_ns * 97 / 100;
    bench.kernel_counters.extend([("TcpExt.ListenOverflows".into(), 271), ("TcpExt.TCPSynRetrans".into(), 275)]);
    let tcp = recording.tcp.as_mut().expect("there");
    tcp.counters.extend([
        ("TcpExt.ListenOverflows".into(), 271),
        ("TcpExt.ListenDrops".into(), 271),
        ("TcpExt.TCPSynRetrans".into(), 275),
        ("TcpExt.TCPTimeWaitOverflow".into(), 4),
        ("Tcp.OutRsts".into(), 12),
    ]);
    tcp.time_wait.1 -= 6;
    tcp.retransmits = Some(Retransmits { syn: 271, syn_ack: 4, data: 9, tail_loss_probes: Some(2) });
    tcp::followed(tcp);
    recording
}

/// Stopped by Ctrl-C, with the TCP probes off.
pub(crate) fn incomplete() -> Recording {
    let mut recording = typical();
    recording.complete = false;
    recording.incomplete_because = Some("interrupted by SIGINT after 57.3 ms".into());
    recording.probes.push(probe("tcp_retransmit_skb", Some("EPERM")));
    recording.bench[0].partial = true;
    let tcp = recording.tcp.as_mut().expect("there");
    tcp.transitions = None;
    tcp.retransmits = None;
    recording
}

/// Names chosen by an enemy.
pub(crate) fn hostile() -> Recording {
    let evil = "<script>alert(\"1\")</script>&'\x1b[31m\nsecond line\u{202e}gnp.exe\u{ffff}\u{0}";
    let mut recording = typical();
    recording.started = evil.into();
    recording.host.kernel = evil.into();
    recording.host.clock = evil.into();
    recording.argv.push(evil.into());
    recording.selection = vec![evil.into()];
    recording.incomplete_because = Some(evil.into());
    recording.complete = false;
    recording.probes.push(probe(evil, Some(evil)));
    let group = &mut recording.groups[0];
    group.label = evil.into();
    group.listeners.push(evil.into());
    group.ended = Some(evil.into());
    group.output = evil.into();
    group.syscalls[0].name = evil.into();
    group.in_flight = vec![InFlight { name: evil.into(), tid: 1, pid: 1, age_ns: 5, begun_before: false }];
    recording.groups[1].name = "../../etc/<b>\x1b[0m".into();
    recording.bench[0].settings.address = evil.into();
    recording.bench[0].failed = BTreeMap::from([(evil.into(), 3)]);
    recording.bench[0].kernel_counters.insert(evil.into(), 3);
    let tcp = recording.tcp.as_mut().expect("there");
    tcp::followed(tcp);
    tcp.connects[0].destination = evil.into();
    tcp.connects[0].group = evil.into();
    (tcp.listeners[0].address, tcp.listeners[0].owner) = (evil.into(), Some(evil.into()));
    tcp.states[0].state = evil.into();
    tcp.peers[0].address = evil.into();
    (tcp.ports[0].source, tcp.ports[0].destination) = (evil.into(), evil.into());
    recording
}

/// 60 system calls with names of 60 characters, some waiting.
pub(crate) fn crowded() -> Recording {
    let mut recording = typical();
    let mut rows: Vec<_> = (0..60u32)
        .map(|number| {
            let name = format!("syscall_{number:02}_{}", "x".repeat(49));
            calls(&name, 100 + number * 7, 300 + number * number * 40, 0.5)
        })
        .collect();
    rows.extend(["futex", "poll", "wait4", "nanosleep"].map(|name| calls(name, 50, 3_000_000, 1.0)));
    recording.groups[0].syscalls = rows;
    recording
}

/// Long mode: the same server with far fewer calls.
pub(crate) fn long() -> Recording {
    let mut recording = typical();
    recording.bench = vec![load(Mode::Long, 1_000, 18_900_000)];
    recording.groups[0].syscalls.retain(|row| !matches!(row.name.as_str(), "close" | "epoll_ctl"));
    recording
}

/// Name and recording of each that golden files are made of.
pub(crate) fn all() -> Vec<(&'static str, Recording)> {
    vec![
        ("typical", typical()),
        ("empty", empty()),
        ("one-call", one_call()),
        ("huge", huge()),
        ("lossy", lossy()),
        ("incomplete", incomplete()),
        ("hostile", hostile()),
        ("crowded", crowded()),
        ("long", long()),
        ("full", full()),
        ("extreme", extreme()),
        ("hollow", hollow()),
    ]
}
