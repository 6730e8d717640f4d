//! `echo-mp`: a master and worker processes, each with its own listener on one port.

use std::process::ExitCode;

use clap::Parser;
use echo_core::{
    exit_code,
    server::{ServerOptions, WorkerIdentity, WorkerKind, WorkerOptions, serve_by_processes},
};

/// Multi-process, level-triggered epoll echo server: a listener (SO_REUSEPORT) and an epoll for each worker
///
/// Prints `listening on ADDRESS:PORT` when it is ready. A worker that dies is started again. SIGINT or SIGTERM ends all of
/// them, after they have answered what was sent until then, with their totals.
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
    exit_code(serve_by_processes(&server, &workers, identity, WorkerKind::EventLoop))
}
