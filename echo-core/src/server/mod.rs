//! The parts that the echo servers share: a binary picks its parts and runs them.

mod accepting;
mod acceptor;
mod blocking;
mod connection;
mod draining;
mod echo;
mod event_loop;
mod listener;
mod loop_threads;
mod oneshot;
mod options;
mod pinning;
mod processes;
mod serve;
mod summary;
mod threads;
mod totals;
mod trigger;
mod uring;
mod watch;

pub use acceptor::serve_by_thread_each;
pub use event_loop::EventLoop;
pub use listener::{Accepted, Blocking, Listener};
pub use loop_threads::{Sharing, serve_by_threads};
pub use oneshot::serve_by_pool;
pub use options::{ServerOptions, WorkerOptions};
pub use processes::{WorkerIdentity, WorkerKind, serve_by_processes};
pub use serve::serve;
pub use summary::{Summary, WorkerTotals};
pub use totals::{SystemCalls, Totals};
pub use trigger::{Style, Trigger, Write};
pub use uring::serve_by_ring;
