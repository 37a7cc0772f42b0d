//! What a client of a vendor relies on: answers as they arrive, and requests as they are sent.

use turnkeep_codec::wire::{Delivery, Delta, End, Incoming, Outgoing, Wire, received};
use turnkeep_codec::{DecodeOptions, EncodeOptions, Input, format};
use turnkeep_model::json::{self, Json, Node};
use turnkeep_model::{Author, Block, Body, Session, Text, ToolResult, Turn};

const WIRES: [&str; 6] =
    ["openai.chat", "openai.responses", "anthropic.messages", "gemini.contents", "ollama.chat", "bedrock.converse"];

/// The recorded streams among the fixtures, each with its wire.
const STREAMS: [(&str, &[u8]); 12] = [
    ("openai.chat", include_bytes!("../../../../fixtures/openai.chat/stream/input.sse")),
    ("openai.chat", include_bytes!("../../../../fixtures/openai.chat/stream-cut-off/input.sse")),
    ("openai.responses", include_bytes!("../../../../fixtures/openai.responses/stream/input.sse")),
    ("openai.responses", include_bytes!("../../../../fixtures/openai.responses/stream-cut-off/input.sse")),
    ("anthropic.messages", include_bytes!("../../../../fixtures/anthropic.messages/stream/input.sse")),
    ("anthropic.messages", include_bytes!("../../../../fixtures/anthropic.messages/cut_stream/input.sse")),
    ("gemini.contents", include_bytes!("../../../../fixtures/gemini.contents/stream/input.txt")),
    ("gemini.contents", include_bytes!("../../../../fixtures/gemini.contents/cut-stream/input.txt")),
    ("ollama.chat", include_bytes!("../../../../fixtures/ollama.chat/stream/input.ndjson")),
    ("ollama.chat", include_bytes!("../../../../fixtures/ollama.chat/stream-cut-off/input.ndjson")),
    ("bedrock.converse", include_bytes!("../../../../fixtures/bedrock.converse/stream/input.bin")),
    ("bedrock.converse", include_bytes!("../../../../fixtures/bedrock.converse/cut_stream/input.bin")),
];

fn wire(id: &str) -> &'static dyn Wire {
    format::wire(id).unwrap()
}

fn parsed(text: &str) -> Json {
    json::parse(text).map(Node::into_json).unwrap()
}

/// The answer of a stream that arrives in pieces of `size` bytes, and what a screen was told.
fn arrived(id: &str, bytes: &[u8], size: usize) -> (Turn, End, Vec<Delta>) {
    let mut incoming = Incoming::new(wire(id));
    let deltas = bytes.chunks(size).flat_map(|piece| incoming.push(piece).unwrap()).collect();
    let received = incoming.finish().unwrap();
    (received.turn, received.end, deltas)
}

#[test]
fn an_answer_that_arrives_is_the_one_that_a_file_holds_whatever_the_size_of_pieces() {
    for (id, bytes) in STREAMS {
        let decoded = format::by_id(id).unwrap().decode(Input::new(bytes), &DecodeOptions::default()).unwrap();
        let turn = decoded.archive.main_session().unwrap().turns.last().cloned().unwrap();
        let end = if decoded.losses.is_empty() { End::Complete } else { End::Interrupted };
        let whole = arrived(id, bytes, bytes.len());

        assert_eq!((&whole.0, whole.1), (&turn, end), "{id}");
        for size in (1..40).chain([997]) {
            assert_eq!(arrived(id, bytes, size), whole, "{id} in pieces of {size}");
        }
    }
}

#[test]
fn what_a_screen_was_told_is_the_text_of_the_answer() {
    for (id, bytes) in STREAMS {
        let (turn, _, deltas) = arrived(id, bytes, 11);
        let told: String = deltas
            .iter()
            .filter_map(|delta| match delta {
                Delta::Text { text, .. } => Some(text.as_str()),
                _ => None,
            })
            .collect();
        let said: String = turn.blocks.iter().filter_map(|block| block.body.as_text()).collect();
        assert_eq!(told, said, "{id}");
    }
}

