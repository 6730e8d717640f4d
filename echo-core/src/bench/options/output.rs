//! Where the result goes, and what stops a run before it starts.

use std::path::PathBuf;

/// Where the result goes, and what stops a run before it starts.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Output and checks")]
pub struct OutputOptions {
    /// Write the result to this file as JSON
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write the distribution of latencies to this file, in the form of HdrHistogram's percentile output
    #[arg(long, value_name = "FILE")]
    pub hdr: Option<PathBuf>,
    /// Make the run although a check before it says that it cannot go well
    #[arg(long)]
    pub force: bool,
}
