//! The analyzer.
fn main() {}
