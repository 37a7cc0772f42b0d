//! Any bytes are read as `anthropic.messages` or refused.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| turnkeep_testkit::laws::total::fuzz("anthropic.messages", bytes));