#[test]
fn a_byte_order_mark_and_carriage_returns_make_no_difference() {
    for (id, bytes) in STREAMS.iter().filter(|(id, _)| *id != "bedrock.converse") {
        let text = std::str::from_utf8(bytes).unwrap();
        let windows = format!("\u{feff}{}", text.replace('\n', "\r\n"));
        let (turn, end, _) = arrived(id, windows.as_bytes(), 3);
        let (wanted, wanted_end, _) = arrived(id, bytes, bytes.len());
        assert_eq!((turn, end), (wanted, wanted_end), "{id}");
    }
}

#[test]
fn a_whole_body_where_a_stream_was_asked_for_is_an_answer() {
    let bodies = [
        ("openai.chat", include_bytes!("../../../../fixtures/openai.chat/response-with-call/input.json").as_slice()),
        ("openai.responses", include_bytes!("../../../../fixtures/openai.responses/response/input.json")),
        ("anthropic.messages", include_bytes!("../../../../fixtures/anthropic.messages/response/input.json")),
        ("gemini.contents", include_bytes!("../../../../fixtures/gemini.contents/response/input.json")),
        ("ollama.chat", include_bytes!("../../../../fixtures/ollama.chat/response/input.json")),
        ("bedrock.converse", include_bytes!("../../../../fixtures/bedrock.converse/response/input.json")),
    ];
    for (id, bytes) in bodies {
        let body = parsed(std::str::from_utf8(bytes).unwrap());
        let whole = received(wire(id), body).unwrap();
        let (turn, end, _) = arrived(id, bytes, 5);
        assert_eq!((turn.blocks, end), (whole.turn.blocks, End::Complete), "{id}");
    }
}

#[test]
fn an_error_in_the_middle_of_a_stream_is_told_with_what_came_before() {
    let streams = [
        (
            "openai.chat",
            "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hal\"}}]}\n\ndata: {\"error\":{\"message\":\"overloaded\",\"code\":529}}\n\n",
        ),
        (
            "anthropic.messages",
            "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"claude\",\"content\":[],\"stop_reason\":null,\"usage\":{\"input_tokens\":1,\"output_tokens\":1}}}\n\nevent: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\nevent: ping\ndata: {\"type\":\"ping\"}\n\nevent: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"Hal\"}}\n\nevent: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n",
        ),
        (
            "openai.responses",
            "data: {\"type\":\"response.created\",\"response\":{\"id\":\"resp_1\",\"object\":\"response\",\"status\":\"in_progress\",\"model\":\"gpt-5\",\"output\":[]}}\n\ndata: {\"type\":\"response.output_item.added\",\"output_index\":0,\"item\":{\"id\":\"msg_1\",\"type\":\"message\",\"role\":\"assistant\",\"content\":[]}}\n\ndata: {\"type\":\"response.output_text.delta\",\"output_index\":0,\"content_index\":0,\"delta\":\"Hal\"}\n\ndata: {\"type\":\"error\",\"code\":\"server_error\",\"message\":\"The server had an error\"}\n\n",
        ),
        (
            "ollama.chat",
            "{\"model\":\"m\",\"message\":{\"role\":\"assistant\",\"content\":\"Hal\"},\"done\":false}\n{\"error\":\"an error was encountered\"}\n",
        ),
    ];
    for (id, text) in streams {
        let (turn, _, _) = arrived(id, text.as_bytes(), 9);
        let said: String = turn.blocks.iter().filter_map(|block| block.body.as_text()).collect();
        assert_eq!(said, "Hal", "{id}");
        assert!(!turn.errors.is_empty(), "{id}: {turn:?}");
    }
}

/// A session as a client keeps it: a question, the answer as it was received, and results of its calls.
fn continued(id: &str, provider: &str, response: &str) -> Session {
    let mut turn = received(wire(id), parsed(response)).unwrap().turn;
    turn.api = Some(id.to_owned());
    turn.provider = Some(provider.to_owned());
    for (index, block) in turn.blocks.iter_mut().enumerate() {
        block.message.ordinal = 1 + u32::try_from(index / 100).unwrap();
    }
    let calls: Vec<_> = turn
        .blocks
        .iter()
        .filter_map(|block| match &block.body {
            Body::ToolCall(call) => Some(call.call.clone()),
            _ => None,
        })
        .collect();
    turn.blocks.insert(0, Block::text(Author::User, "What is the weather?").in_message(0));
    for call in calls {
        let parts = vec![Text { text: "sunny".to_owned() }.into()];
        let result = ToolResult { call, name: None, parts, error: None, is_error: None, outcome: None };
        turn.blocks.push(Block::new(Author::Tool, result).in_message(2));
    }
    Session { turns: vec![turn], ..Session::default() }
}

