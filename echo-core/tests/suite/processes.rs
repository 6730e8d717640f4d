//! A master and its workers: who dies is replaced, and nobody outlives the master.

use std::{
    fs,
    path::Path,
    thread,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};

use crate::{
    models::{Model, for_models},
    peer::{assert_echo, connect, exchange},
    process::Server,
};

for_models!(
    [mp, prefork],
    [
        a_worker_that_is_killed_is_replaced_and_its_loss_is_said,
        a_worker_that_is_asked_to_end_hands_over_its_totals_and_is_replaced,
        workers_end_when_their_master_is_killed,
        balance_names_each_worker_and_adds_up,
        pinned_workers_stay_on_one_cpu_each,
    ]
);

/// Waits until `done`, but not for ever.
fn wait_until(what: &str, done: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(10);
    while !done() {
        assert!(Instant::now() < deadline, "{what}: not within 10 s");
        thread::sleep(Duration::from_millis(10));
    }
}

fn is_alive(pid: Pid) -> bool {
    Path::new(&format!("/proc/{}", pid.as_raw_pid())).exists()
}

fn two_workers(model: Model, options: &[&str]) -> Server {
    Server::start_with(model.binary, &[&["--bind", "127.0.0.1", "--workers", "2"], options].concat())
}

/// Ends one of two workers by `signal` and waits for its successor.
fn replace_first(server: &Server, signal: Signal) {
    let before = server.workers();
    assert_eq!(before.len(), 2);
    kill_process(before[0], signal).expect("it runs");
    wait_until("a successor", || {
        let now = server.workers();
        now.len() == 2 && now.iter().any(|pid| !before.contains(pid))
    });
    for _ in 0..20 {
        assert_echo(server.address);
    }
}

fn a_worker_that_is_killed_is_replaced_and_its_loss_is_said(model: Model) {
    let server = two_workers(model, &[]);
    replace_first(&server, Signal::KILL);
    let text = server.last_words(Signal::TERM);
    assert!(text.contains("what 1 workers did that ended without theirs"), "{text}");
}

fn a_worker_that_is_asked_to_end_hands_over_its_totals_and_is_replaced(model: Model) {
    let server = two_workers(model, &[]);
    for _ in 0..10 {
        assert_echo(server.address);
    }
    replace_first(&server, Signal::TERM);
    assert_eq!(server.stop().connections, 30);
}

fn workers_end_when_their_master_is_killed(model: Model) {
    let server = two_workers(model, &[]);
    let mut idle = connect(server.address);
    exchange(&mut idle, b"idle from now on");
    let workers = server.workers();
    kill_process(server.pid(), Signal::KILL).expect("it runs");
    wait_until("the end of all workers", || !workers.iter().any(|&pid| is_alive(pid)));
}

fn balance_names_each_worker_and_adds_up(model: Model) {
    let server = two_workers(model, &["--balance"]);
    for _ in 0..40 {
        assert_echo(server.address);
    }
    let text = server.last_words(Signal::TERM);
    let table = text.lines().skip_while(|line| !line.starts_with("worker ")).skip(1);
    let connections: Vec<u64> =
        table.map(|line| line.split_whitespace().nth(1).and_then(|word| word.parse().ok()).expect("a count")).collect();
    assert_eq!((connections.len(), connections.iter().sum()), (2, 40), "{text}");
}

fn pinned_workers_stay_on_one_cpu_each(model: Model) {
    let server = two_workers(model, &["--pin"]);
    let allowed = |pid: Pid| {
        let status = fs::read_to_string(format!("/proc/{}/status", pid.as_raw_pid())).expect("it runs");
        status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).expect("a process").trim().to_owned()
    };
    wait_until("one CPU for each", || server.workers().into_iter().all(|pid| allowed(pid).parse::<u32>().is_ok()));
}
