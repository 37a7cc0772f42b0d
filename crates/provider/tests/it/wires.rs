//! Every wire, streamed and not: the request that is sent, and the answer that is read.

use turnkeep_model::json::Json;
use turnkeep_model::{Body, Session};
use turnkeep_provider::auth::Credentials;
use turnkeep_provider::auth::sigv4::AwsKeys;
use turnkeep_provider::{Provider, Secret, Streaming};
use turnkeep_runtime::port::{Answer, NoDeltas};

use crate::kit::{self, Heard, WIRES};
use crate::server::{Play, Server};

/// What of an answer the recorded body says; scopes are the endpoint's.
fn told(answer: &Answer) -> (Vec<Body>, String, String) {
    let bodies = answer.blocks.iter().map(|block| scopeless(block.body.clone())).collect();
    (bodies, format!("{:?}", answer.finish), format!("{:?}", answer.usage))
}

fn scopeless(mut body: Body) -> Body {
    if let Body::Reasoning(reasoning) = &mut body {
        reasoning.scope = None;
    }
    body
}

fn expected(wire: &str, bytes: &[u8]) -> (Vec<Body>, String, String) {
    let turn = kit::answer_in(wire, bytes);
    let bodies = turn.blocks.into_iter().map(|block| scopeless(block.body)).collect();
    (bodies, format!("{:?}", turn.finish), format!("{:?}", turn.usage))
}

#[test]
fn streams_are_read_whatever_pieces_they_come_in() {
    for (wire, provider) in WIRES {
        let stream = kit::stream(wire);
        for size in [1, 7, 64, stream.len()] {
            let play = Play::new(200, kit::content_type(wire), stream.clone()).in_pieces(size);
            let server = Server::new([play]);
            let model = kit::model(provider, &server.url).with_wire(wire).unwrap();
            let heard = Heard::default();

            let answer = kit::ask(&model, &kit::question(), &heard).unwrap_or_else(|error| panic!("{wire}: {error}"));

            assert_eq!(told(&answer), expected(wire, &stream), "{wire} in pieces of {size}");
            let text: String = answer.blocks.iter().filter_map(|block| block.body.as_text()).collect();
            assert_eq!(heard.text(), text, "{wire}");
        }
    }
}

#[test]
fn answers_in_one_piece_are_read() {
    for (wire, provider) in WIRES {
        let case = if *wire == "openai.chat" { "response-with-call" } else { "response" };
        let body = kit::fixture(&format!("{wire}/{case}/input.json"));
        let server = Server::new([Play::new(200, "application/json", body.clone())]);
        let model = kit::model(provider, &server.url).with_wire(wire).unwrap().with_streaming(Streaming::Off);

        let answer = kit::asked(&model).unwrap();

        assert_eq!(told(&answer), expected(wire, &body), "{wire}");
        let payload = turnkeep_model::json::parse(std::str::from_utf8(&body).unwrap()).unwrap().into_json();
        assert_eq!(answer.payload, payload, "{wire}");
    }
}

#[test]
fn a_vendor_that_does_not_stream_is_read_all_the_same() {
    for (wire, provider) in WIRES {
        let case = if *wire == "openai.chat" { "response-with-call" } else { "response" };
        let body = kit::fixture(&format!("{wire}/{case}/input.json"));
        let server = Server::new([Play::new(200, "application/json", body.clone())]);
        let model = kit::model(provider, &server.url).with_wire(wire).unwrap();

        assert_eq!(told(&kit::asked(&model).unwrap()), expected(wire, &body), "{wire}");
    }
}

