//! One request on a connection: its bytes out, the reply in, every byte compared.

use rustix::{
    io::Errno,
    net::{self, RecvFlags, SendFlags},
};

use super::{Phase, Slot, Step};
use crate::bench::{clock::now_ns, failure::Failure, job::Gear};

impl Slot {
    /// Sends until all is sent or the socket is full. While connecting, the first success is the proof of it.
    pub(super) fn send(&mut self, gear: &mut Gear) -> Result<(), Failure> {
        let job = gear.job;
        let payload = job.pattern.payload(&self.window);
        while self.sent < payload.len() {
            let Some(socket) = &self.socket else { return Ok(()) };
            let before_ns = if self.sent == 0 { now_ns() } else { 0 };
            let sent = match net::send(socket, &payload[self.sent..], SendFlags::NOSIGNAL) {
                Ok(sent) => sent,
                Err(Errno::AGAIN) => return Ok(()),
                Err(errno) => return Err(errno.into()),
            };
            if self.phase == Phase::Connecting {
                self.phase = Phase::Exchanging;
                self.connected(before_ns, gear);
            }
            if self.sent == 0 {
                self.started_ns = before_ns;
            }
            self.sent += sent;
        }
        Ok(())
    }

    pub(super) fn all_sent(&self) -> bool {
        self.sent == self.window.len()
    }

    /// Receives until the reply is whole or nothing more is there. To EAGAIN, not to a short receive: an end of the stream
    /// that came together with the last bytes gives no second edge.
    pub(super) fn receive(&mut self, gear: &mut Gear) -> Result<Step, Failure> {
        let Some(socket) = &self.socket else { return Ok(Step::Waits) };
        let job = gear.job;
        let payload = job.pattern.payload(&self.window);
        let mut at_ns = 0;
        while self.received < payload.len() {
            let end = match net::recv(socket, &mut *gear.buffer, RecvFlags::empty()) {
                Ok((_, 0)) if self.received == 0 => return Err(Failure::Closed),
                Ok((_, 0)) => return Err(Failure::ShortReply),
                Ok((_, received)) => self.received + received,
                Err(Errno::AGAIN) => return Ok(Step::Waits),
                Err(errno) => return Err(errno.into()),
            };
            // One reading serves first and last byte where they come together.
            if self.received == 0 || end >= payload.len() {
                at_ns = now_ns();
            }
            if self.received == 0 {
                gear.tally.first_byte.record(at_ns - self.started_ns);
            }
            if payload.get(self.received..end) != Some(&gear.buffer[..end - self.received]) {
                return Err(Failure::WrongPayload);
            }
            self.received = end;
        }
        Ok(self.answer(at_ns))
    }
}
