//! The command line of `bench`, as typed, one struct for each theme. Does not resolve or check anything beyond single
//! values and what excludes what.

mod connections;
mod load;
mod output;
mod payload;
mod target;
mod values;

use reports::bench::SweepOver;

pub use connections::ConnectionOptions;
pub use load::{LoadOptions, SweepSteps};
pub use output::OutputOptions;
pub use payload::{PayloadOptions, Sizes};
pub use target::{Positional, TargetOptions};
pub use values::Sources;

/// What to ask of which server.
#[derive(Clone, Debug, clap::Args)]
pub struct BenchOptions {
    /// Which server.
    #[command(flatten)]
    pub target: TargetOptions,
    /// How much, and when.
    #[command(flatten)]
    pub load: LoadOptions,
    /// How connections are made, used and ended.
    #[command(flatten)]
    pub connections: ConnectionOptions,
    /// What is sent.
    #[command(flatten)]
    pub payload: PayloadOptions,
    /// Where the result goes, and what stops a run before it starts.
    #[command(flatten)]
    pub output: OutputOptions,
    /// The classic form: the same four as words in a row.
    #[command(flatten)]
    pub positional: Positional,
}

impl BenchOptions {
    /// What was asked for that excludes each other, where no single option can know: in words for the user.
    ///
    /// # Errors
    /// With the sentence.
    pub fn check(&self) -> Result<(), String> {
        let load = &self.load;
        let sweeps = |over| load.sweep.as_ref().is_some_and(|sweep| sweep.over == over);
        if sweeps(SweepOver::Rate) && (load.rate.is_some() || load.think.is_some() || load.pace.is_some()) {
            return Err("--sweep rate=... cannot be used with --rate, --think or --pace".into());
        }
        if sweeps(SweepOver::Rate) && load.duration.is_none() {
            return Err("--sweep rate=... needs a --duration: rates are compared over the same time".into());
        }
        if self.output.hdr.is_some() && load.sweep.is_some() {
            return Err("--hdr holds one distribution: it cannot be used with --sweep".into());
        }
        Ok(())
    }
}
