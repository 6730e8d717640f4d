//! One reply as it comes in: where its head ends, how its body is framed, when it is whole. Does not keep the body.

use httparse::{EMPTY_HEADER, Header, Response, Status};

use super::body::{Body, Piece};
use crate::bench::Failure;

const MOST_HEADERS: usize = 100;
/// Longest head, chunk line or trailer.
const LONGEST_PIECE_BYTES: usize = 64 << 10;

/// A reply that is being received: fed with what each receive took, until it is whole.
#[derive(Debug)]
pub(in crate::bench) struct Reply {
    state: State,
    /// A head or a line whose end has not come.
    carried: Vec<u8>,
    /// Status of the head, once it is there.
    status: u16,
    keeps_alive: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Head,
    Body(Body),
    Whole,
}

impl Reply {
    pub(in crate::bench) fn new() -> Self {
        Self { state: State::Head, carried: Vec::new(), status: 0, keeps_alive: false }
    }

    /// Makes it ready for the next reply; what was allocated stays.
    pub(in crate::bench) fn restart(&mut self) {
        self.state = State::Head;
        self.carried.clear();
        (self.status, self.keeps_alive) = (0, false);
    }

    /// Status code, as 200; 0 before the head is there.
    pub(in crate::bench) fn status(&self) -> u16 {
        self.status
    }

    /// Whether the server goes on with the connection after this reply.
    pub(in crate::bench) fn keeps_alive(&self) -> bool {
        self.keeps_alive
    }

    /// Takes the next bytes; true when the reply is whole.
    ///
    /// # Errors
    /// [`Failure::MalformedReply`] when that is not HTTP, or more than one reply: none but ours was asked for.
    pub(in crate::bench) fn feed(&mut self, bytes: &[u8]) -> Result<bool, Failure> {
        let joined;
        let mut rest = bytes;
        if !self.carried.is_empty() {
            self.carried.extend_from_slice(bytes);
            joined = std::mem::take(&mut self.carried);
            rest = &joined;
        }
        loop {
            if self.state == State::Whole {
                return if rest.is_empty() { Ok(true) } else { Err(Failure::MalformedReply) };
            }
            match self.step(rest)? {
                Some(taken) => rest = &rest[taken..],
                None if rest.len() > LONGEST_PIECE_BYTES => return Err(Failure::MalformedReply),
                None => {
                    self.carried.extend_from_slice(rest);
                    return Ok(false);
                }
            }
        }
    }

    /// The server has ended the stream: whether that makes the reply whole.
    ///
    /// # Errors
    /// [`Failure::Closed`] before its first byte, [`Failure::ShortReply`] within it.
    pub(in crate::bench) fn end(&mut self) -> Result<(), Failure> {
        match self.state {
            State::Head if self.status == 0 && self.carried.is_empty() => Err(Failure::Closed),
            State::Body(Body::UntilClose) | State::Whole => {
                self.state = State::Whole;
                Ok(())
            }
            State::Head | State::Body(_) => Err(Failure::ShortReply),
        }
    }

    /// Takes one piece off the front; nothing when it has not come whole.
    fn step(&mut self, bytes: &[u8]) -> Result<Option<usize>, Failure> {
        match self.state {
            State::Head => self.head(bytes),
            State::Body(body) => {
                let Some(Piece { taken, next }) = body.take(bytes)? else { return Ok(None) };
                self.state = next.map_or(State::Whole, State::Body);
                Ok(Some(taken))
            }
            State::Whole => Ok(None),
        }
    }

    fn head(&mut self, bytes: &[u8]) -> Result<Option<usize>, Failure> {
        let mut headers = [EMPTY_HEADER; MOST_HEADERS];
        let mut response = Response::new(&mut headers);
        let Status::Complete(taken) = response.parse(bytes).map_err(|_| Failure::MalformedReply)? else {
            return Ok(None);
        };
        let (Some(version), Some(status)) = (response.version, response.code) else {
            return Err(Failure::MalformedReply);
        };
        self.status = status;
        match status {
            // Nobody asked for another protocol.
            0..=99 | 101 => return Err(Failure::MalformedReply),
            // Only a foretaste: the reply itself follows.
            100..=199 => return Ok(Some(taken)),
            _ => {}
        }
        let body = if matches!(status, 204 | 304) { None } else { framing(response.headers)? };
        self.keeps_alive = body != Some(Body::UntilClose) && keeps_alive(version, response.headers);
        self.state = body.map_or(State::Whole, State::Body);
        Ok(Some(taken))
    }
}

/// How the end of the body is known (RFC 9112, 6.3); nothing when there is no body.
fn framing(headers: &[Header]) -> Result<Option<Body>, Failure> {
    if let Some(last) = tokens(headers, "transfer-encoding").last() {
        return Ok(Some(if last.eq_ignore_ascii_case(b"chunked") { Body::ChunkSize } else { Body::UntilClose }));
    }
    let mut length = None;
    for token in tokens(headers, "content-length") {
        let digits = std::str::from_utf8(token).ok().filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
        let bytes: u64 = digits.and_then(|digits| digits.parse().ok()).ok_or(Failure::MalformedReply)?;
        if length.is_some_and(|length| length != bytes) {
            return Err(Failure::MalformedReply);
        }
        length = Some(bytes);
    }
    Ok(match length {
        Some(0) => None,
        Some(bytes) => Some(Body::Length(bytes)),
        None => Some(Body::UntilClose),
    })
}

