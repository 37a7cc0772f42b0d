//! Any bytes are read as `wink.conversation` or refused.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| turnkeep_testkit::laws::total::fuzz("wink.conversation", bytes));
