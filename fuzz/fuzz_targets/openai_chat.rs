//! Any bytes are read as `openai.chat` or refused.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| turnkeep_testkit::laws::total::fuzz("openai.chat", bytes));
