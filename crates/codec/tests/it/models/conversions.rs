//! Conversions: nothing that the model refuses is sent, and what is not sent is told.

use std::collections::BTreeMap;

use turnkeep_codec::lint::{Severity, Strictness, lint};
use turnkeep_codec::wire::repair::repair;
use turnkeep_codec::{DecodeOptions, EncodeOptions, Input, Target, format};
use turnkeep_model::{Archive, Author, Block, Effort, Json, Number, Options, Session, ToolSpec, Turn};

use super::refusals::refused;
use super::{asked, at, parsed};
use crate::pairs::sources::{Source, fixtures, recorded_where};
use crate::recorded::wire;

/// Every wire with models to ask; the default one is `None`.
const MODELS: &[(&str, &[Option<&str>])] = &[
    ("openai.chat", &[None, Some("gpt-4o"), Some("o3"), Some("gpt-5.1"), Some("my-deployment")]),
    ("openai.responses", &[None, Some("gpt-4.1"), Some("o4-mini"), Some("gpt-5.1"), Some("my-deployment")]),
    (
        "anthropic.messages",
        &[None, Some("claude-3-5-haiku-latest"), Some("claude-opus-4-6"), Some("claude-opus-4-8"), Some("my-model")],
    ),
    (
        "gemini.contents",
        &[None, Some("gemini-2.5-flash"), Some("gemini-2.5-pro"), Some("gemini-2.0-flash"), Some("my-model")],
    ),
    ("ollama.chat", &[None, Some("qwen3:4b"), Some("gpt-oss:20b"), Some("hf.co/acme/Qwen3-GGUF"), Some("my-model")]),
    (
        "bedrock.converse",
        &[
            None,
            Some("us.anthropic.claude-opus-4-7-v1:0"),
            Some("us.amazon.nova-lite-v1:0"),
            Some("arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc"),
        ],
    ),
];

/// Converts a session to every wire and model, and counts what would be refused.
fn judge(source: &Source, made: &mut usize, wrong: &mut BTreeMap<String, Vec<String>>) {
    for (target, models) in MODELS {
        for model in *models {
            let (body, _) = asked(&source.decoded.archive, target, *model);
            // A request without a word is told elsewhere.
            let said = ["messages", "contents", "input"].iter().find_map(|key| at(&body, key)?.as_array());
            if said.is_some_and(<[_]>::is_empty) {
                continue;
            }
            *made += 1;
            for why in refused(target, &body) {
                let case = format!("{target} {}: {why}", model.unwrap_or("default"));
                wrong.entry(case).or_default().push(source.name.clone());
            }
        }
    }
}

fn tell(what: &str, made: usize, wrong: &BTreeMap<String, Vec<String>>) {
    println!("{what}: {made} requests, {} kinds of refusals", wrong.len());
    let shown: Vec<_> = wrong.iter().map(|(case, names)| (case, names.len(), names.iter().take(3))).collect();
    assert!(wrong.is_empty(), "{shown:#?}");
}

#[test]
fn no_fixture_becomes_a_request_that_its_model_refuses() {
    let (mut made, mut wrong) = (0, BTreeMap::new());
    for source in fixtures() {
        judge(&source, &mut made, &mut wrong);
    }
    tell("fixtures", made, &wrong);
}

#[test]
fn no_recorded_request_becomes_one_that_its_model_refuses() {
    let test = "no_recorded_request_becomes_one_that_its_model_refuses";
    let Some(recorded) = recorded_where(test, |_| true) else { return };
    let (mut made, mut wrong) = (0, BTreeMap::new());
    for source in recorded {
        judge(&source, &mut made, &mut wrong);
    }
    tell("recorded requests", made, &wrong);
}

/// A session of one question with these settings.
fn session(options: Options) -> Session {
    let turn = Turn { blocks: vec![Block::text(Author::User, "Why?")], ..Turn::default() };
    Session { options, turns: vec![turn], ..Session::default() }
}