/// The line, the headers that matter and the settings of the request to a provider.
fn sent(provider: &str, wire: &str, streaming: Streaming) -> (String, Vec<(String, String)>, String) {
    let play = match streaming {
        Streaming::On => Play::new(200, kit::content_type(wire), kit::stream(wire)),
        Streaming::Off => {
            let case = if wire == "openai.chat" { "response-with-call" } else { "response" };
            Play::new(200, "application/json", kit::fixture(&format!("{wire}/{case}/input.json")))
        }
    };
    let server = Server::new([play]);
    let model = kit::model(provider, &server.url).with_wire(wire).unwrap().with_streaming(streaming);
    kit::asked(&model).unwrap();
    let seen = server.seen().remove(0);
    let shown = ["authorization", "x-api-key", "anthropic-version", "x-goog-api-key", "api-key", "accept"];
    let headers = seen.headers.iter().filter(|(name, _)| shown.contains(&name.as_str())).cloned().collect();
    let Json::Object(mut body) = seen.json() else { panic!("the body is no object") };
    ["messages", "input", "contents", "tools", "max_tokens"].iter().for_each(|key| drop(body.remove(key)));
    (seen.line, headers, Json::Object(body).to_text())
}

#[test]
fn every_vendor_is_asked_where_and_how_it_wants() {
    let headers = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    };
    let bearer = ("authorization", "Bearer sk-planted-key");
    let events = ("accept", "text/event-stream");
    let json = ("accept", "application/json");
    let rows = [
        (
            "groq",
            "openai.chat",
            Streaming::On,
            "POST /v1/chat/completions HTTP/1.1",
            headers(&[events, bearer]),
            r#"{"model":"m-1","stream":true,"stream_options":{"include_usage":true}}"#,
        ),
        (
            "mistral",
            "openai.chat",
            Streaming::On,
            "POST /v1/chat/completions HTTP/1.1",
            headers(&[events, bearer]),
            r#"{"model":"m-1","stream":true}"#,
        ),
        (
            "groq",
            "openai.chat",
            Streaming::Off,
            "POST /v1/chat/completions HTTP/1.1",
            headers(&[json, bearer]),
            r#"{"model":"m-1"}"#,
        ),
        (
            "azure",
            "openai.chat",
            Streaming::On,
            "POST /openai/v1/chat/completions HTTP/1.1",
            headers(&[events, ("api-key", "sk-planted-key")]),
            r#"{"model":"m-1","stream":true,"stream_options":{"include_usage":true}}"#,
        ),
        (
            "openai",
            "openai.responses",
            Streaming::On,
            "POST /v1/responses HTTP/1.1",
            headers(&[events, bearer]),
            r#"{"model":"m-1","stream":true}"#,
        ),
        (
            "anthropic",
            "anthropic.messages",
            Streaming::On,
            "POST /v1/messages HTTP/1.1",
            headers(&[events, ("anthropic-version", "2023-06-01"), ("x-api-key", "sk-planted-key")]),
            r#"{"model":"m-1","stream":true}"#,
        ),
        (
            "google",
            "gemini.contents",
            Streaming::On,
            "POST /v1beta/models/m-1:streamGenerateContent?alt=sse HTTP/1.1",
            headers(&[events, ("x-goog-api-key", "sk-planted-key")]),
            "{}",
        ),
        (
            "google",
            "gemini.contents",
            Streaming::Off,
            "POST /v1beta/models/m-1:generateContent HTTP/1.1",
            headers(&[json, ("x-goog-api-key", "sk-planted-key")]),
            "{}",
        ),
        (
            "ollama",
            "ollama.chat",
            Streaming::On,
            "POST /api/chat HTTP/1.1",
            headers(&[("accept", "application/x-ndjson"), bearer]),
            r#"{"model":"m-1","stream":true}"#,
        ),
        (
            "ollama",
            "ollama.chat",
            Streaming::Off,
            "POST /api/chat HTTP/1.1",
            headers(&[json, bearer]),
            r#"{"model":"m-1","stream":false}"#,
        ),
        (
            "bedrock",
            "bedrock.converse",
            Streaming::On,
            "POST /model/m-1/converse-stream HTTP/1.1",
            headers(&[("accept", "application/vnd.amazon.eventstream"), bearer]),
            "{}",
        ),
        (
            "bedrock",
            "bedrock.converse",
            Streaming::Off,
            "POST /model/m-1/converse HTTP/1.1",
            headers(&[json, bearer]),
            "{}",
        ),
    ];
    for (provider, wire, streaming, line, headers, settings) in rows {
        let (seen_line, mut seen_headers, seen_settings) = sent(provider, wire, streaming);
        seen_headers.sort();

        assert_eq!((seen_line.as_str(), seen_headers, seen_settings.as_str()), (line, headers, settings), "{provider}");
    }
}

