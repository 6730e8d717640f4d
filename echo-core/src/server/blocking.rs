//! Connections that are served by calls that wait, a thread for each: the loop of one, and the register by which they are
//! all brought to an end. Does not accept.

use std::{
    os::fd::OwnedFd,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread,
    time::Instant,
};

use rustix::{
    io::Errno,
    net::{Shutdown, shutdown},
};
use slab::Slab;

use super::{
    draining::{DRAIN, DRAIN_STEP},
    echo::Echo,
    listener::Listener,
    totals::Totals,
};

/// The calls that these servers wait in.
pub(super) const WAITS_IN: &str = "accept4 + recvfrom";

/// Echoes until the stream ends or breaks.
pub(super) fn echo_until_end(socket: &OwnedFd, echo: &mut Echo) {
    loop {
        let received = echo.receive(socket, 0);
        if received != Err(Errno::INTR) {
            echo.totals.wake_ups += 1;
        }
        let end = match received {
            Ok(0) => return,
            Ok(received) => received,
            Err(Errno::INTR) => continue,
            Err(_) => return,
        };
        let mut start = 0;
        while start < end {
            match echo.answer(socket, start, end) {
                Ok(sent) => start += sent,
                Err(Errno::INTR) => {}
                Err(_) => return,
            }
        }
    }
}

/// All connections that are being served.
#[derive(Debug, Default)]
pub(super) struct Register {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    stopping: bool,
    open: Slab<Arc<OwnedFd>>,
    totals: Totals,
}

impl Register {
    /// Takes a new connection in, and gives the place that it has.
    pub(super) fn enter(&self, socket: &Arc<OwnedFd>) -> usize {
        let mut inner = self.lock();
        if inner.stopping {
            end_of_input(socket);
        }
        inner.totals.connections += 1;
        inner.open.insert(Arc::clone(socket))
    }

    /// Forgets a connection, which is closed when its last owner lets go of it, and adds what was done on it.
    pub(super) fn leave(&self, place: usize, done: Totals) {
        let mut inner = self.lock();
        inner.totals += done;
        inner.totals.close();
        inner.open.remove(place);
    }

    /// Adds what was done outside of any connection.
    pub(super) fn add(&self, done: Totals) {
        self.lock().totals += done;
    }

    /// What was done so far, without the connections that are still open.
    pub(super) fn totals(&self) -> Totals {
        self.lock().totals
    }

    pub(super) fn is_stopping(&self) -> bool {
        self.lock().stopping
    }

    /// Lets every connection finish what was sent to it, those that still queue too, and cuts off those that take too
    /// long.
    pub(super) fn drain(&self, listener: &Listener) {
        let deadline = Instant::now() + DRAIN;
        self.stop();
        // Twice: a connection may just have left the queue and not be in the register yet.
        let mut quiet = 0;
        while quiet < 2 && Instant::now() < deadline {
            thread::sleep(DRAIN_STEP);
            quiet = if self.lock().open.is_empty() && !listener.has_queued() { quiet + 1 } else { 0 };
        }
        for (_, socket) in &self.lock().open {
            let _ = shutdown(socket, Shutdown::Both);
        }
        let deadline = Instant::now() + DRAIN;
        while !self.lock().open.is_empty() && Instant::now() < deadline {
            thread::sleep(DRAIN_STEP);
        }
    }

    fn stop(&self) {
        let mut inner = self.lock();
        inner.stopping = true;
        for (_, socket) in &inner.open {
            end_of_input(socket);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What has come can still be read, then the stream is at its end (v6.18 tcp_recvmsg_locked looks at its queue first): a
/// receive that waits returns.
fn end_of_input(socket: &OwnedFd) {
    // Fails when the peer has gone, and then the stream is at its end anyway.
    let _ = shutdown(socket, Shutdown::Read);
}