fn options(text: &str) -> Options {
    let body = parsed(text);
    let number = |key: &str| at(&body, key).and_then(Json::as_number).cloned();
    let words = at(&body, "stop").and_then(Json::as_array).unwrap_or_default();
    Options {
        temperature: number("temperature"),
        top_p: number("top_p"),
        max_tokens: number("max_tokens"),
        presence_penalty: number("presence_penalty"),
        budget_tokens: number("budget_tokens"),
        reasoning: at(&body, "reasoning").and_then(Json::as_str).map(|word| Effort::from_word(&word)),
        stop: words.iter().filter_map(|word| Some(word.as_str()?.into_owned())).collect(),
        ..Options::default()
    }
}

/// What of the settings is sent, and the places and reasons of losses among the settings.
fn sent(settings: &str, target: &str, model: &str) -> (Json, Vec<(String, String)>) {
    let archive = Archive::from(session(options(settings)));
    let (mut body, encoded) = asked(&archive, target, Some(model));
    if let Json::Object(body) = &mut body {
        for key in ["messages", "input", "contents", "model", "modelId"] {
            body.remove(key);
        }
    }
    let losses = encoded.losses.into_iter().filter(|loss| loss.at.starts_with("options"));
    (body, losses.map(|loss| (loss.at, loss.what)).collect())
}

fn told(losses: &[(&str, &str)]) -> Vec<(String, String)> {
    losses.iter().map(|(at, what)| ((*at).to_owned(), (*what).to_owned())).collect()
}

