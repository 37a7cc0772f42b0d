//! Any bytes are read as `geppetto.turn` or refused.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| turnkeep_testkit::laws::total::fuzz("geppetto.turn", bytes));
