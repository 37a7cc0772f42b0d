//! Files are recognised by what only their format has, and refused by name.

use std::path::{Path, PathBuf};

use turnkeep_codec::{Codec, DecodeOptions, EncodeOptions, Input, format, read, sniff};
use turnkeep_model::json::Json;
use turnkeep_model::{Archive, Author, Block, Body, ErrorKind, LossKind, Session, Severity, Turn};
use turnkeep_testkit::golden::Case;

use crate::recorded::recorded;

fn readable() -> impl Iterator<Item = &'static dyn Codec> {
    format::ALL.iter().copied().filter(|codec| codec.spec().reads)
}

fn sniffed(text: &str) -> Result<(&'static str, Vec<&'static str>), String> {
    let found = sniff(&Input::new(text.as_bytes())).map_err(|error| error.what().to_owned())?;
    Ok((found.codec.spec().id, found.others))
}

/// What reading a text as a format that is named gives: how many blocks, or why it is refused.
fn read_as(text: &str, id: &str) -> Result<usize, String> {
    let codec = format::by_id(id).unwrap();
    match read(Input::new(text.as_bytes()), Some(codec), &DecodeOptions::default()) {
        Ok(read) => Ok(blocks(&read.archive)),
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::NotThisFormat, "{error:?}");
            Err(error.what().to_owned())
        }
    }
}

fn blocks(archive: &Archive) -> usize {
    archive.sessions.iter().map(|session| session.blocks().count()).sum()
}

#[test]
fn a_compact_request_with_a_final_newline_is_that_request() {
    let request = r#"{"model":"claude-sonnet-4-5","max_tokens":9,"system":"Be brief.","messages":[{"role":"user","content":"hi"}]}"#;
    for text in [request.to_owned(), format!("{request}\n"), format!("\u{feff}{request}\r\n")] {
        assert_eq!(sniffed(&text), Ok(("anthropic.messages", Vec::new())));
    }
}

#[test]
fn an_object_on_a_line_is_no_slice_unless_something_says_so() {
    let line = "{\"key\":\"a\",\"text\":\"b\"}\n";
    assert!(sniffed(line).unwrap_err().starts_with("no known format looks like this: an object with `key`, `text`"));

    let named = Input::new(line.as_bytes()).named("demo_app.state.Note.jsonl");
    assert_eq!(sniff(&named).unwrap().codec.spec().id, "wink.slice");
    assert_eq!(sniffed("{\"__type__\":\"m:Note\",\"text\":\"b\"}\n"), Ok(("wink.slice", Vec::new())));
    assert_eq!(
        read(Input::new(line.as_bytes()), format::by_id("wink.slice").ok(), &DecodeOptions::default())
            .unwrap()
            .archive
            .sessions[0]
            .slices[0]
            .items
            .len(),
        1
    );
}

/// A question and its answer, of this model.
fn plain(model: &str) -> Archive {
    let blocks = [
        Block::text(Author::User, "Say hi.").in_message(0),
        Block::text(Author::Assistant, "Hi!").in_message(1),
        Block::text(Author::User, "And again?").in_message(2),
    ];
    let mut session = Session::default();
    session.turns.push(Turn { model: Some(model.to_owned()), blocks: blocks[..2].to_vec(), ..Turn::default() });
    session.turns.push(Turn { blocks: blocks[2..].to_vec(), ..Turn::default() });
    Archive::from(session)
}

#[test]
fn what_we_write_for_a_vendors_model_is_recognised_as_that_vendors() {
    for (wire, model) in [
        ("openai.chat", "gpt-4o"),
        ("openai.responses", "gpt-5"),
        ("anthropic.messages", "claude-sonnet-4-5"),
        ("gemini.contents", "gemini-2.5-pro"),
        ("ollama.chat", "llama3.2:1b"),
        ("bedrock.converse", "us.anthropic.claude-sonnet-4-5-20250929-v1:0"),
    ] {
        let mut options = EncodeOptions::default();
        options.model = Some(model.to_owned());
        let bytes = format::by_id(wire).unwrap().encode(&plain(model), &options).unwrap().bytes;
        assert_eq!(sniffed(&String::from_utf8(bytes).unwrap()).unwrap().0, wire);
    }
}

#[test]
fn where_two_wires_fit_both_are_named() {
    let request = r#"{"model":"my-own","max_tokens":9,"messages":[{"role":"user","content":"hi"}]}"#;
    assert_eq!(sniffed(request), Ok(("openai.chat", vec!["anthropic.messages"])));
    let claude = request.replace("my-own", "claude-sonnet-4-5");
    assert_eq!(sniffed(&claude), Ok(("anthropic.messages", vec!["openai.chat"])));
}