#[test]
fn gpt_5_gets_no_temperature_and_the_report_says_so() {
    let settings = r#"{"temperature":0.7,"top_p":0.9,"presence_penalty":0.5,"stop":["END"],"reasoning":"high"}"#;
    let (body, losses) = sent(settings, "openai.chat", "gpt-5");

    assert_eq!(body, parsed(r#"{"reasoning_effort":"high"}"#));
    let while_thinking = "this model does not take it while it thinks";
    assert_eq!(
        losses,
        told(&[
            ("options.temperature", while_thinking),
            ("options.top_p", while_thinking),
            ("options.presence_penalty", "this model does not take it"),
            ("options.stop", "this model takes no `stop`"),
        ])
    );
}

#[test]
fn gpt_5_1_gets_a_temperature_unless_it_is_to_think() {
    let (body, losses) = sent(r#"{"temperature":0.7}"#, "openai.responses", "gpt-5.1");
    assert_eq!((body, losses), (parsed(r#"{"temperature":0.7}"#), Vec::new()));

    let (body, _) = sent(r#"{"temperature":0.7,"reasoning":"low"}"#, "openai.responses", "gpt-5.1");
    assert_eq!(body, parsed(r#"{"reasoning":{"effort":"low"}}"#));
}

#[test]
fn an_effort_becomes_a_budget_where_the_model_has_no_effort() {
    let (body, losses) = sent(r#"{"reasoning":"high"}"#, "anthropic.messages", "claude-sonnet-4-5");

    let expected = r#"{"max_tokens":36864,"thinking":{"type":"enabled","budget_tokens":32768}}"#;
    assert_eq!(body, parsed(expected));
    let why = "this model thinks with a budget of 1024 to 128000 tokens";
    assert!(losses.contains(&("options.reasoning".to_owned(), why.to_owned())), "{losses:#?}");
}

#[test]
fn a_budget_becomes_adaptive_thinking_where_the_model_has_no_budget() {
    let (body, _) = sent(r#"{"budget_tokens":8000,"max_tokens":9000}"#, "anthropic.messages", "claude-opus-4-8");

    let expected = r#"{"max_tokens":9000,"thinking":{"type":"adaptive"},"output_config":{"effort":"medium"}}"#;
    assert_eq!(body, parsed(expected));
}

#[test]
fn gemini_thinks_by_budget_before_3_and_by_level_since() {
    let thinking = |settings: &str, model: &str| {
        let (body, _) = sent(settings, "gemini.contents", model);
        at(&body, "generationConfig.thinkingConfig").cloned()
    };
    let both = r#"{"reasoning":"medium","budget_tokens":4000}"#;

    assert_eq!(thinking(both, "gemini-2.5-flash"), Some(parsed(r#"{"thinkingBudget":4000}"#)));
    assert_eq!(thinking(both, "gemini-3-flash-preview"), Some(parsed(r#"{"thinkingLevel":"MEDIUM"}"#)));
    assert_eq!(thinking(r#"{"reasoning":"low"}"#, "gemini-2.5-flash"), Some(parsed(r#"{"thinkingBudget":2048}"#)));
    assert_eq!(thinking(r#"{"reasoning":"none"}"#, "gemini-2.5-flash"), Some(parsed(r#"{"thinkingBudget":0}"#)));
    assert_eq!(
        thinking(r#"{"budget_tokens":900}"#, "gemini-3-pro-preview"),
        Some(parsed(r#"{"thinkingLevel":"LOW"}"#))
    );
    assert_eq!(thinking(both, "gemini-2.0-flash"), None);
}

#[test]
fn ollama_is_told_to_think_only_where_it_can() {
    let think = |model: &str, effort: &str| {
        let (body, _) = sent(&format!(r#"{{"reasoning":"{effort}"}}"#), "ollama.chat", model);
        at(&body, "think").cloned()
    };

    assert_eq!(think("llama3.2", "high"), None);
    assert_eq!(think("qwen3:4b", "high"), Some(Json::Bool(true)));
    assert_eq!(think("qwen3:4b", "none"), Some(Json::Bool(false)));
    assert_eq!(think("gpt-oss:20b", "xhigh"), Some(Json::from("high")));
}

/// The state that a specification of llm4s saves: a temperature, an effort and a budget above the limit.
#[test]
fn a_saved_state_with_a_budget_above_its_limit_goes_to_bedrock() {
    let settings = r#"{"temperature":0.7,"top_p":1.0,"max_tokens":2000,"reasoning":"high","budget_tokens":16000}"#;
    let (body, losses) = sent(settings, "bedrock.converse", "us.anthropic.claude-sonnet-4-5-20250929-v1:0");

    let expected = r#"{"inferenceConfig":{"maxTokens":2000,"topP":1.0},
        "additionalModelRequestFields":{"thinking":{"type":"enabled","budget_tokens":1999}}}"#;
    assert_eq!(body, parsed(expected));
    let places: Vec<&str> = losses.iter().map(|(at, _)| at.as_str()).collect();
    assert_eq!(places, ["options.temperature", "options.reasoning", "options.budget_tokens"], "{losses:#?}");
}

#[test]
fn a_model_without_a_row_gets_the_conservative_one_and_the_report_says_so() {
    let settings = r#"{"temperature":0.7,"reasoning":"high","budget_tokens":16000,"max_tokens":2000}"#;
    for (target, model) in [("openai.chat:azure", "my-deployment"), ("anthropic.messages", "my-model")] {
        let (body, losses) = sent(settings, target, model);
        let limit = if target.starts_with("openai") { "max_completion_tokens" } else { "max_tokens" };
        assert_eq!(body, parsed(&format!(r#"{{"{limit}":2000}}"#)), "{target}");
        let no_row = |(_, what): &(String, String)| what.contains("the table of models has no row");
        assert!(losses.len() == 3 && losses.iter().all(no_row), "{target}: {losses:#?}");
    }
}

#[test]
fn a_model_without_a_row_is_named_in_the_report_where_nothing_is_dropped() {
    let archive = Archive::from(session(Options::default()));
    for (target, _) in MODELS {
        let (_, encoded) = asked(&archive, target, Some("my-model"));
        let names = |loss: &turnkeep_model::Loss| loss.what.contains("`my-model`: the table of models has no row");
        assert!(encoded.losses.iter().any(names), "{target}: {:#?}", encoded.losses);
    }
}

#[test]
fn tools_beyond_the_limit_are_left_out_but_for_those_that_were_called() {
    let mut session = session(Options::default());
    let tool = |index: usize| ToolSpec { name: format!("tool_{index}"), ..ToolSpec::default() };
    session.tools = (0..140).map(tool).collect();
    let call = turnkeep_model::ToolCall {
        call: turnkeep_model::CallId::given("c1"),
        name: "tool_139".to_owned(),
        arguments: "{}".to_owned(),
    };
    session.turns[0].blocks.push(Block::new(Author::Assistant, call));
    let archive = Archive::from(session);

    for target in ["openai.chat", "openai.responses"] {
        let (body, encoded) = asked(&archive, target, Some("gpt-4o"));
        let names: Vec<String> = at(&body, "tools")
            .and_then(Json::as_array)
            .unwrap()
            .iter()
            .map(|tool| at(tool, "function.name").or_else(|| at(tool, "name")).unwrap().as_str().unwrap().into_owned())
            .collect();
        let expected: Vec<String> = (0..127).chain([139]).map(|index| format!("tool_{index}")).collect();
        assert_eq!(names, expected, "{target}");
        let gone = encoded.losses.iter().filter(|loss| loss.at.starts_with("tools[")).count();
        assert!(gone >= 12, "{target}: {:#?}", encoded.losses);
    }
}

#[test]
fn a_history_that_ends_with_an_answer_goes_on_from_the_user_where_the_model_demands_it() {
    let mut session = session(Options::default());
    session.turns[0].blocks.push(Block::text(Author::Assistant, "Because."));
    let archive = Archive::from(session);
    let roles = |target: &str, model: &str| {
        let (body, encoded) = asked(&archive, target, Some(model));
        let messages = at(&body, "messages").and_then(Json::as_array).unwrap();
        let role = |message: &Json| at(message, "role").unwrap().as_str().unwrap().into_owned();
        let is_told = encoded.losses.iter().any(|loss| loss.at == "turns[1]");
        (messages.iter().map(role).collect::<Vec<_>>().join(" "), is_told)
    };

    let goes_on = ("user assistant user".to_owned(), true);
    let stands = ("user assistant".to_owned(), false);
    assert_eq!(roles("anthropic.messages", "claude-opus-4-6"), goes_on);
    assert_eq!(roles("bedrock.converse", "us.anthropic.claude-opus-4-6-v1"), goes_on);
    assert_eq!(roles("anthropic.messages", "claude-sonnet-4-5"), stands);
    assert_eq!(roles("anthropic.messages", "my-model"), stands);
}

#[test]
fn a_body_goes_to_another_model_of_its_wire_without_what_that_one_refuses() {
    let cases = [
        (
            "anthropic.messages",
            r#"{"model":"claude-sonnet-4-6","max_tokens":100,"temperature":0.5,"thinking":{"type":"adaptive"},"output_config":{"effort":"max"},"messages":[{"role":"user","content":"a"}]}"#,
            "claude-3-5-haiku-latest",
            r#"{"model":"claude-3-5-haiku-latest","max_tokens":100,"temperature":0.5,"messages":[{"role":"user","content":"a"}]}"#,
        ),
        (
            "anthropic.messages",
            r#"{"model":"claude-sonnet-4-6","max_tokens":9000,"thinking":{"type":"enabled","budget_tokens":2000,"display":"omitted"},"messages":[{"role":"user","content":"a"}]}"#,
            "claude-3-5-haiku-latest",
            r#"{"model":"claude-3-5-haiku-latest","max_tokens":8192,"messages":[{"role":"user","content":"a"}]}"#,
        ),
        (
            "openai.responses",
            r#"{"model":"o3","include":["reasoning.encrypted_content"],"reasoning":{"effort":"high","summary":"auto"},"input":"a"}"#,
            "gpt-4o",
            r#"{"model":"gpt-4o","input":"a"}"#,
        ),
        (
            "gemini.contents",
            r#"{"model":"gemini-3-flash-preview","contents":[{"role":"user","parts":[{"text":"a"}]}],"generationConfig":{"thinkingConfig":{"includeThoughts":true,"thinkingLevel":"LOW"}}}"#,
            "gemini-2.0-flash",
            r#"{"model":"gemini-2.0-flash","contents":[{"role":"user","parts":[{"text":"a"}]}]}"#,
        ),
        (
            "openai.chat",
            r#"{"model":"gpt-4o","max_tokens":9,"temperature":0.5,"stop":"x","messages":[{"role":"user","content":"a"}]}"#,
            "gpt-5",
            r#"{"model":"gpt-5","max_completion_tokens":9,"messages":[{"role":"user","content":"a"}]}"#,
        ),
    ];
    for (id, body, model, expected) in cases {
        let decoded = wire(id).decode(Input::new(body.as_bytes()), &DecodeOptions::default()).unwrap();
        let (sent, _) = asked(&decoded.archive, id, Some(model));
        let same = turnkeep_model::canon::canonical;
        assert_eq!(same(&sent), same(&parsed(expected)), "{id}");
    }
}

#[test]
fn a_body_keeps_its_settings_where_nothing_is_known_of_its_model() {
    let body = r#"{"model":"my-deployment","temperature":0.5,"reasoning_effort":"high","messages":[{"role":"user","content":"a"}]}"#;
    let decoded = wire("openai.chat").decode(Input::new(body.as_bytes()), &DecodeOptions::default()).unwrap();

    let (sent, encoded) = asked(&decoded.archive, "openai.chat", None);

    assert_eq!(turnkeep_model::canon::canonical(&sent), turnkeep_model::canon::canonical(&parsed(body)));
    assert_eq!(encoded.losses, Vec::new());
}

#[test]
fn repair_takes_out_what_the_model_refuses() {
    let body = r#"{"model":"gpt-5","temperature":0.5,"max_tokens":9,"messages":[{"role":"user","content":"a"}]}"#;
    let codec = format::by_id("openai.chat").unwrap();
    let decoded = codec.decode(Input::new(body.as_bytes()), &DecodeOptions::default()).unwrap();
    let session = decoded.archive.main_session().unwrap();
    let target = Target { codec, variant: None };

    let repaired = repair(session, Some(body.as_bytes()), &target, &EncodeOptions::default()).unwrap();

    let rules = |findings: &[turnkeep_codec::lint::Finding]| findings.iter().map(|f| f.rule).collect::<Vec<_>>();
    assert_eq!(rules(&repaired.before), ["OC-THINKTEMP", "OC-MAXTOKENS"]);
    assert_eq!(rules(&repaired.after), Vec::<&str>::new());
    let edits: Vec<&str> = repaired.edits.iter().map(|edit| edit.at.as_str()).collect();
    assert_eq!(edits, ["options.temperature"]);
}

/// What is written is what lint lets pass, whatever the settings.
#[test]
fn lint_finds_nothing_in_what_is_written() {
    let efforts = [None, Some("none"), Some("minimal"), Some("high"), Some("max")];
    let budgets = [None, Some(0u64), Some(100), Some(5000), Some(100_000)];
    let limits = [None, Some(10u64), Some(3000), Some(1_000_000)];
    for (target, models) in MODELS {
        for model in models.iter().flatten() {
            for (effort, budget, limit) in product(&efforts, &budgets, &limits) {
                let options = Options {
                    temperature: Number::parse("0.3"),
                    top_p: Number::parse("0.5"),
                    reasoning: effort.map(Effort::from_word),
                    budget_tokens: budget.map(Number::from),
                    max_tokens: limit.map(Number::from),
                    ..Options::default()
                };
                let (_, encoded) = asked(&Archive::from(session(options)), target, Some(model));
                let found = lint(Input::new(&encoded.bytes), target, Strictness::Lax).unwrap();
                let case = format!("{target} {model} {effort:?} {budget:?} {limit:?}");
                let errors: Vec<_> = found.iter().filter(|finding| finding.severity == Severity::Error).collect();
                assert!(errors.is_empty(), "{case}: {errors:#?}");
                assert_eq!(
                    refused(target, &parsed(std::str::from_utf8(&encoded.bytes).unwrap())),
                    Vec::<&str>::new(),
                    "{case}"
                );
            }
        }
    }
}

fn product<A: Copy, B: Copy, C: Copy>(a: &[A], b: &[B], c: &[C]) -> Vec<(A, B, C)> {
    let pairs = |a: A| b.iter().flat_map(move |b| c.iter().map(move |c| (a, *b, *c)));
    a.iter().flat_map(|a| pairs(*a).collect::<Vec<_>>()).collect()
}
