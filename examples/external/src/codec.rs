//! A codec of one's own: a chat log, one line for each thing said.
//!
//! ```text
//! #chatlog
//! user: Hello
//! assistant: Hi!\nHow are you?
//! ```
//!
//! It has a place for texts and for who said them. Everything else is lost, and [`Encoded::by_reading_back`] finds all of it: it compares
//! what was to be written with what this codec itself reads of the result.

use turnkeep::codec::{
    Codec, DecodeOptions, Decoded, EncodeOptions, Encoded, Fidelity, Guess, Input, Keeps, Spec, TurnBuilder,
};
use turnkeep::model::{Error, ErrorKind, Result};
use turnkeep::{Archive, Author, Block, Body, Session};

const HEAD: &str = "#chatlog";

static SPEC: Spec = Spec {
    id: "chatlog",
    title: "a chat log",
    variants: &[],
    extensions: &["chatlog"],
    reads: true,
    writes: true,
    fidelity: Fidelity { system_text: Keeps::All, ..Fidelity::NOTHING },
};

/// Chat logs.
#[derive(Debug, Clone, Copy, Default)]
pub struct ChatLog;

impl Codec for ChatLog {
    fn spec(&self) -> &'static Spec {
        &SPEC
    }

    fn sniff(&self, input: &Input<'_>) -> Guess {
        let is_log = input.bytes().starts_with(HEAD.as_bytes());
        if is_log { Guess::certain(format!("its first line is `{HEAD}`")) } else { Guess::no() }
    }

    fn decode(&self, input: Input<'_>, _: &DecodeOptions) -> Result<Decoded> {
        let text = std::str::from_utf8(input.bytes()).map_err(|error| refused("it is not UTF-8").because(error))?;
        let lines = text.strip_prefix(HEAD).ok_or_else(|| refused("its first line is another"))?;
        let mut turns = TurnBuilder::default();
        for line in lines.lines().filter(|line| !line.is_empty()) {
            let (author, said) = line.split_once(": ").ok_or_else(|| refused("a line names nobody"))?;
            turns.push(Block::text(author_of(author), unescaped(said)));
        }
        let session = Session { turns: turns.finish(), ..Session::default() };
        Ok(Decoded { archive: session.into(), losses: Vec::new() })
    }

    fn encode(&self, archive: &Archive, options: &EncodeOptions) -> Result<Encoded> {
        let main = usize::try_from(archive.main).ok().and_then(|main| archive.sessions.get(main));
        let blocks = main.into_iter().flat_map(Session::blocks);
        let lines = blocks.filter_map(|(_, block)| match &block.body {
            Body::Text(text) => Some(format!("{}: {}\n", name_of(&block.author), escaped(&text.text))),
            _ => None,
        });
        let bytes = format!("{HEAD}\n{}", lines.collect::<String>()).into_bytes();
        Encoded::by_reading_back(self, archive, bytes, options)
    }
}

fn refused(why: &str) -> Error {
    Error::new(ErrorKind::NotThisFormat, format!("this is no chat log: {why}")).hint("name another format")
}

fn name_of(author: &Author) -> String {
    escaped(author.as_str()).replace(':', "\\c")
}

fn author_of(name: &str) -> Author {
    Author::from_word(&unescaped(name))
}

/// The text on one line.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('\n', "\\n").replace('\r', "\\r")
}

fn unescaped(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        text.push(match letter {
            '\\' => match letters.next() {
                Some('n') => '\n',
                Some('r') => '\r',
                Some('c') => ':',
                Some(other) => other,
                None => '\\',
            },
            letter => letter,
        });
    }
    text
}
