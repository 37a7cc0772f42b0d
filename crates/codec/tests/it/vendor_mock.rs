//! What a vendor says is what its reader finds, streamed or not.

use proptest::prelude::*;
use turnkeep_codec::format;
use turnkeep_codec::wire::frame::Framer;
use turnkeep_codec::wire::mock::{MockAnswer, Refusal};
use turnkeep_codec::wire::{Assembled, Parts};
use turnkeep_model::{Author, Block, Body, FinishReason, Json, Turn, Usage, canon};
use turnkeep_testkit::generate;

fn wires() -> Vec<&'static str> {
    format::wires().map(|wire| wire.spec().id).collect()
}

fn answers() -> impl Strategy<Value = MockAnswer> {
    let finish = prop_oneof![Just(FinishReason::Stop), Just(FinishReason::Length)];
    let blocks = prop::collection::vec(generate::block(), 0..6);
    (blocks, finish, 0..5000_u64, 0..5000_u64).prop_map(|(blocks, finish, input, output)| {
        let text = Block::text(Author::Assistant, "so it is");
        let usage = Usage { input: Some(input), output: Some(output), total: Some(input + output), ..Usage::default() };
        let blocks = blocks.into_iter().chain([text]).collect();
        MockAnswer {
            token: "a1b2c3d4e5f6a7b8".into(),
            model: "m-1".into(),
            created: 1_700_000_000,
            blocks,
            finish,
            usage,
        }
    })
}

/// The bytes of a stream, one piece an event.
fn stream(wire: &str, body: &Json, piece: usize) -> Vec<Vec<u8>> {
    let mock = format::wire(wire).unwrap().mock();
    let events = mock.events(body, piece);
    events.iter().map(|event| format::wire(wire).unwrap().contract().framing.bytes(event)).collect()
}

/// What bytes that come in chunks of one size make up.
fn assembled(wire: &str, bytes: &[u8], chunk: usize) -> Assembled {
    let (mut framer, mut assembler) = (Framer::default(), format::wire(wire).unwrap().assembler());
    let mut events: Vec<Json> = bytes.chunks(chunk).flat_map(|chunk| framer.push(chunk).unwrap()).collect();
    events.extend(framer.finish().events);
    events.into_iter().for_each(|event| drop(assembler.push(event).unwrap()));
    assembler.finish()
}

fn decoded(wire: &str, body: Json) -> Turn {
    let (session, _) = format::wire(wire).unwrap().decode(Parts { request: None, response: Some(body) }).unwrap();
    session.turns.into_iter().next_back().unwrap()
}

/// What blocks are, whoever made them.
fn bodies(blocks: &[Block]) -> Vec<Body> {
    let bodies = blocks.iter().map(|block| block.body.clone());
    bodies
        .map(|mut body| {
            if let Body::Reasoning(reasoning) = &mut body {
                reasoning.scope = None;
            }
            body
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_stream_makes_up_the_response(answer in answers(), piece in 1_usize..40, chunk in 1_usize..200) {
        for wire in wires() {
            let body = format::wire(wire).unwrap().mock().response(&answer);
            let bytes = stream(wire, &body, piece).concat();
            let assembled = assembled(wire, &bytes, chunk);

            prop_assert_eq!(canon::canonical(&assembled.body), canon::canonical(&body), "{}", wire);
            prop_assert!(assembled.complete && assembled.extras.is_empty(), "{}: {:?}", wire, assembled.extras);
        }
    }

    #[test]
    fn a_response_holds_what_is_expressible(answer in answers()) {
        for wire in wires() {
            let mock = format::wire(wire).unwrap().mock();
            let turn = decoded(wire, mock.response(&answer));

            prop_assert_eq!(bodies(&turn.blocks), bodies(&mock.expressible(&answer.blocks)), "{}", wire);
            prop_assert_eq!((turn.usage.input, turn.usage.output), (answer.usage.input, answer.usage.output), "{}", wire);
        }
    }

    #[test]
    fn what_is_expressible_is_said_as_it_is(answer in answers()) {
        for wire in wires() {
            let mock = format::wire(wire).unwrap().mock();
            let once = mock.expressible(&answer.blocks);

            prop_assert_eq!(mock.expressible(&once), once, "{}", wire);
        }
    }
}

#[test]
fn every_wire_has_a_word_for_the_end_of_an_answer() {
    for wire in wires() {
        for finish in [FinishReason::Stop, FinishReason::Length] {
            let blocks = vec![Block::text(Author::Assistant, "hi")];
            let answer = MockAnswer { token: "t".into(), blocks, finish: finish.clone(), ..MockAnswer::default() };
            let turn = decoded(wire, format::wire(wire).unwrap().mock().response(&answer));
            assert_eq!(turn.finish.unwrap().reason, finish, "{wire}");
        }
    }
}

#[test]
fn refusals_have_the_vendors_form() {
    let refusal = Refusal { status: 429, class: None, message: "slow down".into() };
    let said: Vec<String> =
        wires().iter().map(|wire| format::wire(wire).unwrap().mock().refusal(&refusal).to_text()).collect();

    assert_eq!(
        said,
        [
            r#"{"error":{"message":"slow down","type":"rate_limit_error","param":null,"code":"rate_limit_exceeded"}}"#,
            r#"{"error":{"message":"slow down","type":"rate_limit_error","param":null,"code":"rate_limit_exceeded"}}"#,
            r#"{"type":"error","error":{"type":"rate_limit_error","message":"slow down"}}"#,
            r#"{"error":{"code":429,"message":"slow down","status":"RESOURCE_EXHAUSTED"}}"#,
            r#"{"error":"slow down"}"#,
            r#"{"message":"slow down"}"#,
        ]
    );
}

#[test]
fn a_stream_is_recognised_as_its_own_wires() {
    for wire in wires() {
        let blocks = vec![Block::text(Author::Assistant, "Good morning.")];
        let answer = MockAnswer { token: "t".into(), model: "m".into(), blocks, ..MockAnswer::default() };
        let body = format::wire(wire).unwrap().mock().response(&answer);
        let bytes = stream(wire, &body, 4).concat();
        let sniffed = turnkeep_codec::sniff(&turnkeep_codec::Input::new(&bytes)).unwrap();
        assert_eq!(sniffed.codec.spec().id, wire);
    }
}
