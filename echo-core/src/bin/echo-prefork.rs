//! `echo-prefork`: worker processes that wait in accept on one listener, and serve one connection at a time.

use std::process::ExitCode;

use clap::Parser;
use echo_core::{
    exit_code,
    server::{ServerOptions, WorkerIdentity, WorkerKind, WorkerOptions, serve_by_processes},
};

/// Pre-forked echo server: blocking accept in each of several processes
///
/// Serves as many connections at once as it has workers; others wait in the accept queue. Prints `listening on
/// ADDRESS:PORT` when it is ready. A worker that dies is started again. SIGINT or SIGTERM ends all of them with their
/// totals.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    #[command(flatten)]
    server: ServerOptions,
    #[command(flatten)]
    workers: WorkerOptions,
    #[command(flatten)]
    identity: WorkerIdentity,
}

fn main() -> ExitCode {
    let Arguments { server, workers, identity } = Arguments::parse();
    exit_code(serve_by_processes(&server, &workers, identity, WorkerKind::BlockingAccept))
}
