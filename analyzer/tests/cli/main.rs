//! The commands through the real binary, with real probes in the running kernel. Most need root.
//!
//! Each test that reads TCP counters runs in a network namespace of its own: nothing else moves them there.

#![allow(clippy::unwrap_used, reason = "tests")]

mod compare;
mod exactness;
mod failures;
mod load;
mod odd_ends;
mod report;
mod selection;
mod stopping;
mod support;
mod tcp;
mod tcp_closes;
mod tcp_connects;
mod tcp_listeners;
mod tcp_scene;
mod watch;
