//! `echo-oneshot`: one epoll, and a pool of threads that take turns by EPOLLONESHOT.

use std::process::ExitCode;

use clap::Parser;
use echo_core::{
    exit_code,
    server::{ServerOptions, WorkerOptions, serve_by_pool},
};

/// Echo server with one epoll and a pool of threads, by EPOLLONESHOT
///
/// Prints `listening on ADDRESS:PORT` when it is ready. SIGINT or SIGTERM ends it with its totals.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    #[command(flatten)]
    server: ServerOptions,
    #[command(flatten)]
    workers: WorkerOptions,
}

fn main() -> ExitCode {
    let Arguments { server, workers } = Arguments::parse();
    exit_code(serve_by_pool(&server, &workers))
}
