//! The smallest body of every kind of content that once went missing.

use turnkeep_codec::{DecodeOptions, EncodeOptions, Input};
use turnkeep_model::json::{self, Json};
use turnkeep_model::{Body, Loss, LossKind, Severity};

use super::WIRES;
use super::check::{convert, gone};
use crate::recorded::{given_back, wire};

const CHAT: &str = "openai.chat";
const RESPONSES: &str = "openai.responses";
const ANTHROPIC: &str = "anthropic.messages";
const GEMINI: &str = "gemini.contents";
const OLLAMA: &str = "ollama.chat";
const BEDROCK: &str = "bedrock.converse";

fn parsed(text: &str) -> Json {
    json::parse(text).unwrap().into_json()
}

/// The history in the next request on the wire `to`.
fn history(text: &str, from: &str, to: &str) -> String {
    let body = convert(&parsed(text), from, to).unwrap().body;
    let body = body.as_object().unwrap();
    ["messages", "contents", "input"].iter().find_map(|key| body.get(key)).unwrap().to_text()
}

fn losses(text: &str, from: &str, to: &str) -> Vec<Loss> {
    convert(&parsed(text), from, to).unwrap().losses
}

/// Checks that a body comes back as it is, that each of its texts reaches every wire, and that none is told as lost
/// where `reaches` names the wire.
fn check(text: &str, from: &str) {
    let body = parsed(text);
    assert_eq!(given_back(wire(from), text.as_bytes()).unwrap().to_text(), body.to_text());
    for to in WIRES {
        assert_eq!(gone(&body, from, to), Vec::<String>::new(), "{to}");
    }
}

#[test]
fn an_image_in_a_result_is_an_image_whatever_the_order_of_its_fields() {
    let image = |part: &str| {
        format!(
            r#"{{"model":"claude-a","max_tokens":9,"messages":[{{"role":"assistant","content":[{{"type":"tool_use","id":"a","name":"f","input":{{}}}}]}},{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"a","content":[{part}]}}]}}]}}"#
        )
    };
    let orders = [
        r#"{"type":"image","source":{"type":"base64","media_type":"image/png","data":"QUJD"}}"#,
        r#"{"source":{"type":"base64","media_type":"image/png","data":"QUJD"},"type":"image"}"#,
        r#"{"source":{"data":"QUJD","type":"base64","media_type":"image/png"},"type":"image"}"#,
        r#"{"type":"image","source":{"type":"base64","media_type":"image/png","data":"QUJD"},"cache_control":{"type":"ephemeral"}}"#,
    ];
    for part in orders {
        let body = image(part);
        check(&body, ANTHROPIC);
        let result = r#"{"type":"function_call_output","call_id":"a","output":[{"type":"input_image","image_url":"data:image/png;base64,QUJD","detail":"auto"}]}"#;
        assert!(history(&body, ANTHROPIC, RESPONSES).ends_with(&format!("{result}]")), "{part}");
        let result = r#"{"role":"tool","content":"[the result is in the next message]","tool_call_id":"a"},{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,QUJD"}}]}"#;
        assert!(history(&body, ANTHROPIC, CHAT).ends_with(&format!("{result}]")), "{part}");
        let result = r#"{"role":"user","parts":[{"inlineData":{"mimeType":"image/png","data":"QUJD"}}]}"#;
        assert!(history(&body, ANTHROPIC, GEMINI).ends_with(&format!("{result}]")), "{part}");
        let result = r#""content":"","images":["QUJD"]}"#;
        assert!(history(&body, ANTHROPIC, OLLAMA).ends_with(&format!("{result}]")), "{part}");
        let result = r#""content":[{"image":{"format":"png","source":{"bytes":"QUJD"}}}]"#;
        assert!(history(&body, ANTHROPIC, BEDROCK).contains(result), "{part}");
    }
}

