//! Streams are put together.

use turnkeep_codec::format::responses::assembler;
use turnkeep_codec::wire::{Assembled, Delta, assemble, frame};
use turnkeep_codec::{DecodeOptions, Input};
use turnkeep_model::json::{self, Node};
use turnkeep_model::{Body, FinishReason, Json};

use super::codec;
use super::corpus::{bytes, canonical, first_difference, records};

#[test]
fn every_recorded_stream_assembles() {
    let Some(records) = records("every_recorded_stream_assembles") else { return };
    let (mut all, mut complete, mut same) = (0, 0, 0);
    let mut wrong = Vec::new();
    for record in records.iter().filter(|record| record.kind == "stream") {
        all += 1;
        let events = frame::frames(&bytes(&record.body)).unwrap().unwrap().events;
        let whole = assembled(&events);
        complete += usize::from(whole.complete);
        // What the pieces make up is what the end tells.
        let is_end = |event: &&Json| matches!(&*kind_of(event), "response.completed" | "response.incomplete");
        let Some(end) = events.iter().find(is_end) else { continue };
        let told = end.as_object().and_then(|end| end.get("response")?.as_object()?.get("output")).cloned();
        let pieces: Vec<Json> = events.iter().filter(|event| !is_end(event)).cloned().collect();
        let made = assembled(&pieces).body.as_object().and_then(|body| body.get("output")).cloned();
        if told.as_ref().map(canonical) == made.as_ref().map(canonical) {
            same += 1;
        } else {
            let difference = first_difference(&told.unwrap_or_default(), &made.unwrap_or_default(), "output");
            wrong.push(format!("{}: {difference}", record.id));
        }
    }
    println!("{all} streams: {complete} complete, {same} with items as the end tells them, {} not", wrong.len());
    // Vendors encrypt and number anew at the end, some tell nothing there, and one gathers sources.
    let known = |why: &&String| {
        [".encrypted_content differs", ".fingerprint differs", ".id differs", "output differs: []", ".sources differs"]
            .iter()
            .any(|reason| why.contains(reason))
    };
    let unknown: Vec<_> = wrong.iter().filter(|why| !known(why)).collect();
    assert!(unknown.is_empty(), "{unknown:#?}");
}

fn kind_of(event: &Json) -> String {
    event.as_object().and_then(|event| event.get_str("type")).unwrap_or_default().into_owned()
}

fn assembled(events: &[Json]) -> Assembled {
    let frames = frame::Frames { events: events.to_vec(), torn: false };
    assemble(frames, assembler()).unwrap()
}

