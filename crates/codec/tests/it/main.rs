//! What holds for the formats and for YAML.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod corpus;
mod geppetto;
#[cfg(feature = "sqlite")]
mod geppetto_store;
mod laws;
mod llm4s;
mod lucee;
mod markdown;
mod ollama_chat;
mod openai_chat;
mod wink;
mod yaml;
