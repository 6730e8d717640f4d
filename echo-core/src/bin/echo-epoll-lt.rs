//! `echo-epoll-lt`: a single-threaded, level-triggered echo server.

use std::process::ExitCode;

use clap::Parser;
use echo_core::{
    exit_code,
    server::{ServerOptions, Style, Trigger, Write, serve},
};

/// Single-threaded, level-triggered epoll echo server
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
    /// Leave EPOLLOUT registered always, the classic mistake: every idle connection is reported again and again
    #[arg(long)]
    keep_epollout: bool,
}

fn main() -> ExitCode {
    let Arguments { server, write, keep_epollout } = Arguments::parse();
    exit_code(serve(&server, Style { write, keep_epollout, ..Style::direct(Trigger::Level) }))
}
