//! HTTP/1.1 as the load of a run: which bytes ask, and when a reply is whole. Pure: does not touch sockets or clocks, which
//! are the same slots and workers as for the echo load.

mod body;
mod options;
mod reply;
mod request;

pub use options::HttpOptions;
pub(super) use reply::Reply;
pub use request::{Request, Url};
