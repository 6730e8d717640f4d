//! One epoll and a pool of threads: whoever is free takes the next event, and EPOLLONESHOT keeps a connection with one
//! thread at a time (`echo-oneshot`). Does not read or write bytes.

use std::{
    os::fd::OwnedFd,
    sync::{
        Arc, Mutex, PoisonError, RwLock,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use rustix::event::epoll::Event;
use slab::Slab;

use super::{
    ServerOptions, Style, Summary, Totals, Trigger, WorkerOptions,
    accepting::Accepting,
    connection::{Connection, Next},
    draining::drain,
    echo::Echo,
    listener::{Accepted, Blocking, Listener},
    serve::{announce, conclude, get_ready},
    threads::run_threads,
    trigger::Interest,
    watch::{LISTENER, STOP, Watch},
};
use crate::{Error, Stop};

/// Connections accepted by one thread before it asks epoll again.
const ACCEPTS_PER_VISIT: u32 = 64;

/// What the threads of the pool have in common.
struct Pool<'a> {
    watch: Watch,
    listener: &'a Listener,
    style: Style,
    /// By token. A thread that closes one is the only thread that has an event of it.
    connections: RwLock<Slab<Arc<Mutex<Connection>>>>,
    accepting: Mutex<Accepting>,
    /// Whether `accepting` is worth a look.
    paused: AtomicBool,
    accepted: AtomicU64,
    closed: AtomicU64,
}

/// Serves with one epoll and a pool of threads.
///
/// # Errors
/// When the port cannot be had, or the kernel refuses a thread or an epoll.
pub fn serve_by_pool(options: &ServerOptions, workers: &WorkerOptions) -> anyhow::Result<()> {
    let stop = get_ready()?;
    let listener = Listener::open(options, Blocking::No)?;
    let pool = Pool::new(&listener, &stop, options)?;
    announce(listener.address())?;
    let body = || pool.run(Echo::new(options));
    let mut totals = run_threads((0..workers.workers()).map(|_| body), workers.pin)?;
    let mut last = Echo::new(options);
    drain(&listener, pool.into_connections(), Style::direct(Trigger::Level), &mut last)?;
    totals[0] += last.totals;
    conclude(&Summary::of_threads("epoll_wait", totals), options, workers.balance)
}

impl<'a> Pool<'a> {
    fn new(listener: &'a Listener, stop: &Stop, options: &ServerOptions) -> Result<Self, Error> {
        let accepting = Accepting::new(options, Instant::now());
        let pool = Self {
            watch: Watch::new(stop)?,
            listener,
            style: Style::direct(Trigger::Once),
            connections: RwLock::default(),
            paused: AtomicBool::new(accepting.is_paused()),
            accepting: Mutex::new(accepting),
            accepted: AtomicU64::new(0),
            closed: AtomicU64::new(0),
        };
        let flags =
            if accepting.is_paused() { rustix::event::epoll::EventFlags::empty() } else { pool.style.listener_flags() };
        pool.watch
            .add(listener, LISTENER, flags, &mut Totals::default())
            .map_err(Error::system("watch the listener"))?;
        Ok(pool)
    }

    /// The life of one thread.
    fn run(&self, mut echo: Echo) -> Result<Totals, Error> {
        // One event at a time: with more, some would wait behind the first while other threads are idle.
        let mut events: Vec<Event> = Vec::with_capacity(1);
        loop {
            self.watch.wait(&mut events, self.longest_wait(), &mut echo.totals)?;
            let work_before = echo.totals.work();
            match events.pop().map(|event| event.data.u64()) {
                Some(STOP) => return Ok(echo.totals),
                Some(LISTENER) => self.accept(&mut echo)?,
                Some(token) => self.serve(token, &mut echo)?,
                None => {}
            }
            echo.totals.useless_wake_ups += u64::from(echo.totals.work() == work_before);
            self.resume(&mut echo)?;
        }
    }

    fn longest_wait(&self) -> Option<Duration> {
        if self.paused.load(Ordering::SeqCst) { lock(&self.accepting).longest_wait(Instant::now) } else { None }
    }

    /// Watches the listener again when the reason not to has gone. Every thread looks after each event, also the one that
    /// began the pause: a connection that was closed meanwhile is not missed.
    fn resume(&self, echo: &mut Echo) -> Result<(), Error> {
        if !self.paused.load(Ordering::SeqCst) {
            return Ok(());
        }
        let mut accepting = lock(&self.accepting);
        if !accepting.resume(Instant::now, self.closed.load(Ordering::SeqCst)) {
            return Ok(());
        }
        self.paused.store(false, Ordering::SeqCst);
        self.watch_listener(echo)
    }

    fn watch_listener(&self, echo: &mut Echo) -> Result<(), Error> {
        self.watch.change(self.listener, LISTENER, self.style.listener_flags(), &mut echo.totals)
    }

    fn accept(&self, echo: &mut Echo) -> Result<(), Error> {
        for _ in 0..ACCEPTS_PER_VISIT {
            echo.totals.system_calls.accept4 += 1;
            match self.listener.accept()? {
                Accepted::Connection(socket) => {
                    self.adopt(socket, echo);
                    let mut accepting = lock(&self.accepting);
                    let closed = self.closed.load(Ordering::SeqCst);
                    if accepting.pause_if_full(self.accepted.load(Ordering::SeqCst), closed) {
                        self.paused.store(true, Ordering::SeqCst);
                        return Ok(());
                    }
                }
                Accepted::Gone => {}
                Accepted::Empty => break,
                Accepted::Exhausted => {
                    lock(&self.accepting).pause(Instant::now(), self.closed.load(Ordering::SeqCst));
                    self.paused.store(true, Ordering::SeqCst);
                    return Ok(());
                }
            }
        }
        self.watch_listener(echo)
    }

    fn adopt(&self, socket: OwnedFd, echo: &mut Echo) {
        echo.totals.connections += 1;
        self.accepted.fetch_add(1, Ordering::SeqCst);
        let connection = Arc::new(Mutex::new(Connection::new(socket)));
        // In the table before it is watched: its first event may come to another thread at once.
        let key = self.connections.write().unwrap_or_else(PoisonError::into_inner).insert(Arc::clone(&connection));
        let flags = self.style.connection_flags(Interest::Read);
        let watched = self.watch.add(&*lock(&connection), key as u64, flags, &mut echo.totals);
        if watched.is_err() {
            self.close(key, echo);
        }
    }

    fn serve(&self, token: u64, echo: &mut Echo) -> Result<(), Error> {
        let key = usize::try_from(token).expect("bug: a token is an index");
        let connection = Arc::clone(&self.connections.read().unwrap_or_else(PoisonError::into_inner)[key]);
        let mut connection = lock(&connection);
        if connection.visit(self.style, echo) == Next::Close {
            self.close(key, echo);
            return Ok(());
        }
        let flags = self.style.connection_flags(connection.interest());
        self.watch.change(&*connection, token, flags, &mut echo.totals)
    }

    fn close(&self, key: usize, echo: &mut Echo) {
        echo.totals.close();
        self.connections.write().unwrap_or_else(PoisonError::into_inner).remove(key);
        self.closed.fetch_add(1, Ordering::SeqCst);
    }

    fn into_connections(self) -> Vec<Connection> {
        let table = self.connections.into_inner().unwrap_or_else(PoisonError::into_inner);
        let alone = table.into_iter().filter_map(|(_, connection)| Arc::into_inner(connection));
        alone.map(|connection| connection.into_inner().unwrap_or_else(PoisonError::into_inner)).collect()
    }
}

/// A thread that panicked ends the server when it is joined; until then its connection is as good as any.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
