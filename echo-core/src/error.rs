//! What can go wrong before and around a run, each with its remedy. What happens to single connections and requests
//! is data, not an error: see `server::Totals` and `bench::Failure`.

use std::{io, net::SocketAddr, path::PathBuf};

/// Why a server or the load generator could not do its work.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The server's port could not be had.
    #[error("failed to listen on `{address}`")]
    Listen {
        /// Where.
        address: SocketAddr,
        /// The system's error.
        source: io::Error,
    },
    /// The kernel refused what a loop is built on.
    #[error("failed to {action}")]
    System {
        /// What was tried.
        action: &'static str,
        /// The system's error.
        source: io::Error,
    },
    /// The name of the server leads nowhere.
    #[error("failed to resolve `{host}`")]
    Resolve {
        /// As given.
        host: String,
        /// The resolver's error.
        source: io::Error,
    },
    /// More connections than this process may have file descriptors.
    #[error("`{connections}` connections need {needed} file descriptors, but the limit is {limit}")]
    FdLimit {
        /// Connections asked for.
        connections: u32,
        /// Descriptors they need.
        needed: u64,
        /// The hard limit.
        limit: u64,
    },
    /// Local addresses were asked for that lead nowhere but on loopback.
    #[error("`--sources` spreads over 127.0.0.0/8, but the server is at `{server}`")]
    Sources {
        /// Where the load was to go.
        server: SocketAddr,
    },
    /// Ports of fewer connections than were asked for.
    #[error("`{connections}` connections at once need as many local ports, but {ports} are there")]
    Ports {
        /// Connections asked for.
        connections: u32,
        /// Local ports of all source addresses together.
        ports: u64,
    },
    /// Nobody reads what is to be written there.
    #[error("nobody reads `{}`", path.display())]
    NoReader {
        /// A named pipe.
        path: PathBuf,
    },
    /// Every connect was refused.
    #[error("nobody listens on `{server}`")]
    NobodyListens {
        /// Where the load was to go.
        server: SocketAddr,
    },
    /// The kernel has no io_uring for us.
    #[error("failed to set up io_uring")]
    IoUring {
        /// The system's error.
        source: io::Error,
    },
    /// The result could not be kept.
    #[error("failed to write `{}`", path.display())]
    Write {
        /// Where.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
}

impl Error {
    /// For `map_err` on calls whose failure means that the machine is out of something.
    pub(crate) fn system(action: &'static str) -> impl FnOnce(rustix::io::Errno) -> Self {
        move |errno| Self::System { action, source: errno.into() }
    }

    /// The remedy, where we know one.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Listen { address, source } => match source.kind() {
                io::ErrorKind::AddrInUse => {
                    let port = address.port();
                    Some(format!("who has it: `ss -ltnp 'sport = :{port}'`; or take another with `--port` (0: any)"))
                }
                io::ErrorKind::AddrNotAvailable => {
                    Some("this machine has no such address; `ip address` lists those it has".into())
                }
                io::ErrorKind::PermissionDenied => Some("ports below 1024 need root; choose another `--port`".into()),
                _ => None,
            },
            Self::FdLimit { needed, .. } => Some(format!(
                "raise it in the shell that starts this: `ulimit -n {needed}`, use fewer connections, or go on with `--force`"
            )),
            Self::NobodyListens { server } => {
                Some(format!("is the server running? start one with `echo-epoll-lt --port {}`", server.port()))
            }
            Self::IoUring { source } => Some(match source.kind() {
                io::ErrorKind::PermissionDenied => {
                    "it is forbidden here: by `sysctl kernel.io_uring_disabled` (0 allows it), or by a container's seccomp \
                     filter; `echo-epoll-lt` needs none"
                        .into()
                }
                io::ErrorKind::Unsupported => {
                    "this kernel has none, or an old one: it takes Linux 6.0; `echo-epoll-lt` needs none".into()
                }
                _ => return None,
            }),
            Self::Sources { .. } => Some("leave `--sources` out, or use a server on 127.0.0.1".into()),
            Self::Ports { .. } => Some(
                "widen the range: `sysctl net.ipv4.ip_local_port_range=\"1024 65535\"`; or spread over more source \
                 addresses with `--sources`, use fewer connections, or go on with `--force`"
                    .into(),
            ),
            Self::NoReader { .. } => Some("start its reader first".into()),
            Self::System { .. } | Self::Resolve { .. } | Self::Write { .. } => None,
        }
    }
}