fn sent(id: &str, session: &Session, change: impl FnOnce(&mut EncodeOptions)) -> String {
    let mut options = EncodeOptions::default();
    change(&mut options);
    Outgoing::new(wire(id), session, &options, Delivery::Whole).body.to_text()
}

const GEMINI: &str = r#"{"candidates":[{"content":{"role":"model","parts":[
    {"functionCall":{"name":"weather","args":{"city":"Bern"}},"thoughtSignature":"c2lnbmVk"}]},"finishReason":"STOP","index":0}],
    "modelVersion":"gemini-3-pro-preview"}"#;
const CLAUDE: &str = r#"{"id":"msg_1","type":"message","role":"assistant","model":"claude-sonnet-4-5","stop_reason":"tool_use",
    "content":[{"type":"thinking","thinking":"hm","signature":"c2lnbmVk"},
    {"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"query":"Bern"}},
    {"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[]},
    {"type":"tool_use","id":"toolu_1","name":"weather","input":{"city":"Bern"}}]}"#;
const GPT: &str = r#"{"id":"resp_1","object":"response","status":"completed","model":"gpt-5","output":[
    {"id":"rs_1","type":"reasoning","summary":[],"encrypted_content":"c2VjcmV0"},
    {"id":"fc_1","type":"function_call","call_id":"call_1","name":"weather","arguments":"{\"city\":\"Bern\"}","status":"completed"}]}"#;
const ROUTED: &str = r#"{"id":"gen-1","object":"chat.completion","model":"anthropic/claude-sonnet-4.5","choices":[{"index":0,
    "native_finish_reason":"tool_use","finish_reason":"tool_calls","message":{"role":"assistant","content":null,
    "reasoning":"hm","reasoning_details":[{"type":"reasoning.text","text":"hm","signature":"c2lnbmVk","index":0}],
    "tool_calls":[{"id":"call_1","type":"function","function":{"name":"weather","arguments":"{\"city\":\"Bern\"}"}}]}}]}"#;

