//! Pieces of answers, as chunks.

use turnkeep_model::event::{BlockAdded, TurnOpened};
use turnkeep_model::policy::{Redact, RedactTarget};
use turnkeep_model::{Author, Batch, Block, Event, Seq};
use turnkeep_runtime::envelope::{AgentEnvelopes, Detail, Dialect, Envelope, EnvelopeOptions};
use turnkeep_runtime::port::Delta;

use crate::envelope::payloads;

fn at(milliseconds: i64) -> jiff::Timestamp {
    jiff::Timestamp::from_millisecond(1_768_557_900_000 + milliseconds).unwrap()
}

fn answered(text: &str) -> Batch {
    let block = Block::text(Author::Assistant, text);
    let added = BlockAdded { turn: 0, block };
    let opened = TurnOpened::default();
    let mut batch = Batch::new(Seq(1), vec![]);
    batch.events = [Event::from(opened), added.into()].into_iter().map(Into::into).collect();
    batch
}

fn chunks(envelopes: &[Envelope]) -> Vec<String> {
    payloads(envelopes, "agent.stream.chunk")
}

/// The payloads of the chunks of an answer whose pieces arrive at these milliseconds, and which ends at 200.
fn streamed_chunks(options: impl Into<EnvelopeOptions>, pieces: &[(i64, &str)]) -> Vec<String> {
    let mut envelopes = AgentEnvelopes::new("s".into(), options);
    let mut told = Vec::new();
    for (time, text) in pieces {
        while let Some(due) = envelopes.due().filter(|due| *due <= at(*time)) {
            told.extend(envelopes.tick(due));
        }
        told.extend(envelopes.delta(&Delta::Text((*text).into()), at(*time)));
    }
    told.extend(envelopes.batch(&answered("all of it")));
    chunks(&told)
}

#[test]
fn the_first_chunk_comes_at_once_what_follows_is_joined_and_the_last_says_so() {
    assert_eq!(
        streamed_chunks(Detail::STANDARD, &[(0, "Here"), (5, ""), (10, " is"), (39, " the"), (55, " re"), (60, "ply")]),
        [
            r#"{"chunk":"Here","is_complete":false,"tokens_delta":1,"index":0}"#,
            r#"{"chunk":" is the","is_complete":false,"tokens_delta":2,"index":1}"#,
            r#"{"chunk":" reply","is_complete":true,"tokens_delta":2,"index":2}"#,
        ]
    );
    assert_eq!(
        streamed_chunks(Detail::STANDARD, &[(0, "Yes")]),
        [
            r#"{"chunk":"Yes","is_complete":false,"tokens_delta":1,"index":0}"#,
            r#"{"chunk":"","is_complete":true,"tokens_delta":0,"index":1}"#,
        ]
    );
    assert!(streamed_chunks(Detail::MINIMAL, &[(0, "Yes")]).is_empty());
    assert!(streamed_chunks(Detail::STANDARD, &[]).is_empty());
}

#[test]
fn chunks_of_the_released_dialect_are_counted_and_never_last() {
    assert_eq!(
        streamed_chunks(Dialect::Released, &[(0, "Here"), (5, ""), (10, " is"), (90, " it")]),
        [
            r#"{"content":"Here","is_complete":false,"chunk_index":0}"#,
            r#"{"content":" is","is_complete":false,"chunk_index":1}"#,
            r#"{"content":" it","is_complete":false,"chunk_index":2}"#,
        ]
    );
}

#[test]
fn chunks_wait_for_the_whole_answer_where_secrets_are_hidden() {
    let options = EnvelopeOptions { redact: Redact::new([RedactTarget::Secrets]), ..EnvelopeOptions::default() };

    assert_eq!(
        streamed_chunks(options, &[(0, "write to ada@exa"), (80, "mple.com"), (160, " please")]),
        [r#"{"chunk":"write to [email-1] please","is_complete":true,"tokens_delta":8,"index":0}"#]
    );
}

#[test]
fn a_chunk_is_an_envelope_without_a_place() {
    let mut envelopes = AgentEnvelopes::new("s".into(), Detail::STANDARD);

    let told = envelopes.delta(&Delta::Text("Here".into()), at(123));

    assert_eq!(
        told[0].to_json().to_text(),
        r#"{"type":"agent.stream.chunk","session_id":"s","execution_id":null,"timestamp":"2026-01-16T10:05:00.123Z","payload":{"chunk":"Here","is_complete":false,"tokens_delta":1,"index":0}}"#
    );
    assert_eq!(told[0].event_name(), "agent.stream.chunk");
}
