//! Lint of bodies as given: each says what its model refuses, and where.

use turnkeep_codec::Input;
use turnkeep_codec::lint::{Severity, Strictness, lint, rules};

/// The rules that a body breaks, each with its place; warnings are marked.
fn found(target: &str, body: &str) -> Vec<String> {
    let findings = lint(Input::new(body.as_bytes()), target, Strictness::Lax).unwrap();
    let mark = |severity: Severity| if severity == Severity::Error { "" } else { "~" };
    findings.iter().map(|finding| format!("{}{} {}", mark(finding.severity), finding.rule, finding.at)).collect()
}

fn tools(count: usize, tool: impl Fn(usize) -> String) -> String {
    (0..count).map(tool).collect::<Vec<_>>().join(",")
}

#[test]
fn settings_that_a_model_refuses_are_found() {
    let cases: &[(&str, &str, &[&str])] = &[
        ("openai.chat", r#""model":"gpt-5","temperature":0.2"#, &["OC-THINKTEMP temperature"]),
        ("openai.chat", r#""model":"gpt-5","temperature":1"#, &[]),
        ("openai.chat", r#""model":"gpt-4o","reasoning_effort":"low""#, &["OC-EFFORT reasoning_effort"]),
        ("openai.chat", r#""model":"o4-mini","reasoning_effort":"minimal""#, &["OC-EFFORT reasoning_effort"]),
        ("openai.chat", r#""model":"gpt-5","max_tokens":9"#, &["OC-MAXTOKENS max_tokens"]),
        ("openai.chat", r#""model":"gpt-4o","max_tokens":90000"#, &["OC-LIMIT max_tokens"]),
        ("openai.chat", r#""model":"gpt-5-mini","stop":["x"]"#, &["OC-STOP stop"]),
        ("openai.chat", r#""model":"gpt-5.1","temperature":0.2"#, &[]),
        (
            "openai.chat",
            r#""model":"gpt-5.1","temperature":0.2,"reasoning_effort":"low""#,
            &["OC-THINKTEMP temperature"],
        ),
        ("openai.chat", r#""model":"gpt-4","response_format":{"type":"json_schema"}"#, &["OC-FORMAT response_format"]),
        ("openai.chat", r#""model":"gpt-4o","tool_choice":"auto""#, &["OC-CHOICE tool_choice"]),
        ("openai.chat:openrouter", r#""model":"openai/gpt-5","temperature":0.2"#, &["~OC-THINKTEMP temperature"]),
        ("openai.chat:azure", r#""model":"my-deployment","temperature":0.2"#, &["~OC-UNKNOWN temperature"]),
        ("openai.chat:vllm", r#""model":"my-model","temperature":0.2"#, &[]),
        ("openai.chat", r#""temperature":0.2"#, &[]),
        (
            "anthropic.messages",
            r#""model":"claude-sonnet-4-5","max_tokens":9,"output_config":{"effort":"low"}"#,
            &["AN-EFFORT output_config.effort"],
        ),
        (
            "anthropic.messages",
            r#""model":"claude-opus-4-8","max_tokens":9,"temperature":0.2"#,
            &["AN-SAMPLING temperature"],
        ),
        (
            "anthropic.messages",
            r#""model":"claude-haiku-4-5","max_tokens":9,"temperature":0.2,"top_p":0.3"#,
            &["AN-SAMPLING top_p"],
        ),
        (
            "anthropic.messages",
            r#""model":"claude-opus-4-8","max_tokens":9000,"thinking":{"type":"enabled","budget_tokens":2000}"#,
            &["AN-BUDGET thinking.budget_tokens"],
        ),
        (
            "anthropic.messages",
            r#""model":"claude-sonnet-4-5","max_tokens":9,"thinking":{"type":"adaptive"}"#,
            &["AN-THINKING thinking.type"],
        ),
        (
            "anthropic.messages",
            r#""model":"claude-sonnet-4-5","max_tokens":2000,"temperature":0.7,"thinking":{"type":"enabled","budget_tokens":16000}"#,
            &["AN-BUDGETMAX thinking.budget_tokens", "AN-TEMP temperature"],
        ),
        ("anthropic.messages", r#""model":"my-model","max_tokens":9,"temperature":0.7"#, &["~AN-UNKNOWN temperature"]),
        ("ollama.chat", r#""model":"llama3.2","think":true"#, &["OL-THINK think"]),
        ("ollama.chat", r#""model":"llama3.2","think":false"#, &[]),
        ("ollama.chat", r#""model":"qwen3:4b","think":true"#, &[]),
        ("ollama.chat", r#""model":"my-model","think":"high""#, &["~OL-UNKNOWN think"]),
    ];
    for (target, settings, expected) in cases {
        let body = format!(r#"{{{settings},"messages":[{{"role":"user","content":"a"}}]}}"#);
        assert_eq!(found(target, &body), *expected, "{target} {settings}");
    }
}

#[test]
fn settings_that_a_model_of_responses_refuses_are_found() {
    let cases: &[(&str, &[&str])] = &[
        (r#""model":"gpt-5","temperature":0.2"#, &["OR-THINKTEMP temperature"]),
        (r#""model":"gpt-4o","reasoning":{"effort":"low"}"#, &["OR-EFFORT reasoning.effort", "OR-THINKING reasoning"]),
        (r#""model":"gpt-4o","include":["reasoning.encrypted_content"]"#, &["OR-THINKING include"]),
        (r#""model":"gpt-4o","include":["file_search_call.results"]"#, &[]),
        (r#""model":"gpt-5.6","temperature":0.2,"reasoning":{"effort":"none"}"#, &[]),
        (r#""model":"gpt-5.6","temperature":0.2"#, &["OR-THINKTEMP temperature"]),
        (r#""model":"gpt-5","reasoning":{"effort":"xhigh"}"#, &["OR-EFFORT reasoning.effort"]),
    ];
    for (settings, expected) in cases {
        let body = format!(r#"{{{settings},"input":"a"}}"#);
        assert_eq!(found("openai.responses", &body), *expected, "{settings}");
    }
}

#[test]
fn settings_that_gemini_refuses_are_found() {
    let cases: &[(&str, &[&str])] = &[
        (
            r#""model":"gemini-2.5-flash","generationConfig":{"thinkingConfig":{"thinkingLevel":"LOW"}}"#,
            &["GE-LEVEL generationConfig.thinkingConfig.thinkingLevel"],
        ),
        (
            r#""model":"models/gemini-2.5-pro","generationConfig":{"thinkingConfig":{"thinkingBudget":0}}"#,
            &["GE-BUDGET generationConfig.thinkingConfig.thinkingBudget"],
        ),
        (r#""model":"gemini-2.5-flash","generation_config":{"thinking_config":{"thinking_budget":0}}"#, &[]),
        (
            r#""model":"gemini-3-flash-preview","generationConfig":{"thinkingConfig":{"thinkingBudget":512}}"#,
            &["~GE-BUDGET generationConfig.thinkingConfig.thinkingBudget"],
        ),
        (
            r#""generationConfig":{"thinkingConfig":{"thinkingBudget":512,"thinkingLevel":"LOW"}}"#,
            &["GE-THINKING generationConfig.thinkingConfig.thinkingLevel"],
        ),
        (
            r#""toolConfig":{"functionCallingConfig":{"mode":"AUTO"}},"tools":[{"googleSearch":{}}]"#,
            &["GE-CHOICE toolConfig.functionCallingConfig"],
        ),
        (
            r#""toolConfig":{"functionCallingConfig":{"mode":"AUTO"}},"tools":[{"functionDeclarations":[{"name":"a"}]}]"#,
            &[],
        ),
    ];
    for (settings, expected) in cases {
        let body = format!(r#"{{{settings},"contents":[{{"role":"user","parts":[{{"text":"a"}}]}}]}}"#);
        assert_eq!(found("gemini.contents", &body), *expected, "{settings}");
    }
}

#[test]
fn what_bedrock_refuses_is_found() {
    let url = r#"{"role":"user","content":[{"image":{"format":"png","source":{"url":"https://example.org/a.png"}}}]}"#;
    let far = r#"{"role":"user","content":[{"document":{"format":"pdf","name":"a","source":{"s3Location":{"uri":"s3://a/b"}}}}]}"#;
    let video = r#"{"role":"user","content":[{"video":{"format":"mp4","source":{"bytes":"AAAA"}}}]}"#;
    let asks = r#"{"role":"user","content":[{"text":"a"}]}"#;
    let begins = r#"{"role":"user","content":[{"text":"a"}]},{"role":"assistant","content":[{"text":"b"}]}"#;
    let sonnet = "us.anthropic.claude-sonnet-4-5-20250929-v1:0";
    let cases: &[(&str, &str, &str, &[&str])] = &[
        (sonnet, "", url, &["BE-SOURCE messages[0].content[0].image.source"]),
        (sonnet, "", far, &["BE-S3 messages[0].content[0].document.source.s3Location"]),
        ("us.amazon.nova-2-lite-v1:0", "", far, &[]),
        (sonnet, "", video, &["BE-VIDEO messages[0].content[0].video"]),
        (sonnet, "", begins, &[]),
        ("us.anthropic.claude-opus-4-6-v1", "", begins, &["BE-PREFILL messages[1].role"]),
        (
            sonnet,
            r#","inferenceConfig":{"maxTokens":2000,"temperature":0.7},"additionalModelRequestFields":{"thinking":{"type":"enabled","budget_tokens":16000}}"#,
            asks,
            &[
                "BE-BUDGETMAX additionalModelRequestFields.thinking.budget_tokens",
                "BE-TEMP inferenceConfig.temperature",
            ],
        ),
        (
            "us.anthropic.claude-opus-4-8",
            r#","inferenceConfig":{"temperature":0.7}"#,
            asks,
            &["BE-SAMPLING inferenceConfig.temperature"],
        ),
        (
            "arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc",
            r#","inferenceConfig":{"temperature":0.7}"#,
            asks,
            &["~BE-UNKNOWN inferenceConfig.temperature"],
        ),
    ];
    for (model, settings, messages, expected) in cases {
        let body = format!(r#"{{"modelId":"{model}"{settings},"messages":[{messages}]}}"#);
        assert_eq!(found("bedrock.converse", &body), *expected, "{model} {settings} {messages}");
    }
}

#[test]
fn an_image_by_url_is_refused_where_bedrock_hosts_claude() {
    let body = |version: &str| {
        format!(
            r#"{{{version}"max_tokens":9,"messages":[{{"role":"user","content":[{{"type":"image","source":{{"type":"url","url":"https://example.org/a.png"}}}}]}}]}}"#
        )
    };

    let hosted = found("anthropic.messages", &body(r#""anthropic_version":"bedrock-2023-05-31","#));
    assert_eq!(hosted, ["AN-URL messages[0].content[0].source"]);
    assert_eq!(found("anthropic.messages", &body(r#""model":"claude-sonnet-4-5","#)), Vec::<String>::new());
}

#[test]
fn more_tools_than_the_vendor_takes_are_found() {
    let chat = tools(140, |index| format!(r#"{{"type":"function","function":{{"name":"t{index}"}}}}"#));
    let chat = |model: &str| format!(r#"{{{model}"tools":[{chat}],"messages":[{{"role":"user","content":"a"}}]}}"#);
    assert_eq!(found("openai.chat", &chat(r#""model":"gpt-4o","#)), ["OC-TOOLS tools"]);
    assert_eq!(found("openai.chat", &chat(r#""model":"my-deployment","#)), ["OC-TOOLS tools"]);
    assert_eq!(found("openai.chat", &chat("")), ["OC-TOOLS tools"]);
    assert_eq!(found("openai.chat:vllm", &chat(r#""model":"my-model","#)), Vec::<String>::new());

    let flat = tools(140, |index| format!(r#"{{"type":"function","name":"t{index}","parameters":{{}}}}"#));
    let body = format!(r#"{{"model":"gpt-5","tools":[{flat}],"input":"a"}}"#);
    assert_eq!(found("openai.responses", &body), ["OR-TOOLS tools"]);

    let declared = tools(513, |index| format!(r#"{{"name":"t{index}"}}"#));
    let body = format!(
        r#"{{"model":"gemini-2.5-flash","tools":[{{"functionDeclarations":[{declared}]}}],"contents":[{{"role":"user","parts":[{{"text":"a"}}]}}]}}"#
    );
    assert_eq!(found("gemini.contents", &body), ["GE-TOOLS tools"]);
}

#[test]
fn every_rule_on_models_is_listed_with_its_wire() {
    for (wire, start) in [
        ("openai.chat", "OC-"),
        ("openai.responses", "OR-"),
        ("anthropic.messages", "AN-"),
        ("gemini.contents", "GE-"),
        ("ollama.chat", "OL-"),
        ("bedrock.converse", "BE-"),
    ] {
        let mut ids: Vec<&str> = rules(wire).iter().map(|rule| rule.id).collect();
        let count = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), count, "{wire}: a rule is listed twice");
        assert!(ids.iter().any(|id| *id == format!("{start}UNKNOWN")), "{wire}");
    }
}
