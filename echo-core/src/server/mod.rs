//! The parts that the echo servers share: a binary picks its parts and runs them.

mod accepting;
mod connection;
mod event_loop;
mod listener;
mod options;
mod serve;
mod totals;
mod trigger;

pub use event_loop::EventLoop;
pub use listener::Listener;
pub use options::ServerOptions;
pub use serve::serve;
pub use totals::Totals;
pub use trigger::Trigger;
