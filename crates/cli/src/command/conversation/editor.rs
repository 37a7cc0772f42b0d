//! Where a person types: a line editor on a terminal, plain lines elsewhere.

use std::io::{self, BufRead, IsTerminal};

use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::MemHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Config, Editor as LineEditor, Helper};

use crate::visible::visible;

/// Where a person types.
pub(super) enum Editor {
    Terminal(Box<LineEditor<Multiline, MemHistory>>),
    Lines,
}

/// What was typed.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Typed {
    Text(String),
    /// Nothing that counts: an empty line, or one that was given up with Ctrl-C.
    Nothing,
    /// There is no more.
    End,
}

impl Editor {
    /// An editor that remembers these texts: the arrows bring them back.
    pub(super) fn open(remembered: impl Iterator<Item = String>) -> io::Result<Editor> {
        if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
            return Ok(Editor::Lines);
        }
        let config = Config::builder().auto_add_history(true).build();
        let mut editor = LineEditor::with_history(config, MemHistory::new()).map_err(io::Error::other)?;
        editor.set_helper(Some(Multiline));
        for text in remembered {
            // The editor prints what it brings back.
            let _ = editor.add_history_entry(visible(&text));
        }
        Ok(Editor::Terminal(Box::new(editor)))
    }

    pub(super) fn is_terminal(&self) -> bool {
        matches!(self, Editor::Terminal(_))
    }

    /// What is typed next. A line that ends with `\` goes on in the next one, as does a block between ``` lines.
    pub(super) fn read(&mut self, prompt: &str) -> io::Result<Typed> {
        let text = match self {
            Editor::Terminal(editor) => match editor.readline(prompt) {
                Ok(text) => text,
                Err(ReadlineError::Interrupted) => return Ok(Typed::Nothing),
                Err(ReadlineError::Eof) => return Ok(Typed::End),
                Err(error) => return Err(io::Error::other(error)),
            },
            Editor::Lines => match read_lines(&mut io::stdin().lock())? {
                Some(text) => text,
                None => return Ok(Typed::End),
            },
        };
        let text = joined(&text);
        Ok(if text.trim().is_empty() { Typed::Nothing } else { Typed::Text(text) })
    }
}

fn read_lines(reader: &mut impl BufRead) -> io::Result<Option<String>> {
    let mut text = String::new();
    while reader.read_line(&mut text)? > 0 {
        if !goes_on(text.trim_end_matches(['\r', '\n'])) {
            break;
        }
    }
    Ok((!text.is_empty()).then(|| text.trim_end_matches(['\r', '\n']).to_owned()))
}

/// Whether more lines belong to what is typed.
fn goes_on(text: &str) -> bool {
    let fences = text.lines().filter(|line| line.trim_start().starts_with("```")).count();
    text.ends_with('\\') || fences % 2 == 1
}

/// The text without the marks that made its lines one.
fn joined(text: &str) -> String {
    text.replace("\\\r\n", "\n").replace("\\\n", "\n")
}

/// Lets a text have several lines.
pub(super) struct Multiline;

impl Validator for Multiline {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        Ok(if goes_on(context.input()) { ValidationResult::Incomplete } else { ValidationResult::Valid(None) })
    }
}

impl Completer for Multiline {
    type Candidate = String;
}

impl Hinter for Multiline {
    type Hint = String;
}

impl Highlighter for Multiline {}

impl Helper for Multiline {}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> Vec<String> {
        let mut reader = text.as_bytes();
        std::iter::from_fn(|| read_lines(&mut reader).unwrap()).map(|text| joined(&text)).collect()
    }

    #[test]
    fn each_line_is_a_text_of_its_own() {
        assert_eq!(all("one\ntwo"), ["one", "two"]);
    }

    #[test]
    fn a_backslash_and_a_fence_hold_lines_together() {
        assert_eq!(all("one\\\ntwo\nthree"), ["one\ntwo", "three"]);
        assert_eq!(all("```\na\nb\n```\nc"), ["```\na\nb\n```", "c"]);
    }

    #[test]
    fn an_open_fence_ends_with_the_input() {
        assert_eq!(all("```\na"), ["```\na"]);
    }
}
