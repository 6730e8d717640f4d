//! The reply of a web server on a slot's connection: bytes in, until it is whole. Does not know how HTTP frames it.

use rustix::{
    event::epoll::EventFlags,
    io::Errno,
    net::{self, RecvFlags},
};

use super::{Slot, Step};
use crate::bench::{clock::now_ns, failure::Failure, job::Gear};

/// The first status that tells of an error.
const BAD_STATUS: u16 = 400;

impl Slot {
    /// Receives until the reply is whole or nothing more is there.
    pub(super) fn receive_http(&mut self, gear: &mut Gear) -> Result<Step, Failure> {
        let Some(socket) = &self.socket else { return Ok(Step::Waits) };
        loop {
            let received = match net::recv(socket, &mut *gear.buffer, RecvFlags::empty()) {
                Ok((_, received)) => received,
                Err(Errno::AGAIN) => return Ok(Step::Waits),
                Err(errno) => return Err(errno.into()),
            };
            let at_ns = now_ns();
            if received > 0 && self.received == 0 {
                gear.tally.first_byte.record(at_ns.saturating_sub(self.started_ns));
            }
            self.received += received;
            let is_whole = if received == 0 {
                self.reply.end().map(|()| true)
            } else {
                self.reply.feed(&gear.buffer[..received])
            }?;
            if is_whole {
                self.peer_ended |= !self.reply.keeps_alive();
                let status = self.reply.status();
                *gear.tally.statuses.entry(status).or_default() += 1;
                let mut answer = self.answered(at_ns);
                answer.flaw = (status >= BAD_STATUS).then_some(Failure::BadStatus);
                return Ok(Step::Answered(answer));
            }
        }
    }

    /// Between two requests a web server may end a connection that has been idle for long: that is no failure, and the next
    /// request has a new one.
    pub(super) fn on_idle_event(&mut self, flags: EventFlags, gear: &Gear) {
        if gear.job.http.is_some() && flags.intersects(EventFlags::IN | EventFlags::HUP | EventFlags::ERR) {
            self.close();
        }
    }
}
