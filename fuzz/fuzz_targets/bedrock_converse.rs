//! Any bytes are read as `bedrock.converse` or refused.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| turnkeep_testkit::laws::total::fuzz("bedrock.converse", bytes));
