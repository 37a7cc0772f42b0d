//! The failures that people report again and again: each is explained with its place and the vendor's own words, and
//! each can be repaired.

use turnkeep_codec::lint::{Severity, Strictness, lint};
use turnkeep_codec::wire::repair::repair;
use turnkeep_codec::{DecodeOptions, EncodeOptions, Input, Target};

use crate::recorded::wire;

/// A broken request: whose it is, the rule it breaks, where, what the vendor answers, and the body.
struct Failure {
    target: &'static str,
    rule: &'static str,
    at: &'static str,
    says: &'static str,
    body: &'static str,
}

const fn failure(
    target: &'static str,
    rule: &'static str,
    at: &'static str,
    says: &'static str,
    body: &'static str,
) -> Failure {
    Failure { target, rule, at, says, body }
}

const FAILURES: &[Failure] = &[
    failure(
        "openai.chat",
        "OC-ORPHAN",
        "messages[1].tool_call_id",
        "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'",
        r#"{"model":"gpt-4.1","messages":[{"role":"user","content":"Go."},{"role":"tool","tool_call_id":"call_1","content":"R"}]}"#,
    ),
    failure(
        "openai.chat",
        "OC-DANGLING",
        "messages[1].tool_calls[0].id",
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'.",
        r#"{"model":"gpt-4.1","messages":[{"role":"user","content":"Go."},{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"user","content":"And?"}]}"#,
    ),
    failure(
        "openai.chat",
        "OC-IDLEN",
        "messages[1].tool_calls[0].id",
        "string too long. Expected a string with maximum length 40",
        r#"{"model":"gpt-4.1","messages":[{"role":"user","content":"Go."},{"role":"assistant","content":null,"tool_calls":[{"id":"fc_68c42de022c881948db7ed1cc2529f2e0202c9ad459e0d23","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"fc_68c42de022c881948db7ed1cc2529f2e0202c9ad459e0d23","content":"R"}]}"#,
    ),
    failure(
        "openai.chat",
        "OC-TCEMPTY",
        "messages[1].tool_calls",
        "[] is too short",
        r#"{"model":"gpt-4.1","messages":[{"role":"user","content":"Go."},{"role":"assistant","content":"Yes.","tool_calls":[]}]}"#,
    ),
    failure(
        "openai.chat",
        "OC-ARGS",
        "messages[1].tool_calls[0].function.arguments",
        "expected a string, but got an object instead",
        r#"{"model":"gpt-4.1","messages":[{"role":"user","content":"Go."},{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"f","arguments":{"a":1}}}]},{"role":"tool","tool_call_id":"call_1","content":"R"}]}"#,
    ),
    failure(
        "openai.chat",
        "OC-STOP",
        "stop",
        "Unsupported parameter: 'stop' is not supported with this model.",
        r#"{"model":"gpt-5-mini","messages":[{"role":"user","content":"Go."}],"stop":["END"]}"#,
    ),
    failure(
        "openai.chat",
        "OC-NOSYSTEM",
        "messages[0].role",
        "Unsupported value: 'messages[0].role' does not support 'system' with this model.",
        r#"{"model":"o1-mini","messages":[{"role":"system","content":"S"},{"role":"user","content":"Go."}]}"#,
    ),
    failure(
        "openai.chat:mistral",
        "MI-ID",
        "messages[1].tool_calls[0].id",
        "but must be a-z, A-Z, 0-9, with a length of 9.",
        r#"{"model":"mistral-large-latest","messages":[{"role":"user","content":"Go."},{"role":"assistant","content":"","tool_calls":[{"id":"call_1","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"call_1","content":"R"}]}"#,
    ),
    failure(
        "openai.chat:groq",
        "GQ-REASON",
        "messages[1].reasoning_content",
        "property 'reasoning_content' is unsupported",
        r#"{"model":"llama-3.3-70b-versatile","messages":[{"role":"user","content":"Go."},{"role":"assistant","content":"Yes.","reasoning_content":"Hm."},{"role":"user","content":"And?"}]}"#,
    ),
    failure(
        "openai.chat:deepseek",
        "DS-REASON",
        "messages[1].reasoning_content",
        "The `reasoning_content` in the thinking mode must be passed back to the API.",
        r#"{"model":"deepseek-reasoner","messages":[{"role":"user","content":"Go."},{"role":"assistant","content":"","tool_calls":[{"id":"call_1","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"call_1","content":"R"}],"thinking":{"type":"enabled"}}"#,
    ),
    failure(
        "openai.responses",
        "OR-REASON-TAIL",
        "input[1]",
        "of type 'reasoning' was provided without its required following item.",
        r#"{"model":"gpt-5","input":[{"role":"user","content":"Go."},{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"gAAA"},{"role":"assistant","content":"Yes."}]}"#,
    ),
    failure(
        "openai.responses",
        "OR-REASON-HEAD",
        "input[1].id",
        "of type 'function_call' was provided without its required 'reasoning' item",
        r#"{"model":"gpt-5","input":[{"role":"user","content":"Go."},{"type":"function_call","id":"fc_1","call_id":"call_1","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"call_1","output":"R"}]}"#,
    ),
    failure(
        "openai.responses",
        "OR-DANGLING",
        "input[1].call_id",
        "No tool output found for function call call_1.",
        r#"{"model":"gpt-4.1","input":[{"role":"user","content":"Go."},{"type":"function_call","call_id":"call_1","name":"f","arguments":"{}"},{"role":"user","content":"And?"}]}"#,
    ),
    failure(
        "openai.responses",
        "OR-ORPHAN",
        "input[1].call_id",
        "No tool call found for function call output with call_id call_1.",
        r#"{"model":"gpt-4.1","input":[{"role":"user","content":"Go."},{"type":"function_call_output","call_id":"call_1","output":"R"}]}"#,
    ),
    failure(
        "openai.responses",
        "OR-IDLEN",
        "input[1].call_id",
        "string too long. Expected a string with maximum length 64",
        r#"{"model":"gpt-4.1","input":[{"role":"user","content":"Go."},{"type":"function_call","call_id":"call_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"call_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","output":"R"}]}"#,
    ),
    failure(
        "openai.responses",
        "OR-PART",
        "input[1].content[0].type",
        "Invalid value: 'input_text'",
        r#"{"model":"gpt-4.1","input":[{"role":"user","content":"Go."},{"role":"assistant","content":[{"type":"input_text","text":"Yes."}]},{"role":"user","content":"And?"}]}"#,
    ),
    failure(
        "anthropic.messages",
        "AN-DANGLING",
        "messages[1].content[0]",
        "`tool_use` ids were found without `tool_result` blocks immediately after",
        r#"{"model":"claude-sonnet-4-5","max_tokens":99,"messages":[{"role":"user","content":"Go."},{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"f","input":{}}]},{"role":"user","content":"And?"}],"tools":[{"name":"f","input_schema":{"type":"object"}}]}"#,
    ),
    failure(
        "anthropic.messages",
        "AN-TEXTAFTER",
        "messages[1].content[1]",
        "`tool_use` ids were found without `tool_result` blocks immediately after",
        r#"{"model":"claude-sonnet-4-5","max_tokens":99,"messages":[{"role":"user","content":"Go."},{"role":"assistant","content":[{"type":"tool_use","id":"call_1","name":"f","input":{}},{"type":"text","text":"I go."}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_1","content":"R"}]}],"tools":[{"name":"f","input_schema":{"type":"object"}}]}"#,
    ),
    failure(
        "anthropic.messages",
        "AN-ORPHAN",
        "messages[0].content[0]",
        "unexpected `tool_use_id` found in `tool_result` blocks",
        r#"{"model":"claude-sonnet-4-5","max_tokens":99,"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"R"},{"type":"text","text":"And?"}]}],"tools":[{"name":"f","input_schema":{"type":"object"}}]}"#,
    ),
    failure(
        "anthropic.messages",
        "AN-ID",
        "messages[1].content[0].id",
        "String should match pattern '^[a-zA-Z0-9_-]+$'",
        r#"{"model":"claude-sonnet-4-5","max_tokens":99,"messages":[{"role":"user","content":"Go."},{"role":"assistant","content":[{"type":"tool_use","id":"functions.Bash:0","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"functions.Bash:0","content":"R"}]}],"tools":[{"name":"f","input_schema":{"type":"object"}}]}"#,
    ),
    failure(
        "anthropic.messages",
        "AN-EMPTYTEXT",
        "messages[0].content[0]",
        "text content blocks must be non-empty",
        r#"{"model":"claude-sonnet-4-5","max_tokens":99,"messages":[{"role":"user","content":[{"type":"text","text":""},{"type":"text","text":"Go."}]}]}"#,
    ),
    failure(
        "anthropic.messages",
        "AN-SIG",
        "messages[1].content[0]",
        "Invalid `signature` in `thinking` block",
        r#"{"model":"claude-sonnet-4-5","max_tokens":99,"messages":[{"role":"user","content":"Go."},{"role":"assistant","content":[{"type":"thinking","thinking":"Hm.","signature":""},{"type":"text","text":"Yes."}]},{"role":"user","content":"And?"}]}"#,
    ),
    failure(
        "anthropic.messages",
        "AN-THINKFIRST",
        "messages[1].content[0]",
        "Expected `thinking` or `redacted_thinking`, but found `tool_use`",
        r#"{"model":"claude-sonnet-4-5","max_tokens":4096,"thinking":{"type":"enabled","budget_tokens":1024},"messages":[{"role":"user","content":"Go."},{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"R"}]}],"tools":[{"name":"f","input_schema":{"type":"object"}}]}"#,
    ),
    failure(
        "anthropic.messages",
        "AN-TRAILWS",
        "messages[1].content",
        "final assistant content cannot end with trailing whitespace",
        r#"{"model":"claude-3-opus-20240229","max_tokens":99,"messages":[{"role":"user","content":"Go."},{"role":"assistant","content":"Yes, "}]}"#,
    ),
    failure(
        "gemini.contents",
        "GE-SIG",
        "contents[1].parts[0]",
        "Function call is missing a thought_signature in functionCall parts.",
        r#"{"model":"gemini-3-pro-preview","contents":[{"role":"user","parts":[{"text":"Go."}]},{"role":"model","parts":[{"functionCall":{"name":"f","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"output":"R"}}}]}]}"#,
    ),
    failure(
        "gemini.contents",
        "GE-CALLPOS",
        "contents[0].parts[0]",
        "Please ensure that function call turn comes immediately after a user turn or after a function response turn.",
        r#"{"contents":[{"role":"model","parts":[{"functionCall":{"name":"f","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"output":"R"}}}]}]}"#,
    ),
    failure(
        "gemini.contents",
        "GE-RESPOS",
        "contents[1].parts[0]",
        "Please ensure that function response turn comes immediately after a function call turn.",
        r#"{"contents":[{"role":"model","parts":[{"text":"Hm."}]},{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"output":"R"}}}]}]}"#,
    ),
    failure(
        "gemini.contents",
        "GE-COUNT",
        "contents[1]",
        "Please ensure that the number of function response parts is equal to the number of function call parts",
        r#"{"contents":[{"role":"user","parts":[{"text":"Go."}]},{"role":"model","parts":[{"functionCall":{"name":"f","args":{}}},{"functionCall":{"name":"g","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"output":"R"}}}]}]}"#,
    ),
    failure(
        "gemini.contents",
        "GE-DANGLING",
        "contents[1].parts[0]",
        "Please ensure that the number of function response parts is equal to the number of function call parts",
        r#"{"contents":[{"role":"user","parts":[{"text":"Go."}]},{"role":"model","parts":[{"functionCall":{"name":"f","args":{}}}]},{"role":"user","parts":[{"text":"And?"}]}]}"#,
    ),
    failure(
        "bedrock.converse",
        "BE-DANGLING",
        "messages[1].content[0]",
        "Expected toolResult blocks at messages.2.content for the following Ids",
        r#"{"messages":[{"role":"user","content":[{"text":"Go."}]},{"role":"assistant","content":[{"toolUse":{"toolUseId":"t1","name":"f","input":{}}}]},{"role":"user","content":[{"text":"And?"}]}],"toolConfig":{"tools":[{"toolSpec":{"name":"f","inputSchema":{"json":{}}}}]}}"#,
    ),
    failure(
        "bedrock.converse",
        "BE-ORPHAN",
        "messages[0].content[0]",
        "The number of toolResult blocks at messages.N.content exceeds the number of toolUse blocks of previous turn.",
        r#"{"messages":[{"role":"user","content":[{"toolResult":{"toolUseId":"t1","content":[{"text":"R"}]}},{"text":"And?"}]}],"toolConfig":{"tools":[{"toolSpec":{"name":"f","inputSchema":{"json":{}}}}]}}"#,
    ),
    failure(
        "bedrock.converse",
        "BE-TOOLCFG",
        "messages[1].content[0].toolUse",
        "The toolConfig field must be defined when using toolUse and toolResult content blocks.",
        r#"{"messages":[{"role":"user","content":[{"text":"Go."}]},{"role":"assistant","content":[{"toolUse":{"toolUseId":"t1","name":"f","input":{}}}]},{"role":"user","content":[{"toolResult":{"toolUseId":"t1","content":[{"text":"R"}]}}]}]}"#,
    ),
    failure(
        "bedrock.converse",
        "BE-ERREMPTY",
        "messages[2].content[0].toolResult.content",
        "cannot be empty when status value is error.",
        r#"{"messages":[{"role":"user","content":[{"text":"Go."}]},{"role":"assistant","content":[{"toolUse":{"toolUseId":"t1","name":"f","input":{}}}]},{"role":"user","content":[{"toolResult":{"toolUseId":"t1","status":"error","content":[]}}]}],"toolConfig":{"tools":[{"toolSpec":{"name":"f","inputSchema":{"json":{}}}}]}}"#,
    ),
    failure(
        "ollama.chat",
        "OL-ARGS",
        "messages[1].tool_calls[0].function.arguments",
        "json: cannot unmarshal string into Go struct field",
        r#"{"model":"llama3.2","messages":[{"role":"user","content":"Go."},{"role":"assistant","content":"","tool_calls":[{"function":{"name":"f","arguments":"{\"a\":1}"}}]},{"role":"tool","tool_name":"f","content":"R"}]}"#,
    ),
];

