//! Room for file descriptors: raised before the run as far as it may be, refused up front when that is not enough.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::Error;

/// Beside connections: stdio, the signal pipe, the JSON file, /proc, and what was inherited.
const SPARE: u64 = 24;

/// Raises the soft limit to the hard one if `connections` and an epoll for each thread need it.
///
/// # Errors
/// [`Error::FdLimit`] when even that is too low.
pub(super) fn make_room(connections: u32, threads: u32) -> Result<(), Error> {
    let needed = u64::from(connections) + u64::from(threads) + SPARE;
    let limit = getrlimit(Resource::Nofile);
    let enough = |limit: Option<u64>| limit.is_none_or(|limit| limit >= needed);
    if enough(limit.current) {
        return Ok(());
    }
    if !enough(limit.maximum) {
        return Err(Error::FdLimit { connections, needed, limit: limit.maximum.unwrap_or(u64::MAX) });
    }
    setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum })
        .map_err(Error::system("raise the limit of file descriptors"))
}
