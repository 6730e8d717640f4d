//! The result of our own load generator, as `bench --json` writes it: the one format that has everything.

use super::{Parsed, lines::Lines};
use crate::{
    bench::{BenchResult, BenchSeries, SCHEMA},
    recording::Fact,
};

pub(super) fn is_in(lines: &Lines) -> bool {
    lines.text().trim_start().starts_with('{')
}

pub(super) fn parse(lines: &Lines) -> Result<Parsed, String> {
    #[derive(serde::Deserialize)]
    struct Header {
        schema: u32,
    }
    let text = lines.text();
    let runs = runs(text);
    let newer = serde_json::from_str(text).ok().filter(|header: &Header| header.schema > SCHEMA);
    if let Some(header) = newer {
        return Err(format!("it has schema {}, this version reads up to {SCHEMA}", header.schema));
    }
    let runs = runs.map_err(|error| error.to_string())?;
    Ok(Parsed {
        duration_ns: runs.iter().map(|run| run.elapsed_ns).fold(0, u64::saturating_add),
        shortfall: runs.iter().any(|run| run.partial).then(|| "the load generator was stopped".to_owned()),
        bench: runs,
        unknown: vec![Fact::Syscalls.into()],
        ..Parsed::default()
    })
}

/// One run, or those of `--repeat` and `--sweep`.
fn runs(text: &str) -> serde_json::Result<Vec<BenchResult>> {
    match serde_json::from_str(text) {
        Ok(BenchSeries { runs, .. }) => Ok(runs),
        Err(_) => serde_json::from_str(text).map(|run| vec![run]),
    }
}
