//! `echo-epoll-et`: a single-threaded, edge-triggered echo server.

use std::process::ExitCode;

use clap::Parser;
use echo_core::{
    print_error,
    server::{ServerOptions, Trigger, serve},
};

/// Single-threaded, edge-triggered epoll echo server
///
/// Prints `listening on ADDRESS:PORT` when it is ready. SIGINT or SIGTERM ends it with a line of totals.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    #[command(flatten)]
    server: ServerOptions,
}

fn main() -> ExitCode {
    match serve(&Arguments::parse().server, Trigger::Edge) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            print_error(&error);
            ExitCode::FAILURE
        }
    }
}