#[test]
fn an_image_in_a_result_of_converse_is_an_image_whatever_the_order_of_its_fields() {
    for image in [r#"{"format":"png","source":{"bytes":"QUJD"}}"#, r#"{"source":{"bytes":"QUJD"},"format":"png"}"#] {
        let body = format!(
            r#"{{"messages":[{{"role":"assistant","content":[{{"toolUse":{{"toolUseId":"a","name":"f","input":{{}}}}}}]}},{{"role":"user","content":[{{"toolResult":{{"toolUseId":"a","content":[{{"image":{image}}}]}}}}]}}]}}"#
        );

        check(&body, BEDROCK);

        let result =
            r#""content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"QUJD"}}]"#;
        assert!(history(&body, BEDROCK, ANTHROPIC).contains(result), "{}", history(&body, BEDROCK, ANTHROPIC));
    }
}

#[test]
fn a_mark_for_the_cache_does_not_make_a_result_json() {
    let body = r#"{"model":"claude-a","max_tokens":9,"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"42","cache_control":{"type":"ephemeral"}}]}]}]}"#;

    check(body, ANTHROPIC);

    assert!(history(body, ANTHROPIC, CHAT).ends_with(r#"{"role":"tool","content":"42","tool_call_id":"a"}]"#));
    assert!(history(body, ANTHROPIC, RESPONSES).ends_with(r#""call_id":"a","output":"42"}]"#));
    assert!(history(body, ANTHROPIC, GEMINI).contains(r#""response":{"output":"42"}"#));
    assert!(history(body, ANTHROPIC, OLLAMA).contains(r#""role":"tool","content":"42""#));
    let converse = r#"{"toolResult":{"toolUseId":"a","content":[{"text":"42"}]}},{"cachePoint":{"type":"default"}}]"#;
    assert!(history(body, ANTHROPIC, BEDROCK).contains(converse));
}

#[test]
fn gemini_takes_a_single_content_and_a_single_part() {
    let bodies = [
        r#"{"systemInstruction":{"parts":{"text":"Be kind"}},"contents":{"role":"user","parts":{"text":"Hi"}}}"#,
        r#"{"systemInstruction":"Be kind","contents":"Hi"}"#,
        r#"{"system_instruction":{"parts":[{"text":"Be kind"}]},"contents":[{"parts":{"text":"Hi"}}]}"#,
    ];
    for body in bodies {
        check(body, GEMINI);
        let chat = r#"[{"role":"system","content":"Be kind"},{"role":"user","content":"Hi"}]"#;
        assert_eq!(history(body, GEMINI, CHAT), chat, "{body}");
    }
}

#[test]
fn images_beside_a_response_of_gemini_are_images_of_the_result() {
    let body = r#"{"contents":[{"role":"model","parts":[{"functionCall":{"id":"a","name":"f","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"id":"a","name":"f","response":{"ok":true},"parts":[{"inlineData":{"mimeType":"image/png","data":"QUJD"}}]}}]}]}"#;

    check(body, GEMINI);

    let result = r#""content":[{"type":"text","text":"{\"ok\":true}"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"QUJD"}}]"#;
    assert!(history(body, GEMINI, ANTHROPIC).contains(result));
    let chat = r#"{"role":"tool","content":"{\"ok\":true}","tool_call_id":"a"},{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,QUJD"}}]}]"#;
    assert!(history(body, GEMINI, CHAT).ends_with(chat), "{}", history(body, GEMINI, CHAT));
    // The next request on its own wire has them where they were.
    assert!(
        history(body, GEMINI, GEMINI).contains(r#""parts":[{"inlineData":{"mimeType":"image/png","data":"QUJD"}}]}}"#)
    );
}

#[test]
fn a_chunk_without_content_does_not_erase_the_answer() {
    let stream = r#"[{"candidates":[{"content":{"role":"model","parts":[{"text":"Hello"}]}}]},{"candidates":[{"content":null,"finishReason":"STOP"}],"usageMetadata":{"totalTokenCount":3}}]"#;

    let decoded = wire(GEMINI).decode(Input::new(stream.as_bytes()), &DecodeOptions::default()).unwrap();

    let turn = &decoded.archive.main_session().unwrap().turns[0];
    assert_eq!(turn.blocks.iter().map(|block| block.body.as_text()).collect::<Vec<_>>(), [Some("Hello")]);
}

#[test]
fn a_signature_on_an_empty_text_is_sent_back() {
    let body = r#"{"contents":[{"role":"user","parts":[{"text":"Hi"}]},{"role":"model","parts":[{"text":"Hello"},{"text":"","thoughtSignature":"c2ln"}]},{"role":"user","parts":[{"text":"Again"}]}]}"#;

    assert!(history(body, GEMINI, GEMINI).contains(r#"{"text":"","thoughtSignature":"c2ln"}"#));
    assert!(!history(body, GEMINI, CHAT).contains("c2ln"));
}

#[test]
fn a_text_document_reaches_every_wire() {
    let anthropic = r#"{"model":"claude-a","max_tokens":9,"messages":[{"role":"user","content":[{"type":"document","source":{"type":"text","media_type":"text/plain","data":"Clause 1"},"title":"terms"}]}]}"#;
    let bedrock = r#"{"messages":[{"role":"user","content":[{"document":{"format":"txt","name":"terms","source":{"text":"Clause 1"}}}]}]}"#;

    check(anthropic, ANTHROPIC);
    check(bedrock, BEDROCK);

    let in_anthropic = r#"[{"role":"user","content":[{"type":"document","source":{"type":"text","media_type":"text/plain","data":"Clause 1"},"title":"terms"}]}]"#;
    let in_bedrock =
        r#"[{"role":"user","content":[{"document":{"format":"txt","name":"terms","source":{"text":"Clause 1"}}}]}]"#;
    assert_eq!(history(anthropic, ANTHROPIC, BEDROCK), in_bedrock);
    assert_eq!(history(bedrock, BEDROCK, ANTHROPIC), in_anthropic);
    let words = r#"<document name=\"terms\">\nClause 1\n</document>"#;
    assert_eq!(history(anthropic, ANTHROPIC, CHAT), format!(r#"[{{"role":"user","content":"{words}"}}]"#));
    assert_eq!(history(anthropic, ANTHROPIC, OLLAMA), format!(r#"[{{"role":"user","content":"{words}"}}]"#));
    let bytes = r#"[{"role":"user","parts":[{"inlineData":{"mimeType":"text/plain","data":"Q2xhdXNlIDE="}}]}]"#;
    assert_eq!(history(anthropic, ANTHROPIC, GEMINI), bytes);
}

#[test]
fn a_document_of_several_texts_reaches_every_wire() {
    check(
        r#"{"model":"claude-a","max_tokens":9,"messages":[{"role":"user","content":[{"type":"document","source":{"type":"content","content":[{"type":"text","text":"Clause 1"},{"type":"text","text":"Clause 2"}]},"title":"terms"}]}]}"#,
        ANTHROPIC,
    );
    check(
        r#"{"messages":[{"role":"user","content":[{"document":{"format":"txt","name":"terms","source":{"content":[{"text":"Clause 1"},{"text":"Clause 2"}]}}}]}]}"#,
        BEDROCK,
    );
}

#[test]
fn a_document_by_its_address_is_no_image() {
    let anthropic = r#"{"model":"claude-a","max_tokens":9,"messages":[{"role":"user","content":[{"type":"document","source":{"type":"url","url":"https://a.example/terms"}}]}]}"#;
    let responses = r#"{"model":"gpt-4.1","input":[{"role":"user","content":[{"type":"input_file","file_url":"https://a.example/terms"}]}]}"#;

    check(anthropic, ANTHROPIC);
    check(responses, RESPONSES);

    assert!(
        history(anthropic, ANTHROPIC, RESPONSES)
            .contains(r#"{"type":"input_file","file_url":"https://a.example/terms"}"#)
    );
    assert!(
        history(responses, RESPONSES, ANTHROPIC)
            .contains(r#"{"type":"document","source":{"type":"url","url":"https://a.example/terms"}}"#)
    );
    assert!(!history(anthropic, ANTHROPIC, CHAT).contains("image_url"));
    assert!(
        history(anthropic, ANTHROPIC, GEMINI)
            .contains(r#"{"fileData":{"mimeType":"application/pdf","fileUri":"https://a.example/terms"}}"#)
    );
}

#[test]
fn an_answer_with_citations_is_text_everywhere() {
    let body = r#"{"messages":[{"role":"user","content":[{"text":"?"}]},{"role":"assistant","content":[{"citationsContent":{"content":[{"text":"It is "},{"text":"42."}],"citations":[{"title":"a"}]}}]},{"role":"user","content":[{"text":"!"}]}]}"#;

    check(body, BEDROCK);

    assert!(history(body, BEDROCK, CHAT).contains(r#"{"role":"assistant","content":"It is 42."}"#));
    assert!(history(body, BEDROCK, BEDROCK).contains(
        r#"{"citationsContent":{"content":[{"text":"It is "},{"text":"42."}],"citations":[{"title":"a"}]}}"#
    ));
}

#[test]
fn what_a_vendor_calls_itself_stays_before_its_result() {
    let body = r#"{"modelId":"amazon.nova-pro-v1:0","messages":[{"role":"user","content":[{"text":"?"}]},{"role":"assistant","content":[{"toolUse":{"toolUseId":"s","name":"nova_grounding","type":"server_tool_use","input":{}}},{"toolResult":{"toolUseId":"s","type":"nova_grounding_result","content":[{"text":"found"}]}},{"text":"42"}]},{"role":"user","content":[{"text":"!"}]}]}"#;

    check(body, BEDROCK);

    assert_eq!(history(body, BEDROCK, BEDROCK), parsed(body).as_object().unwrap().get("messages").unwrap().to_text());
}

#[test]
fn a_file_of_text_travels_as_text_where_a_wire_takes_no_such_file() {
    let body = r#"{"messages":[{"role":"user","content":[{"document":{"format":"csv","name":"table","source":{"bytes":"YSxiCjEsMg=="}}}]}]}"#;

    check(body, BEDROCK);

    let words = r#"<document name=\"table\">\na,b\n1,2\n</document>"#;
    assert_eq!(history(body, BEDROCK, CHAT), format!(r#"[{{"role":"user","content":"{words}"}}]"#));
    assert_eq!(history(body, BEDROCK, OLLAMA), format!(r#"[{{"role":"user","content":"{words}"}}]"#));
    let document =
        r#"{"type":"document","source":{"type":"text","media_type":"text/plain","data":"a,b\n1,2"},"title":"table"}"#;
    assert_eq!(history(body, BEDROCK, ANTHROPIC), format!(r#"[{{"role":"user","content":[{document}]}}]"#));
}

#[test]
fn thinking_in_pieces_is_given_back_to_openrouter() {
    let details = r#""reasoning_details":[{"type":"reasoning.text","text":"Hm","signature":"c2ln","format":"anthropic-claude-v1","index":0},{"type":"reasoning.encrypted","data":"Z2g="}]"#;
    let body = format!(
        r#"{{"model":"anthropic/claude-sonnet-4","messages":[{{"role":"user","content":"?"}},{{"role":"assistant","content":"42",{details}}},{{"role":"user","content":"!"}}]}}"#
    );

    check(&body, CHAT);

    let next = history(&body, CHAT, CHAT);
    assert!(next.contains(details), "{next}");
}

#[test]
fn the_vendor_that_a_body_was_recorded_at_can_be_named() {
    let body = r#"{"model":"z-ai/glm-4.6","messages":[{"role":"user","content":"?"},{"role":"assistant","content":"42","reasoning":"Hm"},{"role":"user","content":"!"}]}"#;
    let next = |options: &DecodeOptions| {
        let decoded = wire(CHAT).decode(Input::new(body.as_bytes()), options).unwrap();
        let mut encoding = EncodeOptions::default();
        encoding.as_request = true;
        String::from_utf8(wire(CHAT).encode(&decoded.archive, &encoding).unwrap().bytes).unwrap()
    };

    assert!(!next(&DecodeOptions::default()).contains("Hm"));
    assert!(next(&DecodeOptions::default().with_variant("openrouter")).contains("\"reasoning\": \"Hm\""));
    let decoded =
        wire(CHAT).decode(Input::new(body.as_bytes()), &DecodeOptions::default().with_variant("groq")).unwrap();
    let losses = wire(CHAT).encode(&decoded.archive, &EncodeOptions::default()).unwrap().losses;
    assert_eq!(losses, Vec::<Loss>::new());
}

#[test]
fn a_variant_never_replaces_the_model() {
    let cases = [
        (CHAT, r#"{"model":"moonshotai/kimi-k2-instruct","messages":[{"role":"user","content":"Hi"}]}"#),
        (CHAT, r#"{"model":"kimi-k2-0905-preview","messages":[{"role":"user","content":"Hi"}]}"#),
        (RESPONSES, r#"{"model":"kimi-k2-0905-preview","input":"Hi"}"#),
    ];
    for (id, body) in cases {
        let model = parsed(body).as_object().unwrap().get("model").unwrap().clone();
        for variant in wire(id).spec().variants {
            let decoded = wire(id).decode(Input::new(body.as_bytes()), &DecodeOptions::default()).unwrap();
            let options = EncodeOptions::default().with_variant(*variant);
            let encoded = wire(id).encode(&decoded.archive, &options).unwrap();
            let made = parsed(&String::from_utf8(encoded.bytes).unwrap());
            assert_eq!(made.as_object().unwrap().get("model"), Some(&model), "{id}:{variant}");
        }
    }
}

#[test]
fn a_message_without_content_is_told_as_lost_content() {
    let bodies = [
        (CHAT, r#"{"model":"gpt-4.1","messages":[{"role":"user","content":""}]}"#),
        (
            ANTHROPIC,
            r#"{"model":"claude-a","max_tokens":9,"messages":[{"role":"user","content":[{"type":"text","text":""}]}]}"#,
        ),
        (GEMINI, r#"{"contents":[{"role":"user","parts":[{"text":""}]}]}"#),
        (BEDROCK, r#"{"modelId":"m","messages":[{"role":"user","content":[{"text":""}]}]}"#),
        (RESPONSES, r#"{"model":"gpt-4.1","input":""}"#),
        (OLLAMA, r#"{"model":"llama3.2","messages":[{"role":"user","content":""}]}"#),
    ];
    for (from, body) in bodies {
        for to in WIRES.iter().filter(|to| **to != from) {
            let told = losses(body, from, to);
            let content =
                told.iter().any(|loss| loss.severity() == Severity::Content && loss.at.starts_with("turns[0]"));
            assert!(content, "{from} -> {to}: {told:#?}");
        }
    }
}

#[test]
fn a_conversation_that_only_its_vendor_holds_is_told_as_lost_content() {
    let body = r#"{"model":"gpt-4.1","previous_response_id":"resp_1","input":"And now?"}"#;
    for to in WIRES.iter().filter(|to| **to != RESPONSES) {
        let told = losses(body, RESPONSES, to);
        let named: Vec<_> = told.iter().filter(|loss| loss.what.contains("`previous_response_id`")).collect();
        assert_eq!(named.len(), 1, "{to}: {told:#?}");
        assert_eq!((named[0].kind, named[0].severity()), (LossKind::Dropped, Severity::Content), "{to}");
    }
    assert!(convert(&parsed(body), RESPONSES, RESPONSES).unwrap().body.to_text().contains("resp_1"));
}

#[test]
fn further_answers_are_told_as_lost_content() {
    let chat = r#"{"id":"c","object":"chat.completion","created":1,"model":"gpt-4.1","choices":[{"index":0,"message":{"role":"assistant","content":"one"},"finish_reason":"stop"},{"index":1,"message":{"role":"assistant","content":"two"},"finish_reason":"stop"}]}"#;
    let gemini = r#"{"candidates":[{"content":{"role":"model","parts":[{"text":"one"}]},"finishReason":"STOP"},{"content":{"role":"model","parts":[{"text":"two"}]},"finishReason":"STOP"}]}"#;

    check(chat, CHAT);
    check(gemini, GEMINI);
}

#[test]
fn cache_points_and_cache_marks_say_the_same() {
    let bedrock = r#"{"modelId":"m","messages":[{"role":"user","content":[{"text":"Long"},{"cachePoint":{"type":"default"}},{"text":"Short"}]}],"system":[{"text":"Be kind"},{"cachePoint":{"type":"default","ttl":"1h"}}],"toolConfig":{"tools":[{"toolSpec":{"name":"f","inputSchema":{"json":{"type":"object"}}}},{"cachePoint":{"type":"default"}}]}}"#;
    let anthropic = r#"{"model":"claude-a","max_tokens":9,"system":[{"type":"text","text":"Be kind","cache_control":{"type":"ephemeral","ttl":"1h"}}],"messages":[{"role":"user","content":[{"type":"text","text":"Long","cache_control":{"type":"ephemeral"}},{"type":"text","text":"Short"}]}],"tools":[{"name":"f","input_schema":{"type":"object"},"cache_control":{"type":"ephemeral"}}]}"#;
    let fields = |body: &str, from: &str, to: &str, keys: [&str; 3]| {
        let made = convert(&parsed(body), from, to).unwrap().body;
        keys.map(|key| made.as_object().unwrap().get(key).map(Json::to_text))
    };
    let own =
        |body: &str, keys: [&str; 3]| keys.map(|key| parsed(body).as_object().unwrap().get(key).map(Json::to_text));

    let keys = ["system", "messages", "tools"];
    assert_eq!(fields(bedrock, BEDROCK, ANTHROPIC, keys), own(anthropic, keys));
    let keys = ["system", "messages", "toolConfig"];
    assert_eq!(fields(anthropic, ANTHROPIC, BEDROCK, keys), own(bedrock, keys));
    let told = losses(bedrock, BEDROCK, ANTHROPIC);
    assert!(!told.iter().any(|loss| loss.severity() == Severity::Content), "{told:#?}");
}

#[test]
fn a_spoken_answer_is_heard_as_its_transcript() {
    let body = r#"{"model":"gpt-audio","messages":[{"role":"user","content":"?"},{"role":"assistant","content":null,"audio":{"id":"audio_1","data":"QUJD","transcript":"Forty-two"}},{"role":"user","content":"!"}]}"#;

    assert!(history(body, CHAT, ANTHROPIC).contains("Forty-two"));
}

#[test]
fn images_of_a_tool_message_are_images_of_the_result() {
    let body = r#"{"model":"llama3.2","messages":[{"role":"assistant","content":"","tool_calls":[{"function":{"name":"f","arguments":{}}}]},{"role":"tool","content":"see","images":["QUJD"],"tool_name":"f"}]}"#;

    check(body, OLLAMA);

    let decoded = wire(OLLAMA).decode(Input::new(body.as_bytes()), &DecodeOptions::default()).unwrap();
    let Body::ToolResult(result) = &decoded.archive.main_session().unwrap().turns[0].blocks[1].body else {
        panic!("no result")
    };
    assert_eq!(result.parts.len(), 2);
}

#[test]
fn the_cache_mark_of_a_document_with_context_stands_once() {
    let body = r#"{"model":"claude-a","max_tokens":9,"messages":[{"role":"user","content":[{"type":"document","source":{"type":"text","media_type":"text/plain","data":"Clause 1"},"context":"The contract","cache_control":{"type":"ephemeral"}}]}]}"#;

    check(body, ANTHROPIC);

    assert_eq!(history(body, ANTHROPIC, BEDROCK).matches("cachePoint").count(), 1);
}

#[test]
fn images_that_a_model_made_are_images_of_its_answer() {
    let images = r#""images":[{"type":"image_url","image_url":{"url":"data:image/png;base64,QUJD"},"index":0}]"#;
    let request = format!(
        r#"{{"model":"google/gemini-2.5-flash-image","messages":[{{"role":"user","content":"?"}},{{"role":"assistant","content":"Here",{images}}},{{"role":"user","content":"!"}}]}}"#
    );
    let response = format!(
        r#"{{"id":"g","object":"chat.completion","model":"m","choices":[{{"index":0,"message":{{"role":"assistant","content":"",{images}}},"finish_reason":"stop"}}]}}"#
    );
    for body in [&request, &response] {
        check(body, CHAT);
        let decoded = wire(CHAT).decode(Input::new(body.as_bytes()), &DecodeOptions::default()).unwrap();
        let session = decoded.archive.main_session().unwrap();
        let media = session.blocks().filter(|(_, block)| matches!(block.body, Body::Media(_))).count();
        assert_eq!(media, 1, "{body}");
    }
    for to in WIRES {
        let told = losses(&request, CHAT, to);
        let is_told = |loss: &Loss| loss.severity() == Severity::Content && loss.at.starts_with("turns[0].blocks[2]");
        let is_sent = convert(&parsed(&request), CHAT, to).unwrap().body.to_text().contains("QUJD");
        assert!(is_sent || told.iter().any(is_told), "{to}: {told:#?}");
    }
}

#[test]
fn instructions_in_a_list_reach_every_wire() {
    let body = r#"{"model":"gpt-5","instructions":[{"role":"developer","content":"Be kind"},{"type":"message","role":"user","content":[{"type":"input_text","text":"Remember"}]}],"input":"Hi"}"#;

    check(body, RESPONSES);

    for to in WIRES {
        let made = convert(&parsed(body), RESPONSES, to).unwrap().body.to_text();
        assert!(["Be kind", "Remember", "Hi"].iter().all(|text| made.contains(text)), "{to}: {made}");
    }
}

#[test]
fn a_field_of_content_that_no_reader_takes_is_told_as_lost_content() {
    let bodies = [
        (
            ANTHROPIC,
            r#"{"model":"claude-a","max_tokens":9,"messages":[{"role":"user","content":"?"},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":{"type":"text","text":"lost"}}]}]}"#,
        ),
        (
            ANTHROPIC,
            r#"{"model":"claude-a","max_tokens":9,"system":{"type":"text","text":"lost"},"messages":[{"role":"user","content":"?"}]}"#,
        ),
        (
            BEDROCK,
            r#"{"modelId":"m","promptVariables":{"a":{"text":"lost"}},"messages":[{"role":"user","content":[{"text":"?"}]}]}"#,
        ),
        (BEDROCK, r#"{"modelId":"m","system":{"text":"lost"},"messages":[{"role":"user","content":[{"text":"?"}]}]}"#),
        (
            CHAT,
            r#"{"model":"gpt-4.1","messages":[{"role":"user","content":"?"},{"role":"assistant","content":"Here","images":[{"url":"https://a/lost.png"}]},{"role":"user","content":"!"}]}"#,
        ),
        (
            RESPONSES,
            r#"{"id":"r","object":"response","model":"gpt-5","status":"completed","instructions":"lost","output":[{"type":"message","id":"m","role":"assistant","content":[{"type":"output_text","text":"Hi","annotations":[]}]}]}"#,
        ),
    ];
    for (from, body) in bodies {
        for to in WIRES.iter().filter(|to| **to != from) {
            let made = convert(&parsed(body), from, to).unwrap();
            let is_told = made.losses.iter().any(|loss| loss.severity() == Severity::Content);
            assert!(is_told || made.body.to_text().contains("lost"), "{from} -> {to}: {:#?}", made.losses);
        }
    }
}

#[test]
fn an_image_given_as_an_address_of_its_data_is_that_image() {
    let body = r#"{"model":"llava","messages":[{"role":"user","content":"?","images":["data:image/png;base64,QUJD"]}],"options":{}}"#;

    check(body, OLLAMA);

    let image = r#"{"type":"image","source":{"type":"base64","media_type":"image/png","data":"QUJD"}}"#;
    assert!(history(body, OLLAMA, ANTHROPIC).contains(image), "{}", history(body, OLLAMA, ANTHROPIC));
}

#[test]
fn what_a_vendor_called_for_an_answer_is_told_as_lost_content() {
    let tool = r#"{"index":0,"type":"python","arguments":"{\"code\":\"lost\"}","output":"42","search_results":{"results":[]}}"#;
    let message = format!(r#"{{"role":"assistant","content":"Here","executed_tools":[{tool}]}}"#);
    let response = format!(
        r#"{{"id":"g","object":"chat.completion","model":"groq/compound","choices":[{{"index":0,"message":{message},"finish_reason":"stop"}}]}}"#
    );
    let request = format!(
        r#"{{"model":"groq/compound","messages":[{{"role":"user","content":"?"}},{message},{{"role":"user","content":"!"}}]}}"#
    );
    for body in [&response, &request] {
        check(body, CHAT);
        for to in WIRES.iter().filter(|to| **to != CHAT) {
            let told = losses(body, CHAT, to);
            let is_told = |loss: &Loss| loss.severity() == Severity::Content && loss.at.starts_with("turns[0].blocks[");
            assert!(told.iter().any(is_told), "{to}: {told:#?}");
        }
    }
}
