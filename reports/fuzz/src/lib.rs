//! What the targets ask of the code that they feed. Here and not in them, so that it is compiled once.

mod importing;
mod recording;

pub use importing::importing;
pub use recording::recording;
