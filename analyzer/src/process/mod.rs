//! Processes that a run starts or joins: launching, output, families, users.

pub(crate) mod capture;
pub(crate) mod family;
pub(crate) mod identity;
pub(crate) mod launch;
pub(crate) mod orphans;
pub(crate) mod perf;
pub(crate) mod search;
pub(crate) mod usage;
