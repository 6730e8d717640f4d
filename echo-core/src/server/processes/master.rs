//! The master: starts workers, starts them again when they die, and ends them. Never touches a connection.

use std::{
    process::ExitStatus,
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
};

use super::{
    super::{
        Listener, ServerOptions, Summary, WorkerOptions, WorkerTotals,
        listener::Blocking,
        serve::{announce, conclude, get_ready},
    },
    WorkerKind,
    life::{End, Life},
};
use crate::{Error, Stop, warn};

/// Before the second life; doubled before each one after, up to [`LONGEST_BACK_OFF`].
const FIRST_BACK_OFF: Duration = Duration::from_millis(100);
const LONGEST_BACK_OFF: Duration = Duration::from_secs(5);
/// Who lived that long starts with the first back-off again.
const LONG_LIFE: Duration = Duration::from_secs(10);
/// Workers that were asked to end are killed after this.
const PATIENCE: Duration = Duration::from_secs(3);

/// A place for a worker, over all its lives.
struct Place {
    life: Option<Life>,
    back_off: Duration,
    next_life: Instant,
    totals: WorkerTotals,
}

struct Master {
    stop: Stop,
    listeners: Vec<Listener>,
    places: Vec<Place>,
}

/// Serves by workers until a signal comes, and prints what they did.
pub(super) fn run(options: &ServerOptions, workers: &WorkerOptions, kind: WorkerKind) -> anyhow::Result<()> {
    let stop = get_ready()?;
    // The master keeps them open: what queues for a worker that died waits for its next life.
    let listeners = match kind {
        WorkerKind::EventLoop => Listener::open_group(options, Blocking::No, kind.workers(workers))?,
        WorkerKind::BlockingAccept => vec![Listener::open(options, Blocking::Yes)?],
    };
    let now = Instant::now();
    let place = || Place { life: None, back_off: FIRST_BACK_OFF, next_life: now, totals: WorkerTotals::default() };
    let places = (0..kind.workers(workers)).map(|_| place()).collect();
    let mut master = Master { stop, listeners, places };
    master.begin_lives();
    master.wait_until_ready()?;
    announce(master.listeners[0].address())?;
    while !master.is_stopped() {
        master.wait(master.next_life().map(|at| at.saturating_duration_since(Instant::now())))?;
        master.begin_lives();
    }
    master.end_lives()?;
    let totals = master.places.into_iter().map(|place| place.totals).collect();
    conclude(&Summary::of_workers(kind.waits_in(), totals), options, workers.balance)
}

impl Master {
    fn is_stopped(&self) -> bool {
        self.stop.signal().is_some()
    }

    /// When the next worker is due to start again.
    fn next_life(&self) -> Option<Instant> {
        self.places.iter().filter(|place| place.life.is_none()).map(|place| place.next_life).min()
    }

    /// Starts every worker that is due.
    fn begin_lives(&mut self) {
        for (index, place) in self.places.iter_mut().enumerate() {
            if place.life.is_some() || Instant::now() < place.next_life {
                continue;
            }
            match Life::begin(index, &self.listeners[index % self.listeners.len()]) {
                Ok(life) => place.life = Some(life),
                Err(error) => {
                    place.begin_back_off();
                    warn(&format!("failed to start worker {index}: {error}"));
                }
            }
        }
    }

    /// Waits for a signal or for a worker's end, but not longer than `longest`.
    fn wait(&mut self, longest: Option<Duration>) -> Result<(), Error> {
        let mut watched = vec![PollFd::new(&self.stop, PollFlags::IN)];
        let alive: Vec<usize> = (0..self.places.len()).filter(|&index| self.places[index].life.is_some()).collect();
        let lives = alive.iter().filter_map(|&index| self.places[index].life.as_ref());
        // Once it is stopping the signal has been seen, and would not let it wait.
        if self.is_stopped() {
            watched.clear();
        }
        watched.extend(lives.map(|life| PollFd::new(life, PollFlags::IN)));
        let timeout = longest.map(|longest| Timespec {
            tv_sec: longest.as_secs().cast_signed(),
            tv_nsec: longest.subsec_nanos().into(),
        });
        match poll(&mut watched, timeout.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(errno) => return Err(Error::system("wait for workers")(errno)),
        }
        let pipes = watched.len() - alive.len();
        let ready: Vec<bool> = watched[pipes..].iter().map(|pipe| !pipe.revents().is_empty()).collect();
        for (index, _) in alive.into_iter().zip(ready).filter(|&(_, ready)| ready) {
            self.hear(index);
        }
        Ok(())
    }

    /// Waits until each worker serves, or has failed to.
    fn wait_until_ready(&mut self) -> Result<(), Error> {
        let starting = |place: &Place| place.life.as_ref().is_some_and(|life| !life.is_ready());
        while !self.is_stopped() && self.places.iter().any(starting) {
            self.wait(None)?;
        }
        Ok(())
    }

    /// Takes what worker `index` printed, and its end.
    fn hear(&mut self, index: usize) {
        let stopping = self.is_stopped();
        let place = &mut self.places[index];
        let Some(mut life) = place.life.take() else { return };
        match life.read() {
            Ok(false) => {
                // It was not ready when the others were asked.
                if stopping {
                    life.ask_to_end();
                }
                place.life = Some(life);
            }
            // A pipe that cannot be read is as good as closed.
            Ok(true) | Err(_) => place.bury(life, index, stopping),
        }
    }

    fn end_lives(&mut self) -> Result<(), Error> {
        let deadline = Instant::now() + PATIENCE;
        // A worker that has no handler yet would die of the signal and leave its queue unanswered.
        for life in self.places.iter().filter_map(|place| place.life.as_ref()).filter(|life| life.is_ready()) {
            life.ask_to_end();
        }
        while self.places.iter().any(|place| place.life.is_some()) {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                self.places.iter_mut().filter_map(|place| place.life.as_mut()).for_each(Life::kill);
            }
            self.wait(Some(left.max(Duration::from_millis(10))))?;
        }
        Ok(())
    }
}

impl Place {
    fn bury(&mut self, life: Life, index: usize, stopping: bool) {
        let lived = life.began.elapsed();
        let end = match life.end() {
            Ok(end) => end,
            Err(error) => return warn(&format!("failed to wait for worker {index}: {error}")),
        };
        match end.totals {
            Some(totals) => self.totals.totals += totals,
            None => self.totals.lives_not_counted += 1,
        }
        if stopping {
            if end.totals.is_none() {
                warn(&format!("worker {index} (pid {}) ended without its totals: {}", end.pid, how(end.status)));
            }
            return;
        }
        if lived >= LONG_LIFE {
            self.back_off = FIRST_BACK_OFF;
        }
        self.totals.restarts += 1;
        let wait = self.begin_back_off();
        let End { pid, status, .. } = end;
        warn(&format!("worker {index} (pid {pid}) ended: {}; starting it again in {wait:?}", how(status)));
    }

    /// Puts the next life off, and gives by how much.
    fn begin_back_off(&mut self) -> Duration {
        let wait = self.back_off;
        self.next_life = Instant::now() + wait;
        self.back_off = (wait * 2).min(LONGEST_BACK_OFF);
        wait
    }
}

/// `exit status: 1`, or `signal: 9 (SIGKILL)`.
fn how(status: ExitStatus) -> String {
    status.to_string()
}
