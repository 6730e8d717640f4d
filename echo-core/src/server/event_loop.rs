//! One thread, one epoll, one listener, many connections: who is ready and what follows from it. Does not read or write
//! bytes.

use std::{os::fd::OwnedFd, time::Instant};

use rustix::event::epoll::Event;
use slab::Slab;

use super::{
    accepting::Accepting,
    connection::{Connection, Next},
    draining::drain,
    echo::Echo,
    listener::{Accepted, Listener},
    options::ServerOptions,
    totals::Totals,
    trigger::{Interest, Style},
    watch::{LISTENER, STOP, Watch},
};
use crate::{Error, Stop};

/// Events taken by one `epoll_wait`.
const EVENTS: usize = 512;
/// Connections accepted in one visit to the listener, so that a flood of them does not starve those that are there.
const ACCEPTS_PER_VISIT: u32 = 256;

/// A single-threaded echo server over one listener.
#[derive(Debug)]
pub struct EventLoop<'a> {
    watch: Watch,
    listener: &'a Listener,
    style: Style,
    /// By token. One descriptor gives at most one event in a batch and is closed only while that event is handled, so no
    /// later event of the batch can mean a connection that took over the token.
    connections: Slab<Connection>,
    accepting: Accepting,
    echo: Echo,
}

impl<'a> EventLoop<'a> {
    /// A loop that serves `listener` until `stop`.
    ///
    /// # Errors
    /// When the kernel gives no epoll.
    pub fn new(listener: &'a Listener, stop: &Stop, style: Style, options: &ServerOptions) -> Result<Self, Error> {
        let mut new = Self {
            watch: Watch::new(stop)?,
            listener,
            style,
            connections: Slab::new(),
            accepting: Accepting::new(options, Instant::now()),
            echo: Echo::new(options),
        };
        if !new.accepting.is_paused() {
            new.watch_listener()?;
        }
        Ok(new)
    }

    /// Serves until a signal comes; what was sent until then is answered, and every connection closed.
    ///
    /// # Errors
    /// When epoll or the listener itself fails; what happens to a connection never ends the loop.
    pub fn run(mut self) -> Result<Totals, Error> {
        let mut events = Vec::with_capacity(EVENTS);
        loop {
            self.watch.wait(&mut events, self.accepting.longest_wait(Instant::now), &mut self.echo.totals)?;
            let work_before = self.echo.totals.work();
            let mut stopped = false;
            for event in events.drain(..) {
                match event.data.u64() {
                    STOP => stopped = true,
                    LISTENER => self.accept()?,
                    _ => self.serve(event)?,
                }
            }
            if stopped {
                let open = self.connections.drain().collect();
                drain(self.listener, open, self.style, &mut self.echo)?;
                return Ok(self.echo.totals);
            }
            self.echo.totals.useless_wake_ups += u64::from(self.echo.totals.work() == work_before);
            if self.accepting.resume(Instant::now, self.echo.totals.closed) {
                self.watch_listener()?;
            }
        }
    }

    fn watch_listener(&mut self) -> Result<(), Error> {
        self.watch
            .add(self.listener, LISTENER, self.style.listener_flags(), &mut self.echo.totals)
            .map_err(Error::system("watch the listener"))
    }

    fn accept(&mut self) -> Result<(), Error> {
        for _ in 0..ACCEPTS_PER_VISIT {
            self.echo.totals.system_calls.accept4 += 1;
            match self.listener.accept()? {
                Accepted::Connection(socket) => {
                    self.adopt(socket);
                    let Totals { connections, closed, .. } = self.echo.totals;
                    if self.accepting.pause_if_full(connections, closed) {
                        return self.watch.remove(self.listener, &mut self.echo.totals);
                    }
                }
                Accepted::Gone => {}
                Accepted::Empty => return Ok(()),
                Accepted::Exhausted => {
                    self.accepting.pause(Instant::now(), self.echo.totals.closed);
                    return self.watch.remove(self.listener, &mut self.echo.totals);
                }
            }
        }
        if self.style.trigger.must_rearm() {
            self.watch.change(self.listener, LISTENER, self.style.listener_flags(), &mut self.echo.totals)?;
        }
        Ok(())
    }

    fn adopt(&mut self, socket: OwnedFd) {
        self.echo.totals.connections += 1;
        let entry = self.connections.vacant_entry();
        let (token, flags) = (entry.key() as u64, self.style.connection_flags(Interest::Read));
        // Fails when the kernel is out of memory or of the user's watches: this connection is lost, the server is not.
        match self.watch.add(&socket, token, flags, &mut self.echo.totals) {
            Ok(()) => {
                entry.insert(Connection::new(socket));
            }
            Err(_) => self.echo.totals.close(),
        }
    }

    fn serve(&mut self, event: Event) -> Result<(), Error> {
        let token = event.data.u64();
        let index = usize::try_from(token).expect("bug: a token is an index");
        let connection = &mut self.connections[index];
        if connection.waits_for_more_than(event.flags) {
            return Ok(());
        }
        let interest = match connection.visit(self.style, &mut self.echo) {
            Next::Wait => return Ok(()),
            Next::MoreToRead if !self.style.trigger.must_rearm() => return Ok(()),
            Next::MoreToRead => Interest::Read,
            // Modifying an edge-triggered registration also reports what is ready already.
            Next::Watch(interest) => interest,
            Next::Close => {
                // The kernel takes a closed descriptor out of the epoll by itself.
                self.echo.totals.close();
                self.connections.remove(index);
                return Ok(());
            }
        };
        self.watch.change(&*connection, token, self.style.connection_flags(interest), &mut self.echo.totals)
    }
}
