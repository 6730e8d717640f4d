//! The command line of `bench --http`, as typed.

use super::request::{Header, Url};

/// What to ask of a web server.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Web server")]
pub struct HttpOptions {
    /// GET this from a web server instead of talking to an echo server; with --mode long (keep-alive) as `ab -k` does, with
    /// short as `ab` without
    #[arg(long, value_name = "URL", conflicts_with_all = ["host", "port", "payload", "classic_host"])]
    pub http: Option<Url>,
    /// Send this with each request, such as 'Accept-Encoding: gzip'; may be repeated
    #[arg(long, value_name = "NAME: VALUE", requires = "http")]
    pub header: Vec<Header>,
}
