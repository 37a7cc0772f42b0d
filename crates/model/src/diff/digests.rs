//! Long texts as their digests: two archives are compared without both of them in memory.

use crate::block::{Block, Body, Media, Part};
use crate::native::Archive;
use crate::session::{Session, Turn};

/// What is not longer is kept: a digest would not be shorter.
const SHORT: usize = 64;

impl Archive {
    /// The archive with digests in the place of long texts, thinking and media. Two archives differ at the same places as
    /// what this gives of them; arguments of calls are kept, because how much their difference matters is in what they say.
    #[must_use]
    pub fn with_digests(&self) -> Archive {
        let sessions = self.sessions.iter().map(session).collect();
        Archive { sessions, main: self.main, seq: self.seq, journal: None, extra: self.extra.clone() }
    }

    /// The same of this archive itself.
    pub fn digest_texts(&mut self) {
        let turns = self.sessions.iter_mut().flat_map(|session| &mut session.turns);
        turns.flat_map(|turn| &mut turn.blocks).for_each(digest_block);
    }
}

fn session(given: &Session) -> Session {
    Session { turns: given.turns.iter().map(turn).collect(), ..given.head() }
}

fn turn(given: &Turn) -> Turn {
    Turn { blocks: given.blocks.iter().map(block).collect(), ..given.head() }
}

fn block(given: &Block) -> Block {
    let mut block = given.clone();
    digest_block(&mut block);
    block
}

fn digest_block(block: &mut Block) {
    match &mut block.body {
        Body::Text(text) => digest(&mut text.text),
        Body::Summary(summary) => digest(&mut summary.text),
        Body::Reasoning(thinking) => {
            let texts = [&mut thinking.text, &mut thinking.signature, &mut thinking.encrypted];
            texts.into_iter().flatten().chain(&mut thinking.summary).for_each(digest);
        }
        Body::Media(media) => digest_media(media),
        Body::ToolResult(result) => result.parts.iter_mut().for_each(|part| match part {
            Part::Text(text) => digest(&mut text.text),
            Part::Media(media) => digest_media(media),
            _ => {}
        }),
        Body::ToolCall(_) | Body::Other { .. } => {}
    }
}

fn digest_media(media: &mut Media) {
    [&mut media.inline, &mut media.text, &mut media.url].into_iter().flatten().for_each(digest);
}

fn digest(text: &mut String) {
    if text.len() > SHORT {
        *text = blake3::hash(text.as_bytes()).to_hex().to_string();
    }
}

#[cfg(test)]
mod tests {
    use super::super::diff_archives;
    use super::*;
    use crate::block::{Author, Data, Reasoning, ToolCall, ToolResult};
    use crate::id::CallId;
    use crate::json::Json;

    fn archive(said: &str, thought: &str, returned: &str) -> Archive {
        let call = CallId::given("c");
        let asked = ToolCall { call: call.clone(), name: "f".into(), arguments: said.repeat(9) };
        let parts =
            vec![Part::Text(crate::block::Text { text: returned.into() }), Part::Data(Data { json: Json::Null })];
        let result = ToolResult { call, name: None, parts, error: None, is_error: None, outcome: None };
        let thinking = Reasoning { text: Some(thought.into()), ..Reasoning::default() };
        let blocks = vec![
            Block::text(Author::User, said),
            Block::new(Author::Assistant, thinking),
            Block::new(Author::Assistant, asked),
            Block::new(Author::Tool, result),
        ];
        Archive::from(Session { turns: vec![Turn { blocks, ..Turn::default() }], ..Session::default() })
    }

    #[test]
    fn digests_differ_where_the_texts_do() {
        let (long, other) = ("a".repeat(900), "b".repeat(900));
        let texts = ["", "a", &long[..SHORT], &long, &other, &long[..899]];
        for (a, b) in texts.iter().flat_map(|a| texts.iter().map(move |b| (*a, *b))) {
            for (a, b) in [(archive(a, "t", "r"), archive(b, "t", "r")), (archive("s", a, b), archive("s", b, a))] {
                let places = |a: &Archive, b: &Archive| -> Vec<String> {
                    diff_archives(a, b).into_iter().map(|change| change.at).collect()
                };
                assert_eq!(places(&a.with_digests(), &b.with_digests()), places(&a, &b));
            }
        }
    }

    #[test]
    fn digests_are_short_and_the_same_in_place() {
        let mut given = archive("said", &"thought ".repeat(1_000), &"line\n".repeat(1_000));
        let copy = given.with_digests();
        given.digest_texts();

        assert_eq!(given, copy);
        assert!(given.to_json(crate::json::Layout::Compact).len() < 600);
    }
}
