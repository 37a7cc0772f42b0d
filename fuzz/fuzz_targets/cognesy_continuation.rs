//! Any bytes are read as `cognesy.continuation` or refused.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| turnkeep_testkit::laws::total::fuzz("cognesy.continuation", bytes));
