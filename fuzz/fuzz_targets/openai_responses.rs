//! Any bytes are read as `openai.responses` or refused.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| turnkeep_testkit::laws::total::fuzz("openai.responses", bytes));
