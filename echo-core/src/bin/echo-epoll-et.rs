//! `echo-epoll-et`: a single-threaded, edge-triggered echo server.

use std::process::ExitCode;

use clap::Parser;
use echo_core::{
    exit_code,
    server::{ServerOptions, Style, Trigger, Write, serve},
};

/// Single-threaded, edge-triggered epoll echo server
///
/// Prints `listening on ADDRESS:PORT` when it is ready. SIGINT or SIGTERM ends it with its totals.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    #[command(flatten)]
    server: ServerOptions,
    /// When answers are sent
    #[arg(long, value_enum, default_value_t = Write::Direct)]
    write: Write,
}

fn main() -> ExitCode {
    let Arguments { server, write } = Arguments::parse();
    exit_code(serve(&server, Style { write, ..Style::direct(Trigger::Edge) }))
}
