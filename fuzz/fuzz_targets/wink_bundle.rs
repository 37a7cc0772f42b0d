//! Any bytes are read as `wink.bundle` or refused.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| turnkeep_testkit::laws::total::fuzz("wink.bundle", bytes));
