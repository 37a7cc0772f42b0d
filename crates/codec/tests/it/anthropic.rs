//! What holds for Anthropic's Messages.

use crate::corpus;

const DIALECT: &str = "anthropic";
const WIRE: &str = "anthropic.messages";

/// Recorded bodies that are not given back with the same meaning, and why.
const EXCEPTIONS: &[(&str, &str)] = &[];

#[test]
fn recorded_bodies_are_given_back() {
    corpus::check_given_back(DIALECT, corpus::wire(WIRE), "recorded_bodies_are_given_back", EXCEPTIONS);
}
