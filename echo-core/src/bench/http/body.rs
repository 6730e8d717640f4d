//! How a body is framed, piece by piece (RFC 9112, 6 and 7). Does not look into it.

use httparse::{EMPTY_HEADER, Status};

use crate::bench::Failure;

const MOST_TRAILERS: usize = 100;

/// What of a body is to come next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Body {
    /// So many bytes, and then nothing.
    Length(u64),
    /// The line that says how long the next chunk is.
    ChunkSize,
    /// So many bytes of a chunk.
    Chunk(u64),
    /// The line end after a chunk.
    ChunkEnd,
    /// Header lines after the last chunk, and an empty one.
    Trailer,
    /// All that comes until the stream ends.
    UntilClose,
}

/// What was taken off the front of what has come, and what is to follow; nothing follows the end of the body.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    pub(super) taken: usize,
    pub(super) next: Option<Body>,
}

impl Body {
    /// Takes the next piece; nothing when it has not come whole.
    ///
    /// # Errors
    /// [`Failure::MalformedReply`] when it cannot be one.
    pub(super) fn take(self, bytes: &[u8]) -> Result<Option<Piece>, Failure> {
        if bytes.is_empty() {
            return Ok(None);
        }
        Ok(match self {
            Self::Length(left) => Some(data(bytes, left, Self::Length, None)),
            Self::Chunk(left) => Some(data(bytes, left, Self::Chunk, Some(Self::ChunkEnd))),
            Self::UntilClose => Some(Piece { taken: bytes.len(), next: Some(self) }),
            Self::ChunkSize => chunk_size(bytes)?,
            Self::ChunkEnd => match bytes {
                [b'\r', b'\n', ..] => Some(Piece { taken: 2, next: Some(Self::ChunkSize) }),
                [b'\r'] => None,
                _ => return Err(Failure::MalformedReply),
            },
            Self::Trailer => trailer(bytes)?,
        })
    }
}

/// As much of `left` bytes as is there.
fn data(bytes: &[u8], left: u64, rest: fn(u64) -> Body, after: Option<Body>) -> Piece {
    let taken = usize::try_from(left).map_or(bytes.len(), |left| left.min(bytes.len()));
    let left = left - taken as u64;
    Piece { taken, next: if left > 0 { Some(rest(left)) } else { after } }
}

fn chunk_size(bytes: &[u8]) -> Result<Option<Piece>, Failure> {
    // The library takes no digits at all for a zero.
    if !bytes[0].is_ascii_hexdigit() {
        return Err(Failure::MalformedReply);
    }
    Ok(match httparse::parse_chunk_size(bytes).map_err(|_| Failure::MalformedReply)? {
        Status::Complete((taken, 0)) => Some(Piece { taken, next: Some(Body::Trailer) }),
        Status::Complete((taken, size)) => Some(Piece { taken, next: Some(Body::Chunk(size)) }),
        Status::Partial => None,
    })
}

fn trailer(bytes: &[u8]) -> Result<Option<Piece>, Failure> {
    let mut headers = [EMPTY_HEADER; MOST_TRAILERS];
    Ok(match httparse::parse_headers(bytes, &mut headers).map_err(|_| Failure::MalformedReply)? {
        Status::Complete((taken, _)) => Some(Piece { taken, next: None }),
        Status::Partial => None,
    })
}
