//! What holds for the formats and for YAML.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod cognesy;
mod geppetto;
mod laws;
mod llm4s;
mod markdown;
mod wink;
mod yaml;
