//! Plain lines of a result. Stands in for `reports::text::bench` until that is merged.

use std::fmt::Write;

use reports::{bench::BenchResult, histogram::Histogram};

/// The result as text, every figure of which is in the JSON too.
#[must_use]
pub fn text(result: &BenchResult) -> String {
    let mut out = String::new();
    // Writing to a String does not fail.
    let _ = lines(result, &mut out);
    out
}

fn lines(result: &BenchResult, out: &mut String) -> std::fmt::Result {
    let settings = &result.settings;
    let (mode, partial) = (settings.mode.name(), if result.partial { " (partial)" } else { "" });
    writeln!(out, "{}: {mode}, {} connections{partial}", settings.address, settings.connections)?;
    match result.requests_per_s() {
        Some(rate) => writeln!(out, "requests per second: {rate:.0}")?,
        None => writeln!(out, "requests per second: -")?,
    }
    writeln!(out, "ok: {}, failed: {}", result.ok, result.failures())?;
    for (kind, count) in &result.failed {
        writeln!(out, "failed {kind}: {count}")?;
    }
    latency(out, "connect", &result.connect)?;
    latency(out, "request", &result.request)?;
    for (name, change) in &result.kernel_counters {
        writeln!(out, "kernel {name}: {change:+}")?;
    }
    Ok(())
}

fn latency(out: &mut String, name: &str, histogram: &Histogram) -> std::fmt::Result {
    let micros = |ns: Option<u64>| ns.map_or_else(|| "-".to_owned(), |ns| format!("{:.1}", ns as f64 / 1e3));
    let [p50, p90, p99] = [0.5, 0.9, 0.99].map(|q| micros(histogram.quantile(q)));
    let (min, max) = (micros(histogram.min()), micros(histogram.max()));
    writeln!(out, "{name} us: min {min}, p50 {p50}, p90 {p90}, p99 {p99}, max {max}")
}
