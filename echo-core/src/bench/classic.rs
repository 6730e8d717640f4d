//! The load as earlier tools made it: a blocking thread for each connection, released together by a barrier, a number of
//! rounds. Kept to replay their figures, not to be trusted: what is timed begins with a burst of connects, lasts only for
//! milliseconds, and waits for the last thread.

use std::{
    os::fd::OwnedFd,
    sync::{
        Arc, Barrier, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    thread::{self, Thread},
    time::Duration,
};

use reports::bench::Mode;
use rustix::{
    io::Errno,
    net::{
        self, AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType,
        sockopt::{Timeout, set_socket_timeout},
    },
};

use super::{clock::now_ns, failure::Failure, job::Job, plan::Plan, tally::Tally};
use crate::{Error, Stop};

/// Thousands of threads: each may have little.
const STACK_BYTES: usize = 256 << 10;
const RECEIVE_BUFFER_BYTES: usize = 16 << 10;
/// Between two looks at signals.
const INTERVAL: Duration = Duration::from_millis(20);

/// What the threads share.
struct Shared {
    job: Job,
    rounds: u64,
    barrier: Barrier,
    counts: Vec<Mutex<Count>>,
    ended: AtomicU32,
    stopped: AtomicBool,
    main: Thread,
}

/// What one thread has done so far: whole, also when it is left behind in a call that does not return.
#[derive(Default)]
struct Count {
    connects_ns: Vec<u64>,
    latencies_ns: Vec<u64>,
    failures: Vec<(Failure, u64)>,
    not_sent: u64,
    /// When the barrier let it go; nothing before.
    first_ns: Option<u64>,
    last_ns: u64,
}

/// Makes the rounds of `plan`, or as many as `stop` leaves time for; threads that are in a call then are left to end with
/// the process.
///
/// # Errors
/// When a thread cannot be started.
pub(super) fn run(plan: &Plan, stop: &Stop) -> Result<Tally, Error> {
    let connections = plan.settings.connections;
    let shared = Arc::new(Shared {
        job: Job::begin(plan),
        rounds: plan.settings.rounds.unwrap_or(1),
        barrier: Barrier::new(connections as usize + 1),
        counts: (0..connections).map(|_| Mutex::default()).collect(),
        ended: AtomicU32::new(0),
        stopped: AtomicBool::new(false),
        main: thread::current(),
    });
    for id in 0..connections {
        let shared = Arc::clone(&shared);
        let thread = thread::Builder::new().stack_size(STACK_BYTES).spawn(move || shared.client(id));
        thread.map_err(|source| Error::System { action: "start a thread", source })?;
    }
    shared.barrier.wait();
    while shared.ended.load(Ordering::Acquire) < connections && stop.signal().is_none() {
        thread::park_timeout(INTERVAL);
    }
    shared.stopped.store(true, Ordering::Relaxed);
    Ok(shared.tally())
}

impl Shared {
    fn client(&self, id: u32) {
        self.barrier.wait();
        self.count(id, |count| count.first_ns = Some(now_ns()));
        let mut client = Client { shared: self, id, buffer: vec![0; RECEIVE_BUFFER_BYTES] };
        match self.job.mode {
            Mode::Long => client.long(),
            Mode::Short | Mode::Reconnect | Mode::Connect => client.short(),
        }
        self.ended.fetch_add(1, Ordering::Release);
        self.main.unpark();
    }

    fn count(&self, id: u32, count: impl FnOnce(&mut Count)) {
        let mut own = self.counts[id as usize].lock().unwrap_or_else(PoisonError::into_inner);
        count(&mut own);
        own.last_ns = now_ns();
    }

    fn tally(&self) -> Tally {
        // Not the main thread's time: it may be the last that the barrier lets go.
        let counts = || self.counts.iter().map(|count| count.lock().unwrap_or_else(PoisonError::into_inner));
        let first_ns = counts().filter_map(|count| count.first_ns).min();
        let mut tally = Tally::new(first_ns.unwrap_or_else(now_ns));
        tally.interrupted = self.ended.load(Ordering::Acquire) < self.job.connections();
        for count in counts() {
            tally.ok += count.latencies_ns.len() as u64;
            tally.connected += count.connects_ns.len() as u64;
            count.connects_ns.iter().for_each(|&ns| tally.connect.record(ns));
            count.latencies_ns.iter().for_each(|&ns| tally.request.record(ns));
            count.failures.iter().for_each(|&(kind, waited_ns)| tally.fail(kind, waited_ns));
            tally.not_sent(count.not_sent);
            tally.last_ns = tally.last_ns.max(count.last_ns);
        }
        if tally.interrupted {
            tally.last_ns = now_ns();
        }
        tally
    }
}

/// One thread.
struct Client<'a> {
    shared: &'a Shared,
    id: u32,
    buffer: Vec<u8>,
}

