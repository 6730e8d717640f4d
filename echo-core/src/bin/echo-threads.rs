//! `echo-threads`: a thread for each connection.

use std::process::ExitCode;

use clap::Parser;
use echo_core::{
    exit_code,
    server::{ServerOptions, serve_by_thread_each},
};

/// Echo server with a thread for each connection
///
/// Prints `listening on ADDRESS:PORT` when it is ready. SIGINT or SIGTERM ends it with its totals.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    #[command(flatten)]
    server: ServerOptions,
}

fn main() -> ExitCode {
    exit_code(serve_by_thread_each(&Arguments::parse().server))
}
