//! `echo-mt`: an event loop in each of several threads of one process.

use std::process::ExitCode;

use clap::Parser;
use echo_core::{
    exit_code,
    server::{ServerOptions, Sharing, WorkerOptions, serve_by_threads},
};

/// Multi-threaded, level-triggered epoll echo server: an epoll for each thread
///
/// Prints `listening on ADDRESS:PORT` when it is ready. SIGINT or SIGTERM ends it with its totals.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    #[command(flatten)]
    server: ServerOptions,
    #[command(flatten)]
    workers: WorkerOptions,
    /// How the threads share the port
    #[arg(long, value_enum, default_value_t = Sharing::Reuseport)]
    accept: Sharing,
}

fn main() -> ExitCode {
    let Arguments { server, workers, accept } = Arguments::parse();
    exit_code(serve_by_threads(&server, &workers, accept))
}
