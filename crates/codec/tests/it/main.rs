//! What holds for the formats and for YAML.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod corpus;
mod gemini;
mod geppetto;
mod laws;
mod openai_chat;
mod yaml;
