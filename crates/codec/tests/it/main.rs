//! What holds for the formats and for YAML.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod anthropic;
mod bedrock;
mod corpus;
mod geppetto;
mod laws;
mod wires;
mod yaml;
