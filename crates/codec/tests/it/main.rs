//! What holds for the formats and for YAML.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod anthropic;
mod bedrock;
mod beside;
mod classic;
mod clients;
mod cognesy;
mod corpus;
mod gemini;
mod geppetto;
#[cfg(feature = "sqlite")]
mod geppetto_store;
mod laws;
mod llm4s;
mod lucee;
mod markdown;
mod mutants;
mod ollama_chat;
mod openai_chat;
mod pairs;
mod recorded;
mod rejected;
mod responses;
mod turns;
mod wink;
mod wires;
mod yaml;
