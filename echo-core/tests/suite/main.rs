//! The real binaries against each other and against peers that misbehave. Needs no root; every process it starts ends
//! with its test.

mod bench_counts;
mod bench_failures;
mod bench_load;
mod bench_series;
mod bench_trust;
mod bench_usage;
mod draining;
mod echo;
mod models;
mod options;
mod overload;
mod peer;
mod process;
mod processes;
mod totals;
mod uring;

/// The binaries that `bench` is tried against.
const SERVERS: [&str; 2] = [env!("CARGO_BIN_EXE_echo-epoll-lt"), env!("CARGO_BIN_EXE_echo-epoll-et")];

/// Runs each claim against each server, as a test of its own.
macro_rules! for_each_server {
    ($($claim:ident),+ $(,)?) => {
        mod level_triggered {
            $(#[test] fn $claim() { super::$claim($crate::SERVERS[0]); })+
        }
        mod edge_triggered {
            $(#[test] fn $claim() { super::$claim($crate::SERVERS[1]); })+
        }
    };
}
pub(crate) use for_each_server;
