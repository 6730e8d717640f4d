//! Child processes that never outlive their test: servers with their totals, runs of the load generator with their result.

use std::{
    env, fs,
    io::{self, BufRead, BufReader, Read, Write},
    net::SocketAddr,
    process::{Child, ChildStdout, Command, Output, Stdio},
    thread,
    time::{Duration, Instant},
};

use reports::bench::BenchResult;
use rustix::process::{Pid, Resource, Rlimit, Signal, kill_process, prlimit};

use crate::{SERVERS, models::Model};

/// A running server, killed when dropped.
pub(crate) struct Server {
    child: Child,
    stdout: BufReader<ChildStdout>,
    pub(crate) address: SocketAddr,
}

/// The last line of a server.
#[derive(Debug)]
pub(crate) struct Totals {
    pub(crate) connections: u64,
    pub(crate) requests: u64,
    pub(crate) bytes: u64,
    pub(crate) wake_ups: u64,
    pub(crate) useless_wake_ups: u64,
}

impl Server {
    pub(crate) fn start(binary: &str) -> Self {
        Self::start_with(binary, &["--bind", "127.0.0.1"])
    }

    /// One of this model.
    pub(crate) fn of(model: Model) -> Self {
        Self::of_with(model, &[])
    }

    /// One of this model, with more options.
    pub(crate) fn of_with(model: Model, options: &[&str]) -> Self {
        Self::start_with(model.binary, &[&["--bind", "127.0.0.1"], model.options, options].concat())
    }

    /// One that serves three connections at once and no more.
    pub(crate) fn of_three_at_once(model: Model) -> Self {
        Self::start_with(model.binary, &[&["--bind", "127.0.0.1"], model.three_at_once].concat())
    }

    /// One of this model, where it has several workers with one of them.
    pub(crate) fn of_one_worker(model: Model) -> Self {
        let several = model.three_at_once.contains(&"--workers");
        Self::of_with(model, if several { &["--workers", "1"] } else { &[] })
    }

    /// With these options, on any port.
    pub(crate) fn start_with(binary: &str, options: &[&str]) -> Self {
        Self::start_by(Command::new(binary), options)
    }

    /// By a command that runs a server as itself.
    pub(crate) fn start_by(mut command: Command, options: &[&str]) -> Self {
        command.args(options).args(["--port", "0"]).stdout(Stdio::piped()).stdin(Stdio::null());
        let mut child = command.spawn().expect("a built binary");
        let mut stdout = BufReader::new(child.stdout.take().expect("piped"));
        let mut line = String::new();
        stdout.read_line(&mut line).expect("a pipe");
        let address = line.trim().strip_prefix("listening on ").and_then(|address| address.parse().ok());
        Self { child, stdout, address: address.unwrap_or_else(|| panic!("not where it listens: `{line}`")) }
    }

    /// Ends it by `signal`, checks that it went well, and takes its totals.
    pub(crate) fn stop_by(self, signal: Signal) -> Totals {
        Totals::parse(&self.last_words(signal))
    }

    /// Ends it by `signal`, checks that it went well, and takes what it printed since it listens.
    pub(crate) fn last_words(mut self, signal: Signal) -> String {
        kill_process(self.pid(), signal).expect("it still runs");
        let mut text = String::new();
        self.stdout.read_to_string(&mut text).expect("a pipe");
        assert_eq!(self.child.wait().expect("our child").code(), Some(0), "{text}");
        text
    }

    pub(crate) fn stop(self) -> Totals {
        self.stop_by(Signal::TERM)
    }

    pub(crate) fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    /// The processes that a server of several has started, or it itself.
    pub(crate) fn workers(&self) -> Vec<Pid> {
        let text = fs::read_to_string(format!("/proc/{0}/task/{0}/children", self.child.id())).expect("it runs");
        let workers: Vec<Pid> =
            text.split_whitespace().filter_map(|pid| pid.parse().ok().and_then(Pid::from_raw)).collect();
        if workers.is_empty() { vec![self.pid()] } else { workers }
    }

    /// Lowers the descriptor limit so that `more` can still be opened, by each worker.
    pub(crate) fn leave_descriptors(&self, more: u64) {
        for pid in self.workers() {
            let open = fs::read_dir(format!("/proc/{}/fd", pid.as_raw_pid())).expect("it runs").count() as u64;
            let limit = Rlimit { current: Some(open + more), maximum: Some(open + more) };
            prlimit(Some(pid), Resource::Nofile, limit).expect("our own child");
        }
    }

    /// Most memory that its workers ever had resident, summed up.
    pub(crate) fn peak_memory_bytes(&self) -> u64 {
        self.workers().into_iter().map(peak_memory_bytes).sum()
    }

    /// Clock ticks of CPU time of its workers so far, 100 of them a second.
    pub(crate) fn cpu_ticks(&self) -> u64 {
        self.workers().into_iter().map(cpu_ticks).sum()
    }
}

fn peak_memory_bytes(pid: Pid) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", pid.as_raw_pid())).expect("it runs");
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("a process with memory");
    peak.trim().trim_end_matches(" kB").parse::<u64>().expect("a number") * 1024
}

