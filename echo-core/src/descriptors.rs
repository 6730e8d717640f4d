//! Room for file descriptors: the soft limit is raised as far as the hard one allows. Does not open any.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::Error;

/// Beside connections: stdio, the signal pipe, the JSON file, /proc, and what was inherited.
const SPARE: u64 = 24;

/// Raises the soft limit to the hard one. That is safe for a program that never calls select(2).
///
/// # Errors
/// When the kernel says no; the limit is then as before.
pub(crate) fn raise_limit() -> Result<(), Error> {
    let limit = getrlimit(Resource::Nofile);
    if limit.current == limit.maximum {
        return Ok(());
    }
    setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum })
        .map_err(Error::system("raise the limit of file descriptors"))
}

/// Connections for which this process can make room, beside an epoll for each of `threads`.
pub(crate) fn room_for_connections(threads: u32) -> u32 {
    let spare = u64::from(threads) + SPARE;
    let room = getrlimit(Resource::Nofile).maximum.map_or(u64::from(u32::MAX), |maximum| maximum.saturating_sub(spare));
    u32::try_from(room).unwrap_or(u32::MAX)
}

/// Makes room for `connections`, and an epoll for each of `threads`.
///
/// # Errors
/// [`Error::FdLimit`] when even the hard limit is too low.
pub(crate) fn make_room(connections: u32, threads: u32) -> Result<(), Error> {
    let needed = u64::from(connections) + u64::from(threads) + SPARE;
    let limit = getrlimit(Resource::Nofile);
    match (limit.current, limit.maximum) {
        (None, _) => Ok(()),
        (Some(current), _) if current >= needed => Ok(()),
        (_, Some(maximum)) if maximum < needed => Err(Error::FdLimit { connections, needed, limit: maximum }),
        _ => raise_limit(),
    }
}
