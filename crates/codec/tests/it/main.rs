//! What holds for the formats and for YAML.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a test fails by panicking"
)]

mod geppetto;
mod laws;
mod yaml;
