//! Colours, and what may reach a terminal.
//!
//! Everything that is printed goes through [`printable`], which shows every control character as text. Our own colours
//! are the only exception. They carry a number that is new in every process, so that no text of a session, a file or a
//! vendor can forge one.

use std::fmt;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::LazyLock;

use crate::visible::{visible, visible_line};

/// How a piece of text looks: `{BOLD}text{BOLD:#}`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Style(&'static str);

pub(crate) const PLAIN: Style = Style("");
pub(crate) const BOLD: Style = Style("1");
pub(crate) const DIM: Style = Style("2");
pub(crate) const RED: Style = Style("31");
pub(crate) const GREEN: Style = Style("32");
pub(crate) const YELLOW: Style = Style("33");
pub(crate) const CYAN: Style = Style("36");
pub(crate) const ERROR: Style = Style("1;31");
pub(crate) const HELP: Style = Style("1;36");

const BEGIN: &str = "\x1b[";

/// How a sequence of ours ends. A terminal that is given one as it is ignores the number.
static END: LazyLock<String> = LazyLock::new(|| format!(";{}m", RandomState::new().build_hasher().finish()));

impl fmt::Display for Style {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.0, f.alternate()) {
            ("", _) => Ok(()),
            (_, true) => write!(f, "{BEGIN}0{}", *END),
            (codes, false) => write!(f, "{BEGIN}{codes}{}", *END),
        }
    }
}

/// The text as it may be printed: with our own colours, and everything else visible.
pub(crate) fn printable(text: &str) -> String {
    styled(text, visible)
}

/// The same of a text that is one line.
pub(crate) fn printable_line(text: &str) -> String {
    styled(text, visible_line)
}

fn styled(text: &str, shown: fn(&str) -> String) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, codes, after)) = next_style(rest) {
        out.push_str(&shown(before));
        out.push_str(&format!("{BEGIN}{codes}m"));
        rest = after;
    }
    out.push_str(&shown(rest));
    out
}

fn next_style(text: &str) -> Option<(&str, &str, &str)> {
    let (styled, after) = text.split_once(END.as_str())?;
    let (before, codes) = styled.rsplit_once(BEGIN)?;
    Some((before, codes, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_colours_are_printed_and_those_of_a_text_are_shown() {
        let text = format!("{BOLD}a \x1b[31mred\x1b[0m{BOLD:#} b\x1b[2J{PLAIN}\n");

        assert_eq!(printable(&text), "\x1b[1ma ␛[31mred␛[0m\x1b[0m b␛[2J\n");
        assert_eq!(printable_line(&text), "\x1b[1ma ␛[31mred␛[0m\x1b[0m b␛[2J␊");
    }

    #[test]
    fn a_text_that_guesses_the_form_of_a_colour_is_shown() {
        assert_eq!(printable("\x1b[1;12345m"), "␛[1;12345m");
    }
}
