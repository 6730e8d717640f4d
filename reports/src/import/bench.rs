//! The result of our own load generator, as `bench --json` writes it: the one format that has everything.

use super::{Parsed, lines::Lines};
use crate::{
    bench::{BenchResult, SCHEMA},
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
    let result: Result<BenchResult, _> = serde_json::from_str(text);
    let newer = serde_json::from_str(text).ok().filter(|header: &Header| header.schema > SCHEMA);
    if let Some(header) = newer {
        return Err(format!("it has schema {}, this version reads up to {SCHEMA}", header.schema));
    }
    let result = result.map_err(|error| error.to_string())?;
    Ok(Parsed {
        duration_ns: result.elapsed_ns,
        shortfall: result.partial.then(|| "the load generator was stopped".to_owned()),
        bench: vec![result],
        unknown: vec![Fact::Syscalls.into()],
        ..Parsed::default()
    })
}