fn keeps_alive(minor_version: u8, headers: &[Header]) -> bool {
    let says = |word: &[u8]| tokens(headers, "connection").any(|token| token.eq_ignore_ascii_case(word));
    if minor_version == 0 { says(b"keep-alive") && !says(b"close") } else { !says(b"close") }
}

/// The comma-separated words of all headers of this name.
fn tokens<'a>(headers: &'a [Header], name: &'a str) -> impl Iterator<Item = &'a [u8]> {
    let values = headers.iter().filter(move |header| header.name.eq_ignore_ascii_case(name)).map(|header| header.value);
    values.flat_map(|value| value.split(|&byte| byte == b',')).map(<[u8]>::trim_ascii)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Feeds `text` in pieces of each size; all must lead to the same.
    fn outcome(text: &[u8]) -> Result<(bool, u16, bool), Failure> {
        let by = |size: usize| {
            let mut reply = Reply::new();
            let mut whole = false;
            for piece in text.chunks(size) {
                whole = reply.feed(piece)?;
            }
            Ok((whole, reply.status(), reply.keeps_alive()))
        };
        let at_once = by(text.len());
        for size in 1..text.len() {
            assert_eq!(by(size), at_once, "in pieces of {size}: {}", String::from_utf8_lossy(text));
        }
        at_once
    }

    #[test]
    fn a_body_ends_where_its_length_says() {
        assert_eq!(outcome(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"), Ok((true, 200, true)));
        assert_eq!(outcome(b"HTTP/1.1 200 OK\r\ncontent-length: 5, 5\r\n\r\nhell"), Ok((false, 200, true)));
        assert_eq!(outcome(b"HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n"), Ok((true, 404, true)));
        assert_eq!(outcome(b"HTTP/1.1 204 No\r\n\r\n"), Ok((true, 204, true)));
        assert_eq!(outcome(b"HTTP/1.1 304 No\r\nContent-Length: 9\r\n\r\n"), Ok((true, 304, true)));
    }

    #[test]
    fn a_chunked_body_ends_with_its_last_chunk_and_trailer() {
        let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, Chunked\r\nContent-Length: 3\r\n\r\n";
        for body in ["5\r\nhello\r\n0\r\n\r\n", "5;a=b\r\nhello\r\n1 \r\n!\r\n00\r\nX: y\r\nZ: w\r\n\r\n", "0\r\n\r\n"]
        {
            assert_eq!(outcome(format!("{head}{body}").as_bytes()), Ok((true, 200, true)), "{body}");
        }
        assert_eq!(outcome(format!("{head}5\r\nhello\r\n0\r\n").as_bytes()), Ok((false, 200, true)));
        for body in ["\r\n", "x\r\n", "5\r\nhello!\r\n", "-1\r\n", "ffffffffffffffffff\r\n", "0\r\n\r\nmore"] {
            assert_eq!(outcome(format!("{head}{body}").as_bytes()), Err(Failure::MalformedReply), "{body}");
        }
    }

    #[test]
    fn the_server_says_whether_it_keeps_the_connection() {
        let keeps = |version: &str, headers: &str| {
            outcome(format!("HTTP/{version} 200 OK\r\nContent-Length: 0\r\n{headers}\r\n").as_bytes())
                .map(|(_, _, keeps)| keeps)
        };
        assert_eq!(keeps("1.1", ""), Ok(true));
        assert_eq!(keeps("1.1", "Connection: CLOSE\r\n"), Ok(false));
        assert_eq!(keeps("1.1", "Connection: x, close\r\n"), Ok(false));
        assert_eq!(keeps("1.0", ""), Ok(false));
        assert_eq!(keeps("1.0", "connection: Keep-Alive\r\n"), Ok(true));
    }

    #[test]
    fn without_a_length_the_end_of_the_stream_is_the_end_of_the_body() {
        let mut reply = Reply::new();
        assert_eq!(reply.feed(b"HTTP/1.1 200 OK\r\n\r\nsome"), Ok(false));
        assert_eq!((reply.end(), reply.keeps_alive()), (Ok(()), false));
    }

    #[test]
    fn the_end_of_the_stream_within_a_reply_is_short_and_before_it_closed() {
        assert_eq!(Reply::new().end(), Err(Failure::Closed));
        for part in ["H", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell", "HTTP/1.1 100 Continue\r\n\r\n"] {
            let mut reply = Reply::new();
            assert_eq!(reply.feed(part.as_bytes()), Ok(false));
            assert_eq!(reply.end(), Err(Failure::ShortReply), "{part}");
        }
    }

    #[test]
    fn interim_replies_are_not_the_reply() {
        let text = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx";
        assert_eq!(outcome(text), Ok((true, 200, true)));
    }

    #[test]
    fn what_is_not_http_or_more_than_was_asked_for_is_malformed() {
        let wrong: [&[u8]; 8] = [
            b"SSH-2.0-OpenSSH\r\n",
            b"HTTP/1.1 two hundred\r\n\r\n",
            b"HTTP/1.1 101 Switching\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nContent-Length: five\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nContent-Length: +5\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello!",
            b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\nHTTP/1.1 200 OK\r\n",
        ];
        for text in wrong {
            assert_eq!(outcome(text), Err(Failure::MalformedReply), "{}", String::from_utf8_lossy(text));
        }
        let mut reply = Reply::new();
        let endless = [b"HTTP/1.1 200 OK\r\nX: ".as_slice(), &vec![b'x'; 70_000]].concat();
        assert_eq!(reply.feed(&endless), Err(Failure::MalformedReply));
    }
}
