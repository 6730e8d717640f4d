//! `echo-uring`: a single-threaded echo server on io_uring.

use std::process::ExitCode;

use clap::Parser;
use echo_core::{
    exit_code,
    server::{ServerOptions, serve_by_ring},
};

/// Single-threaded io_uring echo server: multishot accept and receive, provided buffers
///
/// Needs Linux 6.0 or later. Prints `listening on ADDRESS:PORT` when it is ready. SIGINT or SIGTERM ends it with its totals.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    #[command(flatten)]
    server: ServerOptions,
}

fn main() -> ExitCode {
    exit_code(serve_by_ring(&Arguments::parse().server))
}
