//! `analyzer watch`: listen queues and drops, live.

use anyhow::Result;

use crate::cli::WatchArgs;

pub(crate) fn run(_args: &WatchArgs) -> Result<u8> { Ok(0) }
