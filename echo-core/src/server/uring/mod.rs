//! The echo server on io_uring: multishot accept and receive into buffers that the kernel picks (`echo-uring`).

mod buffers;
mod connection;
mod ring;
mod serving;

pub use serving::serve_by_ring;