#[test]
fn pieces_of_text_make_up_what_the_end_tells() {
    let Some(records) = records("pieces_of_text_make_up_what_the_end_tells") else { return };
    let (mut all, mut wrong) = (0, Vec::new());
    for record in records.iter().filter(|record| record.kind == "stream") {
        let events = frame::frames(&bytes(&record.body)).unwrap().unwrap().events;
        let is_piece = |event: &&Json| {
            let kind = kind_of(event);
            !kind.ends_with(".done") && !matches!(kind.as_str(), "response.completed" | "response.incomplete")
        };
        let has_pieces = events
            .iter()
            .any(|event| kind_of(event).ends_with("_text.delta") || kind_of(event).ends_with("arguments.delta"));
        if !has_pieces {
            continue;
        }
        all += 1;
        let pieces: Vec<Json> = events.iter().filter(is_piece).cloned().collect();
        let (whole, made) = (texts(&assembled(&events).body), texts(&assembled(&pieces).body));
        if whole != made {
            wrong.push(format!("{}: {whole:?} / {made:?}", record.id));
        }
    }
    println!("{all} streams of pieces: {} differ", wrong.len());
    wrong.retain(|why| !SHORTENED.iter().any(|id| why.starts_with(id)));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Streams whose recorders left pieces out by hand.
const SHORTENED: &[&str] =
    &["openai-responses/04590", "openai-responses/04595", "responses-compat/00191", "responses-compat/00193"];

/// The texts and arguments of a response.
fn texts(body: &Json) -> Vec<String> {
    let bytes = body.to_text().into_bytes();
    let decoded = codec().decode(Input::new(&bytes), &DecodeOptions::default()).unwrap();
    let session = decoded.archive.main_session().unwrap().clone();
    session
        .blocks()
        .filter_map(|(_, block)| match &block.body {
            Body::Text(text) => Some(text.text.clone()),
            Body::ToolCall(call) => Some(call.arguments.clone()),
            Body::Reasoning(reasoning) => Some(format!("{:?} {:?}", reasoning.text, reasoning.summary)),
            _ => None,
        })
        .collect()
}

#[test]
fn the_size_of_pieces_does_not_matter() {
    let Some(records) = records("the_size_of_pieces_does_not_matter") else { return };
    let mut all = 0;
    for record in records.iter().filter(|record| matches!((&*record.kind, &record.body), ("stream", Json::String(_)))) {
        all += 1;
        let bytes = bytes(&record.body);
        let expected = frame::frames(&bytes).unwrap().unwrap().events;
        for size in [1, 17, 1024] {
            let mut framer = frame::SseFramer::default();
            let mut events: Vec<_> = bytes.chunks(size).flat_map(|piece| framer.push(piece)).collect();
            events.extend(framer.finish());
            let events = events.iter().filter(|event| !event.data.trim().is_empty() && event.data.trim() != "[DONE]");
            let events: Vec<_> = events.map(|event| json::parse(&event.data).map(Node::into_json).unwrap()).collect();
            assert_eq!(events, expected, "{} in pieces of {size}", record.id);
        }
    }
    println!("{all} streams in pieces of 1, 17 and 1024 bytes");
}

#[test]
fn a_stream_that_is_cut_off_is_interrupted() {
    let Some(records) = records("a_stream_that_is_cut_off_is_interrupted") else { return };
    let mut all = 0;
    for record in records.iter().filter(|record| record.kind == "stream") {
        let events = frame::frames(&bytes(&record.body)).unwrap().unwrap().events;
        let end = events.iter().position(|event| {
            matches!(&*kind_of(event), "response.completed" | "response.incomplete" | "response.failed" | "error")
        });
        for cut in (1..end.unwrap_or(events.len())).step_by(9) {
            all += 1;
            let made = assembled(&events[..cut]);
            assert!(!made.complete, "{} at {cut}", record.id);
            let bytes = made.body.to_text().into_bytes();
            let decoded = codec().decode(Input::new(&bytes), &DecodeOptions::default()).unwrap();
            let finish = decoded.archive.main_session().unwrap().turns[0].finish.clone().unwrap();
            assert_eq!(finish.reason, FinishReason::Interrupted, "{} at {cut}", record.id);
        }
    }
    println!("{all} cuts");
}

const STREAM: &[u8] = include_bytes!("../../../../../fixtures/openai.responses/stream/input.sse");
const CUT: &[u8] = include_bytes!("../../../../../fixtures/openai.responses/stream-cut-off/input.sse");

/// What a screen is told, in pieces of `size` bytes, and the body.
fn shown(stream: &[u8], size: usize) -> (Vec<Delta>, Assembled) {
    let (mut framer, mut machine) = (frame::SseFramer::default(), assembler());
    let mut events: Vec<_> = stream.chunks(size).flat_map(|piece| framer.push(piece)).collect();
    events.extend(framer.finish());
    let events = events.iter().filter_map(|event| json::parse(&event.data).map(Node::into_json).ok());
    let deltas = events.flat_map(|event| machine.push(event).unwrap()).collect();
    (deltas, machine.finish())
}

#[test]
fn a_screen_is_told_of_every_piece() {
    let (deltas, made) = shown(STREAM, STREAM.len());
    let text = |text: &str| Delta::Text { block: 1, text: text.to_owned() };

    assert_eq!(deltas, [text("Hel"), text("lo!"), Delta::Finished { reason: "completed".to_owned() }]);
    assert!(made.complete);
    assert_eq!(texts(&made.body), ["None []", "Hello!"]);
    for size in 1..64 {
        assert_eq!(shown(STREAM, size), (deltas.clone(), made.clone()), "in pieces of {size}");
    }
}

#[test]
fn a_cut_leaves_what_came_before_it() {
    let (deltas, made) = shown(CUT, CUT.len());

    assert_eq!(
        deltas,
        [
            Delta::Text { block: 0, text: "I will check".to_owned() },
            Delta::CallStarted { block: 1, name: "get_weather".to_owned() },
            Delta::Arguments { block: 1, text: "{\"city\":".to_owned() },
        ]
    );
    assert!(!made.complete);
    assert_eq!(texts(&made.body), ["I will check", "{\"city\":"]);
}
