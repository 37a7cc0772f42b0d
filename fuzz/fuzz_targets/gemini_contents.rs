//! Any bytes are read as `gemini.contents` or refused.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| turnkeep_testkit::laws::total::fuzz("gemini.contents", bytes));