fn cpu_ticks(pid: Pid) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_pid())).expect("it runs");
    let after_name = stat.rsplit(") ").next().expect("a name in brackets");
    let field = |at: usize| after_name.split(' ').nth(at).and_then(|text| text.parse::<u64>().ok());
    field(11).zip(field(12)).map(|(user, system)| user + system).expect("CPU times")
}

impl Totals {
    /// Reads the line of totals, which comes first.
    fn parse(text: &str) -> Self {
        let line = text.lines().next().and_then(|line| line.strip_prefix("totals: "));
        let mut parts = line.unwrap_or_else(|| panic!("not totals: `{text}`")).split(", ");
        let mut next = |name: &str| {
            let part = parts.next().unwrap_or_default();
            let number = part.rsplit_once(name).and_then(|(_, number)| number.trim().parse().ok());
            number.unwrap_or_else(|| panic!("no {name} in `{text}`"))
        };
        Self {
            connections: next("connections"),
            requests: next("requests"),
            bytes: next("bytes"),
            wake_ups: next("returns"),
            useless_wake_ups: next("useless wake-ups"),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A `bench` that runs in the background, killed when dropped.
pub(crate) struct Running(Option<Child>);

impl Running {
    pub(crate) fn start(command: &mut Command) -> Self {
        let command = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Self(Some(command.spawn().expect("a built binary")))
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(self.child()), signal).expect("it still runs");
    }

    /// Waits for its end, but not for ever. Its output has to fit in a pipe.
    pub(crate) fn finish(mut self, longest: Duration) -> Output {
        let deadline = Instant::now() + longest;
        loop {
            let child = self.0.as_mut().expect("taken only here");
            if child.try_wait().expect("our child").is_some() {
                return self.0.take().expect("taken only here").wait_with_output().expect("pipes");
            }
            assert!(Instant::now() < deadline, "still running after {longest:?}");
            thread::sleep(Duration::from_millis(2));
        }
    }

    fn child(&self) -> &Child {
        self.0.as_ref().expect("taken only at the end")
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// `bench` with these arguments, not started.
pub(crate) fn bench_command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bench"));
    command.args(arguments).env_remove("BENCH_RESULT_FILE");
    command
}

/// `binary` under a soft and a hard limit of descriptors, as `SOFT:HARD`.
pub(crate) fn with_descriptors(limits: &str, binary: &str) -> Command {
    let mut command = Command::new("prlimit");
    command.arg(format!("--nofile={limits}")).arg(binary);
    command
}

/// Runs `bench` to its end.
pub(crate) fn bench(arguments: &[&str]) -> Output {
    Running::start(&mut bench_command(arguments)).finish(Duration::from_secs(20))
}

/// Runs `bench` against `address`, and gives its exit status and what `--json` wrote.
pub(crate) fn bench_result(address: SocketAddr, arguments: &[&str]) -> (Option<i32>, BenchResult) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("result.json");
    let port = address.port().to_string();
    let mut command = bench_command(&["--port", &port]);
    let output = Running::start(command.args(arguments).arg("--json").arg(&file)).finish(Duration::from_secs(20));
    let text = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{error}: {}", stderr(&output)));
    (output.status.code(), serde_json::from_str(&text).expect("a result"))
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Says past the test harness that a test did not run; where everything has to run, that is a failure.
pub(crate) fn skip(test: &str, why: &str) {
    assert!(env::var_os("REQUIRE_ROOT_TESTS").is_none(), "{test} could not run: {why}");
    let _ = writeln!(io::stderr(), "SKIPPED {test}: {why}");
}

/// What came of a script in a network of its own.
pub(crate) struct InOwnNetwork {
    pub(crate) status: Option<i32>,
    /// What it wrote to `$results`.
    pub(crate) text: String,
}

impl InOwnNetwork {
    pub(crate) fn result(&self) -> BenchResult {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {}", self.text))
    }
}

/// Runs a shell script in a new network namespace with loopback up, as root there even when not here.
///
/// It may call `start_server`, which returns when the server listens on port 9988, and `"$bench"`.
pub(crate) fn in_own_network(test: &str, script: &str) -> Option<InOwnNetwork> {
    const PROLOGUE: &str = r#"
        server_program=$1 bench=$2 results=$3 server=
        start_server() {
            "$server_program" --port 9988 > /dev/null & server=$!
            tries=0
            until grep -q ":2704 " /proc/net/tcp || [ $tries -gt 250 ]; do sleep 0.02; tries=$((tries + 1)); done
        }
        ip link set lo up || exit 99
    "#;
    const EPILOGUE: &str = "\nstatus=$?; kill $server; wait $server; exit $status";
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    let script = format!("{PROLOGUE}{script}{EPILOGUE}");
    let mut command = Command::new("unshare");
    command.args(["-rn", "sh", "-c", &script, "sh", SERVERS[0], env!("CARGO_BIN_EXE_bench")]).arg(file.path());
    let output = Running::start(&mut command).finish(Duration::from_secs(20));
    let written = fs::read_to_string(file.path()).expect("our own file");
    if written.is_empty() {
        skip(test, &format!("no network of its own: {}", stderr(&output)));
        return None;
    }
    Some(InOwnNetwork { status: output.status.code(), text: written })
}
