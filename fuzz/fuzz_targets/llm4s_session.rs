//! Any bytes are read as `llm4s.session` or refused.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| turnkeep_testkit::laws::total::fuzz("llm4s.session", bytes));
