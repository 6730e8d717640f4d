//! One connection on a ring: what waits to be sent, and which requests are under way. Does not talk to the ring.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// A connection and its requests; it may be closed when none is left.
#[derive(Debug)]
pub(super) struct Connection {
    socket: OwnedFd,
    /// Came while an answer was under way.
    pending: Vec<u8>,
    sending: bool,
    receive: Receive,
    /// Nothing more comes, or can be sent.
    ended: bool,
}

/// The request to receive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Receive {
    /// None.
    Idle,
    /// Under way.
    Armed,
    /// Taken back, which has not come through yet.
    Cancelled,
}

/// What to ask of the ring next.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Nothing: wait.
    Nothing,
    /// Send these bytes.
    Send(Vec<u8>),
    /// Ask for bytes.
    Receive,
    /// Ask for no more bytes.
    StopReceiving,
    /// Forget it.
    Close,
}

impl Connection {
    /// A new one, whose receive was asked for.
    pub(super) fn new(socket: OwnedFd) -> Self {
        Self { socket, pending: Vec::new(), sending: false, receive: Receive::Armed, ended: false }
    }

    pub(super) fn into_socket(self) -> OwnedFd {
        self.socket
    }

    /// Notes bytes that came; `more` will follow without asking.
    pub(super) fn received(&mut self, bytes: &[u8], more: bool) {
        self.pending.extend_from_slice(bytes);
        if !more {
            self.receive = Receive::Idle;
        }
    }

    /// Notes that the receive came to an end, and whether the stream did.
    pub(super) fn receive_ended(&mut self, stream_ended: bool) {
        self.receive = Receive::Idle;
        self.ended |= stream_ended;
    }

    /// Notes that `sent` of `bytes` went out.
    pub(super) fn sent(&mut self, sent: usize, mut bytes: Vec<u8>) {
        self.sending = false;
        if sent < bytes.len() {
            bytes.drain(..sent);
            bytes.append(&mut self.pending);
            self.pending = bytes;
        }
    }

    /// Notes that nothing can be sent any more.
    pub(super) fn broke(&mut self) {
        self.sending = false;
        self.ended = true;
        self.pending = Vec::new();
    }

    /// What follows from all that was noted. To be asked until nothing does.
    pub(super) fn next(&mut self, most_pending_bytes: usize) -> Step {
        if !self.sending && !self.pending.is_empty() {
            self.sending = true;
            return Step::Send(std::mem::take(&mut self.pending));
        }
        // A peer that does not read its answers is not read from.
        let full = self.pending.len() >= most_pending_bytes;
        match self.receive {
            Receive::Armed if full || self.ended => {
                self.receive = Receive::Cancelled;
                Step::StopReceiving
            }
            Receive::Armed | Receive::Cancelled => Step::Nothing,
            Receive::Idle if self.ended && !self.sending => Step::Close,
            Receive::Idle if self.ended || full => Step::Nothing,
            Receive::Idle => {
                self.receive = Receive::Armed;
                Step::Receive
            }
        }
    }
}

impl AsFd for Connection {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;

    use super::*;

    /// The socket is never used.
    fn connection() -> Connection {
        Connection::new(UdpSocket::bind("127.0.0.1:0").expect("a free port").into())
    }

    #[test]
    fn one_answer_at_a_time_and_the_rest_of_it_first() {
        let mut connection = connection();
        connection.received(b"abc", true);
        assert_eq!(connection.next(100), Step::Send(b"abc".to_vec()));
        connection.received(b"de", true);
        assert_eq!(connection.next(100), Step::Nothing);
        connection.sent(1, b"abc".to_vec());
        assert_eq!(connection.next(100), Step::Send(b"bcde".to_vec()));
        connection.sent(4, b"bcde".to_vec());
        assert_eq!(connection.next(100), Step::Nothing);
    }

    #[test]
    fn a_peer_that_does_not_read_is_not_read_from_until_it_does() {
        let mut connection = connection();
        connection.received(b"abc", true);
        assert_eq!(connection.next(2), Step::Send(b"abc".to_vec()));
        connection.received(b"de", true);
        assert_eq!(connection.next(2), Step::StopReceiving);
        assert_eq!(connection.next(2), Step::Nothing);
        connection.receive_ended(false);
        assert_eq!(connection.next(2), Step::Nothing);
        connection.sent(3, b"abc".to_vec());
        assert_eq!(connection.next(2), Step::Send(b"de".to_vec()));
        assert_eq!(connection.next(2), Step::Receive);
    }

    #[test]
    fn it_is_closed_when_nothing_is_under_way() {
        let mut connection = connection();
        connection.received(b"abc", true);
        assert_eq!(connection.next(100), Step::Send(b"abc".to_vec()));
        connection.receive_ended(true);
        assert_eq!(connection.next(100), Step::Nothing);
        connection.sent(3, b"abc".to_vec());
        assert_eq!(connection.next(100), Step::Close);
    }

    #[test]
    fn a_broken_one_takes_its_receive_back_before_it_is_closed() {
        let mut connection = connection();
        connection.broke();
        assert_eq!(connection.next(100), Step::StopReceiving);
        connection.receive_ended(false);
        assert_eq!(connection.next(100), Step::Close);
    }
}
