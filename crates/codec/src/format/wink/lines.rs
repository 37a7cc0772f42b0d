//! Documents of one JSON value a line.

use turnkeep_model::json::{Nan, Node, parse_with};
use turnkeep_model::{Error, Result};

use crate::input;

/// Whether a text is several lines of which the first is a whole object.
pub(super) fn is_lines(text: &str) -> bool {
    let mut lines = input::lines(text).filter(|line| !line.trim().is_empty());
    let first = lines.next().unwrap_or_default();
    lines.next().is_some() && parse_line(first).is_ok_and(|node| node.as_object().is_some())
}

/// The lines that hold something, with their numbers from 1.
pub(super) fn numbered(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()).map(|(index, line)| (index + 1, line))
}

/// The value of one line.
pub(super) fn parse_line(line: &str) -> Result<Node<'_>> {
    parse_with(line, Nan::Accept)
}

/// The error of a line, with its number in the whole text.
pub(super) fn in_line(error: Error, number: usize) -> Error {
    error.line(number)
}
