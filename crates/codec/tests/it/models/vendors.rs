//! What is sent is what the vendor and the model both take, and a family says which model stands behind a name.

use turnkeep_codec::lint::{Severity, Strictness, lint};
use turnkeep_codec::wire::repair::repair;
use turnkeep_codec::{DecodeOptions, EncodeOptions, Encoded, Input, Target, encode, models};
use turnkeep_model::{Archive, Author, Block, Effort, Json, Options, ResponseFormat, ResponseKind, Session, Turn};
use turnkeep_model::{ToolChoice, ToolMode, ToolSpec};

use super::{asked, at, parsed};
use crate::recorded::wire;

/// A session with every setting that some vendor or model refuses.
fn demanding() -> Archive {
    let mut options = Options::default().with_max_tokens(2000).with_reasoning(Effort::Medium);
    options.temperature = Some(1u64.into());
    options.presence_penalty = Some(1u64.into());
    options.tool_choice = Some(ToolChoice { mode: ToolMode::Required, ..ToolChoice::default() });
    let response_format = Some(ResponseFormat {
        kind: ResponseKind::JsonSchema,
        name: Some("answer".to_owned()),
        schema: parsed(r#"{"type":"object","properties":{}}"#),
        ..ResponseFormat::default()
    });
    let tools = vec![ToolSpec { name: "look".to_owned(), ..ToolSpec::default() }];
    let turns = vec![Turn { blocks: vec![Block::text(Author::User, "Why?")], ..Turn::default() }];
    Archive::from(Session { options, response_format, tools, turns, ..Session::default() })
}

fn text(body: &Json, place: &str) -> Option<String> {
    at(body, place).and_then(Json::as_str).map(std::borrow::Cow::into_owned)
}

#[test]
fn a_limit_has_a_name_that_its_vendor_knows_whatever_the_model() {
    let name = |variant: &str, model: &str| {
        let (body, _) = asked(&demanding(), &format!("openai.chat:{variant}"), Some(model));
        let names = ["max_tokens", "max_completion_tokens"];
        names.into_iter().filter(|name| at(&body, name).is_some()).collect::<Vec<_>>().join(" ")
    };
    for model in ["gpt-5", "o3", "gpt-4o", "mistral-large-latest", "my-model"] {
        for variant in ["mistral", "deepseek", "together", "perplexity", "moonshot", "qwen", "zai"] {
            assert_eq!(name(variant, model), "max_tokens", "{variant} {model}");
        }
    }
    assert_eq!(name("openai", "gpt-5"), "max_completion_tokens");
    assert_eq!(name("openrouter", "openai/gpt-5"), "max_completion_tokens");
    assert_eq!(name("openrouter", "meta-llama/llama-3"), "max_tokens");
}

#[test]
fn an_effort_is_one_that_vendor_and_model_share() {
    let effort = |variant: &str, model: &str, effort: &str| {
        let mut archive = demanding();
        archive.sessions[0].options.reasoning = Some(Effort::from_word(effort));
        let (body, _) = asked(&archive, &format!("openai.chat:{variant}"), Some(model));
        text(&body, "reasoning_effort")
    };
    let some = |word: &str| Some(word.to_owned());
    assert_eq!(effort("mistral", "gpt-5", "low"), some("high"));
    assert_eq!(effort("deepseek", "gpt-5", "max"), some("high"));
    assert_eq!(effort("xai", "gpt-5", "minimal"), some("low"));
    assert_eq!(effort("cerebras", "gpt-oss-120b", "minimal"), some("low"));
    assert_eq!(effort("mistral", "qwen3-32b", "high"), None);
    assert_eq!(effort("zai", "glm-5.2", "max"), some("max"));
    assert_eq!(effort("zai", "glm-4.6", "high"), None);
}

#[test]
fn what_a_vendor_refuses_of_every_model_is_left_out_and_told() {
    let lost = |variant: &str, model: &str| {
        let (body, encoded) = asked(&demanding(), &format!("openai.chat:{variant}"), Some(model));
        let places = encoded.losses.into_iter().filter(|loss| loss.what.contains("this vendor"));
        (body, places.map(|loss| loss.at).collect::<Vec<_>>())
    };
    let (body, places) = lost("zai", "glm-4.6");
    assert_eq!((at(&body, "tool_choice"), text(&body, "response_format.type").as_deref()), (None, Some("json_object")));
    assert!(places.contains(&"options.tool_choice".to_owned()), "{places:?}");
    let (body, places) = lost("cerebras", "llama3.1-8b");
    assert_eq!((at(&body, "presence_penalty"), places), (None, vec!["options.presence_penalty".to_owned()]));
    let (body, _) = lost("moonshot", "kimi-k2-0905-preview");
    assert_eq!(at(&body, "tool_choice"), None);
    let (body, _) = lost("deepseek", "gpt-4o");
    assert_eq!(text(&body, "response_format.type").as_deref(), Some("json_object"));
}

#[test]
fn lint_finds_nothing_in_what_is_written_for_any_vendor() {
    let models = ["gpt-5", "o3", "gpt-4o", "deepseek-chat", "qwen3-32b", "glm-5.2", "kimi-k2", "grok-4", "my-model"];
    for variant in models::VENDORS.iter().map(|vendor| vendor.name) {
        for model in models {
            let target = format!("openai.chat:{variant}");
            let (_, encoded) = asked(&demanding(), &target, Some(model));
            let found = lint(Input::new(&encoded.bytes), &target, Strictness::Lax).unwrap();
            let errors: Vec<_> = found.iter().filter(|finding| finding.severity == Severity::Error).collect();
            assert!(errors.is_empty(), "{target} {model}: {errors:#?}");
        }
    }
}

#[test]
fn lint_knows_which_name_of_the_limit_a_vendor_refuses_or_overlooks() {
    let body =
        r#"{"model":"mistral-large-latest","max_completion_tokens":9,"messages":[{"role":"user","content":"a"}]}"#;
    let found = |target: &str| {
        let found = lint(Input::new(body.as_bytes()), target, Strictness::Lax).unwrap();
        found.into_iter().map(|finding| (finding.rule, finding.severity, finding.at)).collect::<Vec<_>>()
    };
    let at = || "max_completion_tokens".to_owned();
    assert_eq!(found("openai.chat:mistral"), [("OC-NEWLIMIT", Severity::Error, at())]);
    assert_eq!(found("openai.chat:together"), [("OC-NEWLIMIT", Severity::Warning, at())]);
    assert_eq!(found("openai.chat:groq"), []);
}

/// The next request for a model whose name tells nothing, of a family.
fn of_family(archive: &Archive, target: &str, model: &str, family: &str) -> (Json, Encoded) {
    let mut options = EncodeOptions::default();
    options.as_request = true;
    options.model = Some(model.to_owned());
    options.family = Some(family.to_owned());
    let encoded = encode(archive, &Target::parse(target).unwrap(), &options).unwrap();
    (parsed(std::str::from_utf8(&encoded.bytes).unwrap()), encoded)
}

#[test]
fn a_family_gives_a_deployment_the_settings_of_its_model() {
    let arn = "arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc";
    let without = |body: &Json, keys: &[&str]| {
        let Json::Object(mut body) = body.clone() else { panic!("no object") };
        keys.iter().for_each(|key| drop(body.remove(key)));
        turnkeep_model::canon::canonical(&Json::Object(body))
    };
    for (target, name, family) in [
        ("openai.chat:azure", "my-deployment", "gpt-5.1"),
        ("openai.chat:azure", "my-deployment", "gpt-4o"),
        ("openai.responses:azure", "my-deployment", "o4-mini"),
        ("anthropic.messages", "my-gateway-model", "claude-sonnet-4-5"),
        ("gemini.contents", "tunedModels/mine", "gemini-2.5-flash"),
        ("ollama.chat", "me/mine", "qwen3:4b"),
        ("bedrock.converse", arn, "claude-sonnet-4-5"),
    ] {
        let (body, encoded) = of_family(&demanding(), target, name, family);
        let (expected, _) = asked(&demanding(), target, Some(family));
        let key = if target.starts_with("bedrock") { "modelId" } else { "model" };
        assert_eq!(text(&body, key).as_deref(), Some(name), "{target}");
        assert_eq!(without(&body, &[key]), without(&expected, &[key]), "{target} {family}");
        assert!(!encoded.losses.iter().any(|loss| loss.what.contains("no row")), "{target}: {:#?}", encoded.losses);
    }
}

#[test]
fn a_name_that_tells_nothing_is_told_with_the_remedy() {
    let (_, encoded) = asked(&demanding(), "openai.chat:azure", Some("my-deployment"));
    let remedy = "name the model behind it with --family, or with `family` in turnkeep.toml";
    assert!(encoded.losses.iter().any(|loss| loss.what.contains(remedy)), "{:#?}", encoded.losses);
}

#[test]
fn lint_judges_a_body_by_the_family_that_is_named() {
    let cases = [
        ("openai.chat", r#"{"model":"mine","temperature":0.5,"messages":[{"role":"user","content":"a"}]}"#, "gpt-5"),
        ("openai.chat", r#"{"temperature":0.5,"messages":[{"role":"user","content":"a"}]}"#, "gpt-5"),
        (
            "gemini.contents",
            r#"{"contents":[{"role":"user","parts":[{"text":"a"}]}],"generationConfig":{"thinkingConfig":{"thinkingLevel":"LOW"}}}"#,
            "gemini-2.5-flash",
        ),
        (
            "bedrock.converse",
            r#"{"messages":[{"role":"user","content":[{"text":"a"}]}],"inferenceConfig":{"maxTokens":500000}}"#,
            "claude-sonnet-4-5",
        ),
        (
            "anthropic.messages",
            r#"{"request":{"model":"mine","max_tokens":9,"temperature":0.5,"messages":[{"role":"user","content":"a"}]},"response":{"type":"message","role":"assistant","content":[],"model":"mine"}}"#,
            "claude-opus-4-8",
        ),
    ];
    for (target, body, family) in cases {
        let errors = |family: Option<&str>| {
            let found = lint(Input::new(body.as_bytes()).of_family(family), target, Strictness::Lax).unwrap();
            found.iter().filter(|finding| finding.severity == Severity::Error).count()
        };
        assert_eq!((errors(None), errors(Some(family))), (0, 1), "{target} {body}");
    }
}

#[test]
fn repair_judges_and_mends_by_the_family_that_is_named() {
    let body = r#"{"model":"mine","temperature":0.5,"messages":[{"role":"user","content":"a"}]}"#;
    let decoded = wire("openai.chat").decode(Input::new(body.as_bytes()), &DecodeOptions::default()).unwrap();
    let mut options = EncodeOptions::default();
    options.family = Some("gpt-5".to_owned());
    let target = Target::parse("openai.chat").unwrap();
    let session = decoded.archive.main_session().unwrap();
    let repaired = repair(session, Some(body.as_bytes()), &target, &options).unwrap();

    assert_eq!(repaired.before.iter().map(|finding| finding.rule).collect::<Vec<_>>(), ["OC-THINKTEMP"]);
    assert_eq!(repaired.edits.iter().map(|edit| edit.at.as_str()).collect::<Vec<_>>(), ["options.temperature"]);
    assert_eq!(repaired.after, Vec::new());
}

#[test]
fn a_family_without_a_row_is_refused() {
    assert!(models::check_family("gpt-5").is_ok() && models::check_family("us.anthropic.claude-opus-4-6-v1").is_ok());
    let error = models::check_family("my-deployment").unwrap_err();
    assert_eq!(error.what(), "the table of models has no row for `my-deployment`");
}
