//! Policies: their laws, what the five systems define, and the scanner of secrets measured.

mod condense;
mod hide;
mod laws;
mod prune;
mod secrets;
