//! Bodies and streams at the edge of what vendors document.

use turnkeep_codec::lint::{Severity, Strictness, lint};
use turnkeep_codec::wire::{Delta, End, Incoming};
use turnkeep_codec::{DecodeOptions, Input, format, sniff};
use turnkeep_model::{Body, FinishReason};

fn sniffed(text: &str) -> &'static str {
    sniff(&Input::new(text.as_bytes())).unwrap().codec.spec().id
}

fn errors(text: &str, target: &str) -> Vec<(&'static str, String)> {
    let found = lint(Input::new(text.as_bytes()), target, Strictness::Lax).unwrap();
    let errors = found.into_iter().filter(|finding| finding.severity == Severity::Error);
    errors.map(|finding| (finding.rule, finding.at)).collect()
}

#[test]
fn a_block_that_nobody_knows_yet_does_not_hide_whose_request_it_is() {
    let converse = r#"{"modelId":"m","messages":[{"role":"user","content":[{"text":"Hi"},{"hologram":{"format":"3d"}}]}],
        "inferenceConfig":{"maxTokens":5}}"#;
    assert_eq!(sniffed(converse), "bedrock.converse");

    let routed = r#"{"model":"google/gemini","messages":[{"role":"user","content":"draw"},{"role":"assistant","content":"here",
        "images":[{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}]}],"plugins":[]}"#;
    assert_eq!(sniffed(routed), "openai.chat");
    let ollama = r#"{"model":"llava","messages":[{"role":"user","content":"see","images":["AAAA"]}]}"#;
    assert_eq!(sniffed(ollama), "ollama.chat");
}

#[test]
fn text_in_the_message_after_a_call_stands_between_it_and_its_result() {
    let body = r#"{"model":"claude","max_tokens":9,"tools":[{"name":"f","input_schema":{"type":"object"}}],"messages":[
        {"role":"user","content":"x"},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]},
        {"role":"assistant","content":"hm"},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"r"}]}]}"#;

    assert_eq!(errors(body, "anthropic.messages"), [("AN-TEXTAFTER", "messages[2].content".to_owned())]);
}

#[test]
fn a_request_that_asks_nothing_is_told_so() {
    let found = errors(r#"{"model":"gpt-5","store":false,"tools":[]}"#, "openai.responses");
    assert_eq!(found, [("OR-NOINPUT", "input".to_owned())]);
}

#[test]
fn a_message_that_says_nothing_is_refused_by_chat_completions() {
    let body = r#"{"model":"gpt-4o","messages":[{"role":"user","content":null}]}"#;
    assert_eq!(errors(body, "openai.chat"), [("OC-NOCONTENT", "messages[0].content".to_owned())]);
}

#[test]
fn an_array_of_events_that_is_cut_anywhere_gives_what_came() {
    let stream = r#"[{"candidates":[{"content":{"role":"model","parts":[{"text":"Hel"}]}}]},
        {"candidates":[{"content":{"role":"model","parts":[{"text":"lo ü"}]},"finishReason":"STOP"}]}]"#;
    let codec = format::by_id("gemini.contents").unwrap();
    let first = stream.find("]}}]}").unwrap() + 6;
    let last = stream.rfind("}]}").unwrap();
    for cut in (first..last).filter(|cut| stream.is_char_boundary(*cut)) {
        let decoded = codec.decode(Input::new(&stream.as_bytes()[..cut]), &DecodeOptions::default()).unwrap();
        let turn = &decoded.archive.main_session().unwrap().turns[0];
        assert_eq!(turn.blocks[0].body.as_text(), Some("Hel"), "cut at {cut}");
        assert_eq!(turn.finish.as_ref().unwrap().reason, FinishReason::Interrupted, "cut at {cut}");
    }
}

#[test]
fn a_call_whose_arguments_are_streamed_is_one_call() {
    let piece = |call: &str, more: &str| {
        format!(
            "data: {{\"candidates\":[{{\"content\":{{\"role\":\"model\",\"parts\":[{{\"functionCall\":{call}}}]}}{more}}}]}}\n\n"
        )
    };
    let stream = [
        piece(r#"{"name":"weather","id":"1","willContinue":true}"#, ""),
        piece(r#"{"partialArgs":[{"jsonPath":"$.city","stringValue":"Be","willContinue":true}],"willContinue":true}"#, ""),
        piece(r#"{"partialArgs":[{"jsonPath":"$.city","stringValue":"rn"},{"jsonPath":"$.days","numberValue":2}],"willContinue":true}"#, ""),
        piece("{}", r#","finishReason":"STOP""#),
    ]
    .concat();
    let mut incoming = Incoming::new(format::wire("gemini.contents").unwrap());
    let deltas: Vec<Delta> = stream.as_bytes().chunks(7).flat_map(|piece| incoming.push(piece).unwrap()).collect();
    let received = incoming.finish().unwrap();

    assert_eq!(received.end, End::Complete);
    let [block] = received.turn.blocks.as_slice() else { panic!("{:?}", received.turn.blocks) };
    let Body::ToolCall(call) = &block.body else { panic!("{block:?}") };
    assert_eq!((call.name.as_str(), call.arguments.as_str()), ("weather", r#"{"city":"Bern","days":2}"#));
    assert_eq!(deltas.first(), Some(&Delta::CallStarted { block: 0, name: "weather".to_owned() }));
    assert_eq!(deltas.get(1), Some(&Delta::Arguments { block: 0, text: "Be".to_owned() }));
}
