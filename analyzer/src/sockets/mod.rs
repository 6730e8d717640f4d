//! Listening sockets: what the kernel says of them, and who holds them.

pub(crate) mod listeners;
pub(crate) mod owners;
