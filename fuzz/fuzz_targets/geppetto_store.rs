//! Any bytes are read as `geppetto.store` or refused.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| turnkeep_testkit::laws::total::fuzz("geppetto.store", bytes));
