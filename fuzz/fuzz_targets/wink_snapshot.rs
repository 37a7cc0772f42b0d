//! Any bytes are read as `wink.snapshot` or refused.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| turnkeep_testkit::laws::total::fuzz("wink.snapshot", bytes));
