//! What holds for the formats and for YAML.
#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod anthropic;
mod bedrock;
mod classic;
mod clients;
mod cognesy;
mod content;
mod corpus;
mod edges;
mod frozen;
mod gemini;
mod geppetto;
mod geppetto_events;
#[cfg(feature = "sqlite")]
mod geppetto_store;
mod laws;
mod llm4s;
mod lucee;
mod lucee_calls;
mod markdown;
mod models;
mod mutants;
mod ollama_chat;
mod openai_chat;
mod pairs;
mod policies;
mod recognise;
mod recorded;
mod rejected;
mod responses;
mod stream_extras;
mod turns;
mod vendor_mock;
mod view;
mod wink;
mod wire_table;
mod wires;
mod yaml;
