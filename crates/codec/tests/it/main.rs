//! What holds for the formats and for YAML.

mod geppetto;
mod laws;
mod yaml;
