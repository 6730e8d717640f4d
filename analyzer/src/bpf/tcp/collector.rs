//! Fetches the records of ended connections while the run goes on.

use std::{
    sync::mpsc::{self, RecvTimeoutError, Sender},
    thread::{self, JoinHandle},
    time::Duration,
};

use anyhow::{Context as _, Result, anyhow};
use aya::maps::{MapData, RingBuf};
use probes::tcp::Connection;

/// How often records are fetched. Some 63,000 of them fit between; waking up for each would cost more than it shows.
const FETCH_EVERY: Duration = Duration::from_millis(20);

/// Takes each record, in the order of the ends.
pub(crate) trait Sink: Send + 'static {
    /// One connection has ended.
    fn ended(&mut self, connection: &Connection);
    /// All that were there have been given; called at least now and then.
    fn pause(&mut self) {}
}

/// A thread that fetches until it is told to stop.
pub(super) struct Collector<S> {
    stop: Sender<()>,
    thread: JoinHandle<S>,
}

impl<S: Sink> Collector<S> {
    /// Starts it.
    ///
    /// # Errors
    /// When there can be no more threads.
    pub(super) fn start(mut records: RingBuf<MapData>, mut sink: S) -> Result<Self> {
        let (stop, stopped) = mpsc::channel();
        let fetch = move || {
            loop {
                let is_last = stopped.recv_timeout(FETCH_EVERY) != Err(RecvTimeoutError::Timeout);
                drain(&mut records, &mut sink);
                if is_last {
                    return sink;
                }
            }
        };
        let thread = thread::Builder::new().name("connections".to_owned()).spawn(fetch);
        Ok(Self { stop, thread: thread.context("failed to start a thread")? })
    }

    /// Fetches what is left, after the programs were detached; returns the sink.
    ///
    /// # Errors
    /// When the thread has panicked.
    pub(super) fn finish(self) -> Result<S> {
        drop(self.stop);
        self.thread.join().map_err(|_| anyhow!("bug: the thread that fetches connections panicked"))
    }
}

fn drain(records: &mut RingBuf<MapData>, sink: &mut impl Sink) {
    while let Some(record) = records.next() {
        if record.len() >= size_of::<Connection>() {
            // SAFETY: as many bytes are there, and every pattern of them is a value: plain integers.
            let connection = unsafe { record.as_ptr().cast::<Connection>().read_unaligned() };
            sink.ended(&connection);
        }
    }
    sink.pause();
}
