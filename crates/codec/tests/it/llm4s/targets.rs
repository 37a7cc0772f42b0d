//! Reasoning settings of a state, in the requests of every vendor.

use turnkeep_codec::{DecodeOptions, EncodeOptions, Input, Target, convert, format};
use turnkeep_model::json::{self, Json, Node};
use turnkeep_model::{Loss, LossKind};

fn request(reasoning: &str, budget: &str, max: &str, wire: &str) -> (Json, Vec<Loss>) {
    let state = format!(
        r#"{{"conversation":{{"messages":[{{"type":"user","content":"Hello"}}]}},"initialQuery":null,"status":"InProgress","logs":[],"systemMessage":null,"completionOptions":{{"temperature":1.0,"topP":1.0,"maxTokens":{max},"presencePenalty":0.0,"frequencyPenalty":0.0,"reasoning":{reasoning},"budgetTokens":{budget}}},"usageSummary":{{"requestCount":0,"inputTokens":0,"outputTokens":0,"thinkingTokens":0,"totalCost":0,"byModel":{{}}}}}}"#
    );
    let from = format::by_id("llm4s.state").unwrap();
    let input = Input::new(state.as_bytes());
    let target = Target::parse(wire).unwrap();
    let made = convert(input, Some(from), &target, &DecodeOptions::default(), &EncodeOptions::default()).unwrap();
    let body = json::parse(std::str::from_utf8(&made.bytes).unwrap()).map(Node::into_json).unwrap();
    (body, made.losses)
}

fn budget(body: &Json) -> Option<u64> {
    body.as_object()?.get("thinking")?.as_object()?.get("budget_tokens")?.as_number()?.as_u64()
}

#[test]
fn a_budget_is_clamped_to_what_the_vendor_takes() {
    let clamped = [("2048", "4096"), ("32768", "2048"), ("500", "8192")]
        .map(|(budget_tokens, max)| budget(&request("null", budget_tokens, max, "anthropic.messages").0));

    assert_eq!(clamped, [Some(2048), Some(2047), Some(1024)]);
    let (_, losses) = request("null", "32768", "2048", "anthropic.messages");
    assert!(
        losses.iter().any(|loss| loss.at == "options.budget_tokens" && loss.kind == LossKind::Coerced),
        "{losses:?}"
    );
}

#[test]
fn an_effort_is_in_the_request_or_in_the_report() {
    let wires =
        ["openai.chat", "openai.responses", "anthropic.messages", "gemini.contents", "ollama.chat", "bedrock.converse"];
    for wire in wires {
        let (body, losses) = request(r#""high""#, "null", "8192", wire);

        let text = body.to_text();
        let told = losses.iter().any(|loss| loss.at.starts_with("options.reasoning"));
        assert!(text.to_lowercase().contains("\"high\"") || told, "{wire}: {text} {losses:?}");
    }
}
