//! What holds for the codecs and for YAML.

mod laws;
mod yaml;
