#![no_main]

mod importing;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| importing::check(bytes, reports::import::Format::Ab));
