//! Servers and the load generator. Knows nothing of tracing.
// Allowed in `server::uring::ring` only.
#![deny(unsafe_code)]

pub mod bench;
mod descriptors;
mod error;
pub mod server;
mod stop;
mod terminal;

pub use error::Error;
pub use stop::Stop;
pub use terminal::{exit_code, print, print_error, warn};