#[test]
fn an_unknown_file_is_told_with_what_comes_near_and_what_cannot_be_read() {
    let error = sniff(&Input::new(br#"{"agent_id":"a","notes":[]}"#)).err().unwrap();

    assert_eq!(error.kind(), ErrorKind::NotThisFormat);
    assert_eq!(error.what(), "no known format looks like this: an object with `agent_id`, `notes`");
    let help = error.remedy().unwrap();
    assert!(help.starts_with("nearest: cognesy.slim (`messages` missing), "), "{help}");
    assert!(help.contains("a Claude Code session") && help.contains("an aider chat history"), "{help}");
}

#[test]
fn what_is_no_body_of_the_format_named_is_refused_with_the_keys_expected() {
    for codec in readable() {
        let id = codec.spec().id;
        let verdict = read_as("{\"foo\":1}", id);
        match id {
            // A slice may hold any objects.
            "wink.slice" => assert_eq!(verdict, Ok(0)),
            _ => assert!(verdict.is_err(), "{id}: {verdict:?}"),
        }
    }
    assert_eq!(
        read_as("{\"foo\":1}", "openai.chat").unwrap_err(),
        "this is no openai.chat: expected that a request has `messages`, a response has `choices`; found an object with `foo`"
    );
    assert!(read_as(r#"{"messages":{"0":{"role":"user","content":"hi"}}}"#, "openai.chat").is_err());
}

#[test]
fn a_bare_list_of_messages_is_read_as_the_wire_that_is_named() {
    for (id, list) in [
        ("openai.chat", r#"[{"role":"user","content":"hi"}]"#),
        ("openai.responses", r#"[{"role":"user","content":"hi"}]"#),
        (
            "anthropic.messages",
            r#"[{"role":"user","content":[{"type":"image","source":{"type":"url","url":"http://a/b.png"}}]}]"#,
        ),
        ("gemini.contents", r#"[{"role":"user","parts":[{"text":"hi"}]}]"#),
        ("ollama.chat", r#"[{"role":"user","content":"hi"}]"#),
        ("bedrock.converse", r#"[{"role":"user","content":[{"text":"hi"}]}]"#),
    ] {
        let read = read(Input::new(list.as_bytes()), format::by_id(id).ok(), &DecodeOptions::default()).unwrap();
        assert_eq!(blocks(&read.archive), 1, "{id}");
        let told: Vec<_> = read.losses.iter().map(|loss| (loss.kind, loss.severity())).collect();
        assert_eq!(told, [(LossKind::Wrapped, Severity::Spelling)], "{id}");
    }
    assert!(read_as(r#"[{"foo":1}]"#, "openai.chat").is_err());
}

#[test]
fn text_that_nothing_was_read_of_is_refused() {
    let text = r#"{"model":"gpt-4o","messages":[],"history":[{"question":"What?","content":"lost"}]}"#;
    let refused = read_as(text, "openai.chat").unwrap_err();
    assert!(refused.starts_with("nothing in it could be read as openai.chat, although it holds text"), "{refused}");
    assert_eq!(read_as(r#"{"model":"gpt-4o","messages":[]}"#, "openai.chat"), Ok(0));
}

/// The texts of an archive's blocks.
fn said(archive: &Archive) -> Vec<String> {
    let blocks = archive.sessions.iter().flat_map(turnkeep_model::Session::blocks);
    let text = |(_, block): (usize, &Block)| match &block.body {
        Body::Text(text) if !text.text.trim().is_empty() => Some(text.text.clone()),
        _ => None,
    };
    blocks.filter_map(text).collect()
}

#[test]
fn every_fixture_under_every_other_name_is_refused_or_read_whole() {
    let (mut refused, mut taken, mut wrong) = (0, 0, Vec::new());
    for own in readable() {
        for case in Case::all(own.spec().id).iter().filter(|case| !case.fails()) {
            let Ok(decoded) = own.decode(Input::new(&case.input), &DecodeOptions::default()) else { continue };
            let said = said(&decoded.archive);
            for other in readable().filter(|other| other.spec().id != own.spec().id) {
                let Ok(read) = read(Input::new(&case.input), Some(other), &DecodeOptions::default()) else {
                    refused += 1;
                    continue;
                };
                taken += 1;
                let whole = read.archive.to_json(turnkeep_model::json::Layout::Compact);
                let lost =
                    said.iter().filter(|text| !whole.contains(Json::from(text.as_str()).to_text().trim_matches('"')));
                if lost.count() > 0 && !read.losses.iter().any(|loss| loss.severity() == Severity::Content) {
                    wrong.push(format!("{} {} as {}", own.spec().id, case.name, other.spec().id));
                }
            }
        }
    }
    println!("{refused} refused, {taken} taken");
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn recorded_bodies_are_recognised_as_their_own_wire() {
    let wires = [
        ("openai-chat", "openai.chat"),
        ("openai-responses", "openai.responses"),
        ("anthropic", "anthropic.messages"),
        ("gemini", "gemini.contents"),
        ("ollama", "ollama.chat"),
        ("bedrock-converse", "bedrock.converse"),
    ];
    for (dialect, wire) in wires {
        let records = recorded(dialect, "recorded_bodies_are_recognised_as_their_own_wire");
        let (mut unknown, mut wrong) = (Vec::new(), Vec::new());
        for record in &records {
            let bytes = record.bytes();
            match sniff(&Input::new(&[&bytes, b"\n".as_slice()].concat())) {
                Ok(found) if found.codec.spec().id == wire => {}
                Ok(found) if found.others.contains(&wire) => unknown.push(record.id.clone()),
                Ok(found) => wrong.push(format!("{} as {}", record.id, found.codec.spec().id)),
                Err(error) if error.kind() == ErrorKind::Unsupported => {
                    wrong.push(format!("{} {}", record.id, error.what()));
                }
                Err(error) => unknown.push(format!("{} {}", record.id, error.what())),
            }
        }
        println!(
            "{wire}: {} bodies, {} only among others: {:?}",
            records.len(),
            unknown.len(),
            unknown.iter().take(12).collect::<Vec<_>>()
        );
        assert!(wrong.is_empty(), "{wire}: {} {:#?}", wrong.len(), wrong.iter().take(20).collect::<Vec<_>>());
    }
}

#[test]
fn bodies_of_cohere_are_refused_by_name() {
    let records = recorded("cohere-v2", "bodies_of_cohere_are_refused_by_name");
    let verdict = |bytes: &[u8]| match sniff(&Input::new(bytes)) {
        Ok(found) => format!("read as {}", found.codec.spec().id),
        Err(error) => error.what().to_owned(),
    };
    let told = records.iter().map(|record| (&record.id, verdict(&record.bytes())));
    let wrong: Vec<_> = told.filter(|(_, told)| !told.contains("of Cohere") && told.starts_with("read as")).collect();
    assert!(wrong.is_empty(), "{} of {}: {wrong:#?}", wrong.len(), records.len());
}

/// A body of each interface that is none of our wires, in shapes that look like one of them or like each other.
const OTHER_APIS: &[(&str, &[&str])] = &[
    (
        "a request or an answer of Cohere",
        &[
            r#"{"model":"command-a-03-2025","messages":[{"role":"user","content":"hi"}],"stream":true}"#,
            r#"{"stream":false,"messages":[{"content":[{"type":"text","text":"hi"}],"role":"user"}],"model":"command-r-plus-08-2024"}"#,
            r#"{"model":"c4ai-aya-expanse-32b","messages":[{"role":"user","content":"hi"}]}"#,
            r#"{"model":"my-tuned-ft","messages":[{"role":"user","content":"hi"}],"tools":[],"strict_tools":true}"#,
            r#"{"model":"my-tuned-ft","messages":[{"role":"user","content":"hi"}],"p":0.9,"k":5}"#,
            r#"{"messages":[{"role":"user","content":"hi"},{"role":"assistant","tool_plan":"I will look.","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"a","content":[{"type":"document","document":{"data":"{}"}}]}],"model":"x"}"#,
            r#"{"model":"x","messages":[{"role":"user","content":"hi"}],"tools":[{"type":"function","function":{"name":"f"}}],"tool_choice":"REQUIRED"}"#,
            r#"{"message":"hi","chat_history":[{"role":"USER","message":"a"}],"model":"command-r"}"#,
            r#"{"message":"hi","model":"command-r-plus","preamble":"Be brief."}"#,
            r#"{"text":"Hello","generation_id":"g","chat_history":[],"finish_reason":"COMPLETE"}"#,
            r#"{"id":"a","finish_reason":"COMPLETE","message":{"role":"assistant","content":[{"type":"text","text":"Hi"}]},"usage":{"billed_units":{}}}"#,
            "data: {\"type\":\"message-start\",\"id\":\"a\",\"delta\":{\"message\":{\"role\":\"assistant\"}}}\n\n",
            "{\"is_finished\":false,\"event_type\":\"stream-start\",\"generation_id\":\"g\"}\n{\"event_type\":\"text-generation\",\"text\":\"Hi\"}\n",
            r#"{"request":{"model":"command-a-03-2025","messages":[{"role":"user","content":"hi"}]},"response":{"id":"a","finish_reason":"COMPLETE","message":{"role":"assistant","content":[]},"usage":{"billed_units":{}}}}"#,
        ],
    ),
    (
        "a request or an answer of DashScope's own interface",
        &[
            r#"{"model":"qwen-plus","input":{"messages":[{"role":"user","content":"hi"}]},"parameters":{"result_format":"message"}}"#,
            r#"{"output":{"choices":[{"finish_reason":"stop","message":{"role":"assistant","content":"Hi"}}]},"usage":{},"request_id":"r"}"#,
            r#"{"output":{"text":"Hi","finish_reason":"stop"},"request_id":"r"}"#,
        ],
    ),
    (
        "a request or a prediction of Replicate",
        &[
            r#"{"version":"abc","input":{"prompt":"hi","max_tokens":9}}"#,
            r#"{"id":"p","version":"abc","status":"succeeded","input":{"prompt":"hi"},"output":["H","i"],"urls":{"get":"https://a"}}"#,
        ],
    ),
    (
        "a request or an answer of text generation at Hugging Face",
        &[r#"{"inputs":"hi","parameters":{"max_new_tokens":9}}"#, r#"[{"generated_text":"hi there"}]"#],
    ),
    (
        "a prediction request or answer of Vertex AI or SageMaker",
        &[
            r#"{"instances":[{"messages":[{"author":"user","content":"hi"}]}],"parameters":{"temperature":0.2}}"#,
            r#"{"predictions":[{"candidates":[{"author":"bot","content":"Hi"}]}]}"#,
        ],
    ),
    (
        "a request or an answer of watsonx",
        &[
            r#"{"model_id":"ibm/granite-3-8b-instruct","project_id":"p","messages":[{"role":"user","content":"hi"}]}"#,
            r#"{"model_id":"ibm/granite","input":"hi","parameters":{},"space_id":"s"}"#,
            r#"{"model_id":"ibm/granite","created_at":"t","results":[{"generated_text":"Hi","stop_reason":"eos_token"}]}"#,
        ],
    ),
    (
        "a request or an answer of Jurassic",
        &[r#"{"numResults":1,"messages":[{"text":"hi","role":"user"}],"system":"Be brief."}"#],
    ),
    (
        "a text completion",
        &[
            r#"{"model":"gpt-3.5-turbo-instruct","prompt":"hi","max_tokens":9}"#,
            r#"{"id":"c","object":"text_completion","model":"m","choices":[{"text":"Hi","index":0}]}"#,
            r#"{"choices":[{"index":0,"text":"Hi","finish_reason":"stop"}]}"#,
            r#"{"model":"llama3.2","prompt":"hi","stream":false}"#,
            r#"{"model":"llama3.2","created_at":"t","response":"Hi","done":true}"#,
            r#"{"type":"completion","completion":" Hi","stop_reason":"stop_sequence","model":"claude-2.1"}"#,
        ],
    ),
    ("a body of a model's own interface on Bedrock", &[r#"{"inputText":"hi","textGenerationConfig":{"topP":1}}"#]),
    (
        "an interaction of Gemini",
        &[
            r#"{"model":"gemini-3-flash-preview","input":"hi"}"#,
            r#"{"id":"i","object":"interaction","outputs":[{"type":"text","text":"Hi"}],"status":"completed"}"#,
        ],
    ),
    (
        "an OpenAI Assistants thread",
        &[
            r#"{"object":"list","data":[{"id":"m","object":"thread.message","role":"user","content":[{"type":"text","text":{"value":"hi"}}]}]}"#,
        ],
    ),
    (
        "a batch of requests or answers",
        &[
            "{\"custom_id\":\"a\",\"method\":\"POST\",\"url\":\"/v1/chat/completions\",\"body\":{\"model\":\"gpt-4o\",\"messages\":[]}}\n",
            r#"{"requests":[{"custom_id":"a","params":{"model":"claude-sonnet-4-5","max_tokens":9,"messages":[]}}]}"#,
        ],
    ),
    ("a request or an answer of Hunyuan", &[r#"{"Model":"hunyuan-pro","Messages":[{"Role":"user","Content":"hi"}]}"#]),
    (
        "a request or an answer of ERNIE",
        &[r#"{"messages":[{"role":"user","content":"hi"}],"system":"Be brief.","penalty_score":1}"#],
    ),
];

#[test]
fn bodies_of_other_interfaces_are_refused_by_name() {
    for (name, bodies) in OTHER_APIS {
        for body in *bodies {
            assert_eq!(sniffed(body), Err(format!("it is {name}; this version cannot read it yet")), "{body}");
        }
    }
}

#[test]
fn bodies_of_openai_s_chat_by_other_vendors_stay_what_they_are() {
    for body in [
        // Perplexity, Together, AI21, vLLM, OpenRouter and Cohere's compatible interface.
        r#"{"model":"sonar","messages":[{"role":"user","content":"hi"}],"search_context_size":"low","return_images":true}"#,
        r#"{"model":"meta-llama/Llama-3-8b","messages":[{"role":"user","content":"hi"}],"repetition_penalty":1,"min_p":0.1,"safety_model":"x"}"#,
        r#"{"model":"jamba-large","messages":[{"role":"user","content":"hi"}],"n":1,"documents":[]}"#,
        r#"{"model":"meta-llama/Llama-3-8b","messages":[{"role":"user","content":"hi"}],"documents":[{"title":"a","text":"b"}]}"#,
        r#"{"model":"cohere/command-a-03-2025","messages":[{"role":"user","content":"hi"}],"provider":{"order":["Cohere"]}}"#,
        r#"{"model":"command-a-03-2025","messages":[{"role":"user","content":"hi"}],"max_completion_tokens":9}"#,
        r#"{"id":"c","object":"chat.completion","model":"sonar","choices":[{"index":0,"message":{"role":"assistant","content":"Hi"}}],"citations":["a"],"search_results":[]}"#,
    ] {
        assert_eq!(sniffed(body).map(|(id, _)| id), Ok("openai.chat"), "{body}");
    }
    let ollama = r#"{"model":"command-r:35b","messages":[{"role":"user","content":"hi"}],"options":{"num_ctx":9}}"#;
    assert_eq!(sniffed(ollama).map(|(id, _)| id), Ok("ollama.chat"));
    let responses = r#"{"model":"gpt-5","input":"hi","prompt":{"id":"p","variables":{}}}"#;
    assert_eq!(sniffed(responses).map(|(id, _)| id), Ok("openai.responses"));
}

/// Every file of a folder and of those in it.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        match entry.path() {
            path if path.is_dir() => found.extend(files(&path)),
            path => found.push(path),
        }
    }
    found.sort();
    found
}

#[test]
fn sessions_of_other_systems_are_refused_by_name() {
    let Some(corpus) = std::env::var_os("TURNKEEP_CORPUS").map(PathBuf::from) else {
        println!("skipped: sessions_of_other_systems_are_refused_by_name: TURNKEEP_CORPUS names no folder");
        return;
    };
    let named = [
        ("claude-code", "a Claude Code session"),
        ("codex", "a Codex rollout"),
        ("opencode-export", "an OpenCode export"),
        ("gemini-cli", "a Gemini CLI session"),
        ("chatgpt-export", "a ChatGPT export"),
        ("langchain", "LangChain messages"),
        ("vercel-uimessage", "Vercel UI messages"),
        ("pydantic-ai", "pydantic-ai messages"),
        ("aider", "an aider chat history"),
        ("qwen", "a Qwen Code session"),
        ("copilot-cli", "a Copilot CLI session"),
        ("pi", "a Pi or OpenClaw session"),
    ];
    let (mut taken, mut unnamed) = (Vec::new(), Vec::new());
    for folder in std::fs::read_dir(corpus.join("sessions")).unwrap().flatten().filter(|entry| entry.path().is_dir()) {
        let system = folder.file_name().to_string_lossy().into_owned();
        if system == "LICENSES" {
            continue;
        }
        for file in files(&folder.path()) {
            let bytes = std::fs::read(&file).unwrap();
            let name = file.file_name().unwrap().to_string_lossy().into_owned();
            let told = match sniff(&Input::new(&bytes).named(&name)) {
                Ok(found) => {
                    taken.push(format!("{system}/{name} as {}", found.codec.spec().id));
                    continue;
                }
                Err(error) => error.what().to_owned(),
            };
            let expected = named.iter().find(|(known, _)| *known == system);
            if expected.is_some_and(|(_, what)| !told.contains(what)) {
                unnamed.push(format!("{system}/{name}: {told}"));
            }
        }
    }
    assert!(taken.is_empty(), "{taken:#?}");
    println!("{} are not named: {unnamed:#?}", unnamed.len());
    assert!(unnamed.len() <= 12, "{unnamed:#?}");
}