#[test]
fn keys_of_aws_sign_the_request() {
    let server = Server::new([Play::new(200, kit::content_type("bedrock.converse"), kit::stream("bedrock.converse"))]);
    let keys = AwsKeys {
        access_key: "AKIDEXAMPLE".into(),
        secret_key: Secret::new("sk-planted-key"),
        session_token: Some(Secret::new("lent")),
        region: "eu-west-1".into(),
    };
    let clock = std::sync::Arc::new(kit::Impatient::default());
    let model = kit::model("bedrock", &server.url).with_credentials(Credentials::Aws(keys)).with_clock(clock);

    kit::asked(&model).unwrap();

    let seen = server.seen().remove(0);
    let shown = seen.header("authorization").unwrap();
    let begin = "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20260101/eu-west-1/bedrock/aws4_request, \
                 SignedHeaders=accept;content-type;host;x-amz-date;x-amz-security-token, Signature=";
    assert!(shown.starts_with(begin), "{shown}");
    assert_eq!(
        (seen.header("x-amz-date"), seen.header("x-amz-security-token")),
        (Some("20260101T000000Z"), Some("lent"))
    );
}

#[test]
fn settings_of_a_session_are_in_the_request_of_every_wire() {
    for (wire, provider) in WIRES {
        let server = Server::new([Play::new(200, kit::content_type(wire), kit::stream(wire))]);
        // A model that is known to take a temperature; of others it is not known, and none is sent.
        let name = match *wire {
            "anthropic.messages" => "claude-sonnet-4-5",
            "bedrock.converse" => "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
            "gemini.contents" => "gemini-2.5-flash",
            "ollama.chat" => "llama3.2",
            _ => "gpt-4o",
        };
        let model = kit::named(provider, name, &server.url).with_wire(wire).unwrap();
        let session = Session { options: kit::options(), ..kit::question() };

        kit::ask(&model, &session, &NoDeltas).unwrap();

        let text = server.seen().remove(0).json().to_text();
        assert!(text.contains("0.5") && text.contains("2048"), "{wire}: {text}");
    }
}

