//! Any bytes are read as `ollama.chat` or refused.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| turnkeep_testkit::laws::total::fuzz("ollama.chat", bytes));
