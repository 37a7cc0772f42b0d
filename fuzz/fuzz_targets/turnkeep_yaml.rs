//! Any bytes are read as `turnkeep.yaml` or refused.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| turnkeep_testkit::laws::total::fuzz("turnkeep.yaml", bytes));