#[test]
fn classic_failures_are_explained() {
    let mut wrong = Vec::new();
    for Failure { target, rule, at, says, body } in FAILURES {
        let found = lint(Input::new(body.as_bytes()), target, Strictness::Lax).unwrap();
        let fits = found.iter().any(|finding| {
            let id = target.split(':').next().unwrap();
            let fix = turnkeep_codec::lint::rules(id).into_iter().find(|known| known.id == *rule).map(|rule| rule.fix);
            let told = finding.what.contains(says) && fix.is_some_and(|fix| finding.what.contains(fix));
            finding.rule == *rule && finding.at == *at && told
        });
        if !fits {
            wrong.push(format!("{target} {rule} {at}: {found:#?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn classic_failures_are_repaired() {
    let mut wrong = Vec::new();
    for Failure { target, rule, body, .. } in FAILURES {
        let target = target_of(target);
        let decoded = target.codec.decode(Input::new(body.as_bytes()), &DecodeOptions::default()).unwrap();
        let session = decoded.archive.main_session().unwrap();
        let repaired = repair(session, Some(body.as_bytes()), &target, &EncodeOptions::default()).unwrap();
        let errors: Vec<_> =
            repaired.after.iter().filter(|finding| finding.severity == Severity::Error).map(|f| f.rule).collect();
        if !errors.is_empty() {
            wrong.push(format!("{rule}: {errors:?}\n{}", String::from_utf8_lossy(&repaired.body)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn target_of(text: &str) -> Target {
    let (id, variant) = text.split_once(':').map_or((text, None), |(id, variant)| (id, Some(variant)));
    Target { codec: wire(id), variant: variant.map(str::to_owned) }
}
