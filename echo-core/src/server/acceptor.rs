//! Accept, serve, repeat, with calls that wait: what `echo-prefork` does in each process, and `echo-threads` with a thread
//! for each connection. Does not read or write bytes.

use std::{
    io::pipe,
    os::fd::OwnedFd,
    sync::Arc,
    thread::{self, Builder},
    time::{Duration, Instant},
};

use anyhow::Context as _;
use rustix::{
    event::{PollFd, PollFlags, poll},
    io::Errno,
};

use super::{
    ServerOptions, Summary, Totals,
    accepting::Accepting,
    blocking::{Register, WAITS_IN, echo_until_end},
    echo::Echo,
    listener::{Accepted, Blocking, Listener},
    serve::{announce, conclude, get_ready},
};
use crate::{Error, Stop};

/// How often a pause looks for its end.
const PAUSE_STEP: Duration = Duration::from_millis(10);
/// Enough for the loop of one connection, whose buffer is on the heap.
const STACK_BYTES: usize = 128 << 10;

/// Who serves a connection that was accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hands {
    /// The thread that accepted it, which accepts nothing meanwhile.
    Own,
    /// A thread of its own.
    NewThread,
}

/// Serves with a thread for each connection, until SIGINT or SIGTERM.
///
/// # Errors
/// When the port cannot be had, or the kernel refuses what the server is built on.
pub fn serve_by_thread_each(options: &ServerOptions) -> anyhow::Result<()> {
    let stop = get_ready()?;
    let listener = Listener::open(options, Blocking::Yes)?;
    announce(listener.address())?;
    conclude(&Summary::of_one(WAITS_IN, serve_waiting(listener, &stop, options, Hands::NewThread)?), options, false)
}

/// Accepts in a thread of its own until `stop`: what waits in accept then is left there, and ends with the process.
pub(super) fn serve_waiting(
    listener: Listener,
    stop: &Stop,
    options: &ServerOptions,
    hands: Hands,
) -> anyhow::Result<Totals> {
    let (ended, alive) = pipe().context("failed to create a pipe")?;
    let (listener, register) = (Arc::new(listener), Arc::new(Register::default()));
    let acceptor = Acceptor {
        listener: Arc::clone(&listener),
        register: Arc::clone(&register),
        options: options.clone(),
        hands,
        accepting: Accepting::new(options, Instant::now()),
    };
    let body = move || {
        let _alive = alive;
        acceptor.run()
    };
    let thread = Builder::new().name("acceptor".into()).spawn(body).context("failed to start a thread")?;
    loop {
        match poll(&mut [PollFd::new(stop, PollFlags::IN), PollFd::new(&ended, PollFlags::IN)], None) {
            Ok(_) => break,
            Err(Errno::INTR) => {}
            Err(errno) => return Err(Error::system("wait for signals")(errno).into()),
        }
    }
    if stop.signal().is_none() && thread.is_finished() {
        thread.join().expect("bug: the acceptor panicked")?;
    }
    register.drain(&listener);
    Ok(register.totals())
}

struct Acceptor {
    listener: Arc<Listener>,
    register: Arc<Register>,
    options: ServerOptions,
    hands: Hands,
    accepting: Accepting,
}

impl Acceptor {
    fn run(mut self) -> Result<(), Error> {
        loop {
            self.wait_out_pause();
            let accepted = self.listener.accept()?;
            let mut echo = Echo::new(&self.options);
            echo.totals.system_calls.accept4 += 1;
            echo.totals.wake_ups += 1;
            match accepted {
                Accepted::Connection(socket) => {
                    self.serve(socket, echo);
                    let Totals { connections, closed, .. } = self.register.totals();
                    self.accepting.pause_if_full(connections, closed);
                }
                Accepted::Gone | Accepted::Empty => {
                    echo.totals.useless_wake_ups += 1;
                    self.register.add(echo.totals);
                }
                Accepted::Exhausted => {
                    echo.totals.useless_wake_ups += 1;
                    self.register.add(echo.totals);
                    self.accepting.pause(Instant::now(), self.register.totals().closed);
                }
            }
        }
    }

    fn wait_out_pause(&mut self) {
        while self.accepting.is_paused() && !self.register.is_stopping() {
            if self.accepting.resume(Instant::now, self.register.totals().closed) {
                return;
            }
            thread::sleep(PAUSE_STEP);
        }
    }

    fn serve(&mut self, socket: OwnedFd, mut echo: Echo) {
        let socket = Arc::new(socket);
        let place = self.register.enter(&socket);
        let (register, accepted) = (Arc::clone(&self.register), echo.totals);
        let serve = move || {
            echo_until_end(&socket, &mut echo);
            drop(socket);
            register.leave(place, echo.totals);
        };
        if self.hands == Hands::Own {
            return serve();
        }
        if Builder::new().stack_size(STACK_BYTES).spawn(serve).is_err() {
            // No thread to be had: what was to run is dropped and so is its connection, and others may end meanwhile.
            let closed = self.register.totals().closed;
            self.register.leave(place, accepted);
            self.accepting.pause(Instant::now(), closed);
        }
    }
}