/// The message with the image, as each wire says it.
fn pictured(wire: &str) -> String {
    let dot = kit::DOT;
    let text = r#""text":"What is in the picture?""#;
    match wire {
        "openai.chat" => format!(
            r#"{{"role":"user","content":[{{"type":"text",{text}}},{{"type":"image_url","image_url":{{"url":"data:image/png;base64,{dot}"}}}}]}}"#
        ),
        "openai.responses" => format!(
            r#"{{"role":"user","content":[{{"type":"input_text",{text}}},{{"type":"input_image","image_url":"data:image/png;base64,{dot}","detail":"auto"}}]}}"#
        ),
        "anthropic.messages" => format!(
            r#"{{"role":"user","content":[{{"type":"text",{text}}},{{"type":"image","source":{{"type":"base64","media_type":"image/png","data":"{dot}"}}}}]}}"#
        ),
        "gemini.contents" => format!(
            r#"{{"role":"user","parts":[{{{text}}},{{"inlineData":{{"mimeType":"image/png","data":"{dot}"}}}}]}}"#
        ),
        "ollama.chat" => format!(r#"{{"role":"user","content":"What is in the picture?","images":["{dot}"]}}"#),
        _ => format!(
            r#"{{"role":"user","content":[{{{text}}},{{"image":{{"format":"png","source":{{"bytes":"{dot}"}}}}}}]}}"#
        ),
    }
}

#[test]
fn an_image_of_a_session_is_in_the_request_of_every_wire() {
    for (wire, provider) in WIRES {
        let server = Server::new([Play::new(200, kit::content_type(wire), kit::stream(wire))]);
        let model = kit::model(provider, &server.url).with_wire(wire).unwrap();

        kit::ask(&model, &kit::picture(), &NoDeltas).unwrap();

        let body = server.seen().remove(0).json();
        let messages = ["messages", "input", "contents"].iter().find_map(|key| body.as_object().unwrap().get(key));
        assert_eq!(messages.unwrap().to_text(), format!("[{}]", pictured(wire)), "{wire}");
    }
}

#[test]
fn signed_thinking_goes_back_to_the_endpoint_that_made_it() {
    // The model that answers has another name than the one that is asked.
    let thinking = r#"{"id":"msg_1","type":"message","role":"assistant","model":"m-1-20260101","content":[{"type":"thinking","thinking":"hm","signature":"c2ln"},{"type":"text","text":"Sunny."}],"stop_reason":"end_turn","usage":{"input_tokens":3,"output_tokens":4}}"#;
    let server = Server::new([Play::json(200, thinking)]);
    let model = kit::model("anthropic", &server.url).with_streaming(Streaming::Off);
    let mut session = kit::question();
    let answer = kit::ask(&model, &session, &NoDeltas).unwrap();
    let blocks = answer.blocks.into_iter().map(|block| block.in_message(1));
    session.turns[0].blocks.extend(blocks);
    session.turns[0].provider = Some("anthropic".into());
    let more = turnkeep_model::Block::text(turnkeep_model::Author::User, "And tomorrow?").in_message(2);
    session.turns.push(turnkeep_model::Turn { blocks: vec![more], ..Default::default() });

    kit::ask(&model, &session, &NoDeltas).unwrap();

    let text = server.seen()[1].json().to_text();
    assert!(text.contains(r#""signature":"c2ln""#), "{text}");
}

#[test]
fn what_a_vendor_has_forgotten_is_sent_in_full() {
    let refused = r#"{"error":{"message":"Previous response with id 'resp_9' not found.","type":"invalid_request_error","param":"previous_response_id","code":"previous_response_not_found"}}"#;
    let server = Server::new([
        Play::json(400, refused),
        Play::new(200, kit::content_type("openai.responses"), kit::stream("openai.responses")),
    ]);
    let model = kit::model("openai", &server.url);
    let request = br#"{"model":"gpt-5","previous_response_id":"resp_9","input":[{"role":"user","content":"What is the weather?"}]}"#;
    let codec = turnkeep_codec::format::by_id("openai.responses").unwrap();
    let decoded = codec.decode(turnkeep_codec::Input::new(request), &Default::default()).unwrap();
    let session = decoded.archive.main_session().unwrap().clone();

    kit::ask(&model, &session, &NoDeltas).unwrap();

    let held: Vec<bool> =
        server.seen().iter().map(|seen| seen.json().as_object().unwrap().contains("previous_response_id")).collect();
    assert_eq!(held, [true, false]);
}

#[test]
fn every_provider_speaks_a_wire_and_a_dialect_that_exist() {
    for provider in turnkeep_provider::PROVIDERS {
        let model = turnkeep_provider::WireModel::new(
            Provider::by_name(provider.name).unwrap(),
            "m",
            std::sync::Arc::new(kit::http()),
        );

        assert!(model.is_ok(), "{}", provider.name);
        let chat = turnkeep_codec::format::by_id("openai.chat").unwrap().spec().variants;
        assert!(provider.dialect.is_none_or(|dialect| chat.contains(&dialect)), "{}", provider.name);
    }
}
