#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| reports_fuzz::importing(bytes, reports::import::Format::Bench));