#[test]
fn opaque_thinking_of_an_answer_goes_back_to_its_vendor() {
    let gemini = sent("gemini.contents", &continued("gemini.contents", "google", GEMINI), |_| {});
    assert!(gemini.contains(r#""thoughtSignature":"c2lnbmVk""#), "{gemini}");

    let claude = sent("anthropic.messages", &continued("anthropic.messages", "anthropic", CLAUDE), |_| {});
    assert!(claude.contains(r#""signature":"c2lnbmVk""#), "{claude}");
    assert!(claude.contains("web_search_tool_result"), "{claude}");

    let gpt = sent("openai.responses", &continued("openai.responses", "openai", GPT), |_| {});
    assert!(gpt.contains(r#""encrypted_content":"c2VjcmV0""#), "{gpt}");
    assert!(gpt.contains(r#""id":"fc_1""#), "{gpt}");

    let routed = continued("openai.chat", "openrouter", ROUTED);
    let routed = sent("openai.chat", &routed, |options| options.variant = Some("openrouter".to_owned()));
    assert!(routed.contains(r#""signature":"c2lnbmVk""#), "{routed}");
}

#[test]
fn opaque_thinking_does_not_go_to_another_account() {
    let of = |id: &str, provider: &str, response: &str| {
        let mut session = continued(id, provider, response);
        session.turns[0].account = Some("org-a".to_owned());
        let to = |account: &str| sent(id, &session, |options| options.account = Some(account.to_owned()));
        (to("org-a"), to("org-b"))
    };

    let (own, other) = of("gemini.contents", "google", GEMINI);
    assert!(own.contains("c2lnbmVk") && !other.contains("c2lnbmVk"), "{other}");
    assert!(other.contains("skip_thought_signature_validator"), "{other}");

    let (own, other) = of("anthropic.messages", "anthropic", CLAUDE);
    assert!(own.contains("c2lnbmVk") && !other.contains("c2lnbmVk"), "{other}");

    let (own, other) = of("openai.responses", "openai", GPT);
    assert!(own.contains("c2VjcmV0") && !other.contains("c2VjcmV0"), "{other}");
    assert!(!other.contains("fc_1") && other.contains("call_1"), "{other}");
}

#[test]
fn a_signature_of_an_older_generation_is_not_sent_to_a_newer_model() {
    let older = GEMINI.replace("gemini-3-pro-preview", "gemini-2.5-pro");
    let session = continued("gemini.contents", "google", &older);
    let to = |model: &str| sent("gemini.contents", &session, |options| options.model = Some(model.to_owned()));

    assert!(to("gemini-2.5-flash").contains("c2lnbmVk"));
    let newer = to("gemini-3-flash-preview");
    assert!(!newer.contains("c2lnbmVk") && newer.contains("skip_thought_signature_validator"), "{newer}");
}

#[test]
fn opaque_thinking_is_stamped_with_what_stood_before_it() {
    let exchanges = [
        ("openai.responses", r#"{"model":"gpt-5","input":"Hi"}"#, GPT),
        (
            "anthropic.messages",
            r#"{"model":"claude-sonnet-4-5","max_tokens":9,"messages":[{"role":"user","content":"Hi"}]}"#,
            CLAUDE,
        ),
        (
            "gemini.contents",
            r#"{"contents":[{"role":"user","parts":[{"text":"Hi"}]}]}"#,
            r#"{"candidates":[{"content":{"role":"model","parts":[{"text":"hm","thought":true,"thoughtSignature":"c2lnbmVk"}]}}],"modelVersion":"gemini-3-pro"}"#,
        ),
    ];
    for (id, request, response) in exchanges {
        let prefix = |request: &str| {
            let text = format!(r#"{{"request":{request},"response":{response}}}"#);
            let decoded = format::by_id(id).unwrap().decode(Input::new(text.as_bytes()), &DecodeOptions::default());
            let archive = decoded.unwrap().archive;
            let session = archive.main_session().unwrap();
            let found = session.blocks().find_map(|(_, block)| match &block.body {
                Body::Reasoning(reasoning) => reasoning.scope.clone(),
                _ => None,
            });
            found.unwrap().prefix.unwrap_or_else(|| panic!("{id} has no fingerprint"))
        };
        assert_eq!(prefix(request), prefix(request), "{id}");
        assert_ne!(prefix(request), prefix(&request.replace("Hi", "Ho")), "{id}");
    }
}

#[test]
fn a_request_says_how_its_answer_is_wanted_and_names_its_model_where_the_vendor_looks() {
    let session = Session {
        turns: vec![Turn { blocks: vec![Block::text(Author::User, "Hi")], ..Turn::default() }],
        ..Session::default()
    };
    let asked = |id: &str, delivery: Delivery| {
        let mut options = EncodeOptions::default();
        options.model = Some("some-model".to_owned());
        let outgoing = Outgoing::new(wire(id), &session, &options, delivery);
        let again = Outgoing::new(wire(id), &session, &options, delivery);
        assert_eq!(outgoing.to_bytes(), again.to_bytes());
        assert_eq!(outgoing.model, "some-model");
        outgoing.losses(wire(id), &session).unwrap();
        outgoing.body
    };
    let says = |body: &Json, key: &str| body.as_object().unwrap().get(key).map(Json::to_text);

    for id in ["openai.chat", "openai.responses", "anthropic.messages"] {
        assert_eq!(says(&asked(id, Delivery::Stream), "stream").as_deref(), Some("true"), "{id}");
        assert_eq!(says(&asked(id, Delivery::Whole), "stream"), None, "{id}");
        assert!(says(&asked(id, Delivery::Whole), "model").is_some(), "{id}");
    }
    assert_eq!(says(&asked("ollama.chat", Delivery::Whole), "stream").as_deref(), Some("false"));
    assert!(says(&asked("openai.chat", Delivery::Stream), "stream_options").is_some());
    for (id, key) in [("gemini.contents", "model"), ("bedrock.converse", "modelId")] {
        assert_eq!(says(&asked(id, Delivery::Stream), key), None, "{id}");
        assert_eq!(asked(id, Delivery::Stream), asked(id, Delivery::Whole), "{id}");
    }
}

#[test]
fn every_wire_can_be_had_by_its_id() {
    for id in WIRES {
        assert_eq!(wire(id).spec().id, id);
    }
}
