//! What processes tell each other through the server: that a session changed, and pieces of answers. One notice is one payload of
//! `NOTIFY`, which is text of less than 8000 bytes. Sessions are named by a digest, because ids may be long.

use turnkeep_model::{RunId, Seq, SessionId};

use super::nul::{hide, show};
use crate::capability::{Changed, Chunk, ChunkKind};

/// How many bytes of a piece are in one payload. The rest is for what stands before it.
const PIECE: usize = 7000;

/// The longest run that is named in a payload. Pieces of others are not sent.
const RUN: usize = 512;

/// The digest of a session's id.
pub(super) type Key = String;

/// One thing to tell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Notice {
    Changed(Changed),
    Chunk(Chunk),
}

pub(super) fn key(session: &SessionId) -> Key {
    digest(session.as_str())
}

/// The channel of a schema: channels are those of the whole database, and their names are short.
pub(super) fn channel(schema: &str) -> String {
    format!("turnkeep_{}", digest(schema))
}

fn digest(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex().chars().take(32).collect()
}

impl Notice {
    /// The payloads that tell it.
    pub(super) fn payloads(&self, key: &str) -> Vec<String> {
        match self {
            Notice::Changed(Changed { last: Some(last) }) => vec![format!("{key} changed {last}")],
            Notice::Changed(Changed { last: None }) => vec![format!("{key} changed")],
            Notice::Chunk(chunk) if chunk.run.as_str().len() > RUN => Vec::new(),
            Notice::Chunk(chunk) => pieces(chunk).iter().map(|piece| payload(key, piece)).collect(),
        }
    }

    /// Reads a payload. One that cannot be read is another program's, or another version's.
    pub(super) fn read(payload: &str) -> Option<(Key, Notice)> {
        let (key, rest) = payload.split_once(' ')?;
        let notice = match rest.split_once(' ') {
            None if rest == "changed" => Notice::Changed(Changed { last: None }),
            Some(("changed", last)) => Notice::Changed(Changed { last: Some(Seq(last.parse().ok()?)) }),
            Some(("chunk", rest)) => Notice::Chunk(read_chunk(rest)?),
            _ => return None,
        };
        Some((key.to_owned(), notice))
    }
}

fn payload(key: &str, chunk: &Chunk) -> String {
    let Chunk { run, turn, attempt, offset, kind, text } = chunk;
    let (kind, index) = match kind {
        ChunkKind::Text => ("text", 0),
        ChunkKind::Reasoning => ("reasoning", 0),
        ChunkKind::Call(index) => ("call", *index),
        ChunkKind::Arguments(index) => ("arguments", *index),
    };
    let (run, text) = (hide(run.as_str()), hide(text));
    format!("{key} chunk {turn} {attempt} {offset} {kind} {index} {} {run}{text}", run.len())
}

fn read_chunk(text: &str) -> Option<Chunk> {
    let mut parts = text.splitn(7, ' ');
    let mut next = || parts.next();
    let (turn, attempt, offset) = (next()?.parse().ok()?, next()?.parse().ok()?, next()?.parse().ok()?);
    let (kind, index) = (next()?, next()?.parse().ok()?);
    let kind = match kind {
        "text" => ChunkKind::Text,
        "reasoning" => ChunkKind::Reasoning,
        "call" => ChunkKind::Call(index),
        "arguments" => ChunkKind::Arguments(index),
        _ => return None,
    };
    let (length, rest) = (next()?.parse().ok()?, next()?);
    let (run, text) = rest.split_at_checked(length)?;
    Some(Chunk { run: RunId::new(show(run.to_owned())), turn, attempt, offset, kind, text: show(text.to_owned()) })
}

/// A piece, cut at characters into what fits a payload.
fn pieces(chunk: &Chunk) -> Vec<Chunk> {
    let mut pieces = vec![Chunk { text: String::new(), ..chunk.clone() }];
    let mut room = PIECE;
    let mut offset = chunk.offset;
    for c in chunk.text.chars() {
        // As long as the two that stand for one that PostgreSQL cannot hold.
        let size = c.len_utf8().max(if matches!(c, '\0' | '\u{F8FF}') { 6 } else { 1 });
        if size > room {
            pieces.push(Chunk { text: String::new(), offset, ..chunk.clone() });
            room = PIECE;
        }
        pieces.last_mut().into_iter().for_each(|piece| piece.text.push(c));
        room -= size;
        offset += c.len_utf8() as u64;
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chunk(text: &str) -> Chunk {
        let run = RunId::new("r \0 é");
        Chunk { run, turn: 3, attempt: 2, offset: 10, kind: ChunkKind::Arguments(1), text: text.to_owned() }
    }

    fn sent(notice: &Notice) -> Vec<Notice> {
        let payloads = notice.payloads(&key(&SessionId::new("s")));
        assert!(payloads.iter().all(|payload| payload.len() < 8000 && !payload.contains('\0')));
        payloads.iter().map(|payload| Notice::read(payload).unwrap().1).collect()
    }

    #[test]
    fn what_is_sent_is_read() {
        let changes = [Some(Seq(7)), None].map(|last| Notice::Changed(Changed { last }));
        let chunks = ["", " a b ", "\0", "\u{F8FF}\n"].map(|text| Notice::Chunk(chunk(text)));
        for notice in changes.into_iter().chain(chunks) {
            assert_eq!(sent(&notice), [notice]);
        }
        assert_eq!(["", "x", "x other", "x chunk 1 2", "x changed y"].map(Notice::read), [const { None }; 5]);
    }

    #[test]
    fn a_large_piece_is_cut_at_characters_and_is_whole_again() {
        let text = "é\0😀x".repeat(3000);

        let pieces = sent(&Notice::Chunk(chunk(&text)));

        let mut joined = String::new();
        for piece in &pieces {
            let Notice::Chunk(piece) = piece else { panic!("{piece:?}") };
            assert_eq!(piece.offset, 10 + joined.len() as u64);
            joined.push_str(&piece.text);
        }
        assert!(pieces.len() > 4 && joined == text);
    }

    #[test]
    fn a_run_that_leaves_no_room_is_not_told_of() {
        let long = Chunk { run: RunId::new("r".repeat(RUN + 1)), ..chunk("x") };

        assert_eq!(sent(&Notice::Chunk(long)), []);
    }
}
