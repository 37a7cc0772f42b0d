//! Any bytes are read as `lucee.session` or refused.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| turnkeep_testkit::laws::total::fuzz("lucee.session", bytes));