impl Client<'_> {
    fn short(&mut self) {
        for round in 0..self.shared.rounds {
            if self.shared.stopped.load(Ordering::Relaxed) {
                return;
            }
            let started_ns = now_ns();
            let result = self.connect().and_then(|socket| self.exchange(&socket, round));
            self.ended(result, started_ns);
        }
    }

    fn long(&mut self) {
        let connected = self.connect();
        for round in 0..self.shared.rounds {
            if self.shared.stopped.load(Ordering::Relaxed) {
                return;
            }
            let started_ns = now_ns();
            let result = match &connected {
                Ok(socket) => self.exchange(socket, round),
                Err(failure) => Err(*failure),
            };
            self.ended(result, started_ns);
            if result.is_err() {
                let left = self.shared.rounds - round - 1;
                return self.shared.count(self.id, |count| count.not_sent += left);
            }
        }
    }

    fn ended(&self, result: Result<(), Failure>, started_ns: u64) {
        let latency_ns = now_ns() - started_ns;
        self.shared.count(self.id, |count| match result {
            Ok(()) => count.latencies_ns.push(latency_ns),
            Err(kind) => count.failures.push((kind, latency_ns)),
        });
    }

    fn connect(&self) -> Result<OwnedFd, Failure> {
        let job = &self.shared.job;
        let family = if job.server.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
        let socket = net::socket_with(family, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
        let timeout = Some(Duration::from_nanos(job.timeout_ns));
        set_socket_timeout(&socket, Timeout::Send, timeout)?;
        set_socket_timeout(&socket, Timeout::Recv, timeout)?;
        let started_ns = now_ns();
        net::connect(&socket, &job.server).map_err(blocked)?;
        let connect_ns = now_ns() - started_ns;
        self.shared.count(self.id, |count| count.connects_ns.push(connect_ns));
        Ok(socket)
    }

    fn exchange(&mut self, socket: &OwnedFd, round: u64) -> Result<(), Failure> {
        let pattern = &self.shared.job.pattern;
        let payload = pattern.payload(&pattern.window(self.id, round));
        let mut sent = 0;
        while sent < payload.len() {
            sent += net::send(socket, &payload[sent..], SendFlags::NOSIGNAL).map_err(blocked)?;
        }
        let mut received = 0;
        while received < payload.len() {
            let end = match net::recv(socket, &mut *self.buffer, RecvFlags::empty()).map_err(blocked)? {
                (_, 0) if received == 0 => return Err(Failure::Closed),
                (_, 0) => return Err(Failure::ShortReply),
                (_, bytes) => received + bytes,
            };
            if payload.get(received..end) != Some(&self.buffer[..end - received]) {
                return Err(Failure::WrongPayload);
            }
            received = end;
        }
        Ok(())
    }
}

/// What a blocking call with a time limit says when that is over; v6.18 inet_stream_connect has EINPROGRESS for it.
fn blocked(errno: Errno) -> Failure {
    match errno {
        Errno::AGAIN | Errno::INPROGRESS => Failure::Timeout,
        errno => errno.into(),
    }
}
