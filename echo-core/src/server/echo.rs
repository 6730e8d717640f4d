//! One receive, one send, and the service time between them, each counted: the means that one worker answers with.

use std::{
    hint,
    os::fd::AsFd,
    time::{Duration, Instant},
};

use rustix::{
    io::Errno,
    net::{self, RecvFlags, SendFlags},
};

use super::{options::ServerOptions, totals::Totals};

/// The buffer of one worker, and its counts.
#[derive(Debug)]
pub(super) struct Echo {
    pub(super) buffer: Vec<u8>,
    pub(super) totals: Totals,
    work: Duration,
}

impl Echo {
    pub(super) fn new(options: &ServerOptions) -> Self {
        Self { buffer: vec![0; options.buffer], totals: Totals::default(), work: work(options) }
    }

    /// Receives into the buffer from `start` on, and does the work of a request if bytes came.
    pub(super) fn receive(&mut self, socket: impl AsFd, start: usize) -> Result<usize, Errno> {
        self.totals.system_calls.recvfrom += 1;
        let (_, received) = net::recv(socket, &mut self.buffer[start..], RecvFlags::empty())?;
        if received > 0 {
            self.totals.requests += 1;
            self.totals.received_bytes += received as u64;
            burn(self.work);
        }
        Ok(received)
    }

    /// Sends this part of the buffer, or what there is room for of it.
    pub(super) fn answer(&mut self, socket: impl AsFd, start: usize, end: usize) -> Result<usize, Errno> {
        send(socket, &self.buffer[start..end], &mut self.totals)
    }

    /// Sends what the socket has room for, perhaps nothing.
    pub(super) fn send(&mut self, socket: impl AsFd, bytes: &[u8]) -> Result<usize, Errno> {
        send(socket, bytes, &mut self.totals)
    }
}

/// A peer that has gone is an error here, never a SIGPIPE.
fn send(socket: impl AsFd, bytes: &[u8], totals: &mut Totals) -> Result<usize, Errno> {
    totals.system_calls.sendto += 1;
    match net::send(socket, bytes, SendFlags::NOSIGNAL) {
        Err(Errno::AGAIN) => Ok(0),
        Ok(sent) => {
            totals.sent_bytes += sent as u64;
            Ok(sent)
        }
        error => error,
    }
}

/// The service time that was asked for.
pub(super) fn work(options: &ServerOptions) -> Duration {
    Duration::from_micros(options.work_us.into())
}

/// Keeps the CPU busy without a system call: the clock is read in user space.
pub(super) fn burn(work: Duration) {
    if work.is_zero() {
        return;
    }
    let start = Instant::now();
    while start.elapsed() < work {
        hint::spin_loop();
    }
}
