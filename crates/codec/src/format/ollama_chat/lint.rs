//! What Ollama refuses, as data.

use turnkeep_model::json::{Node, Value};
use turnkeep_model::{Result, line_and_column};

use crate::codec::DecodeOptions;
use crate::input::{Document, Input};
use crate::lint::Severity::{Error, Warning};
use crate::lint::{Finding, Strictness};
use crate::wire::Kind;

/// One thing that Ollama refuses or does not like.
struct Rule {
    told: crate::lint::Rule,
    /// The places of a message that break it.
    check: fn(&Node<'_>, &str) -> Vec<(String, u32)>,
}

const RULES: &[Rule] = &[
    Rule {
        told: crate::lint::Rule {
            id: "OL-ROLE",
            severity: Error,
            models: "all",
            evidence: "invalid role: …, role must be one of [system, user, assistant, tool]",
            fix: "use one of these roles",
        },
        check: role,
    },
    Rule {
        told: crate::lint::Rule {
            id: "OL-CONTENT",
            severity: Error,
            models: "all",
            evidence: "json: cannot unmarshal array into Go struct field ChatRequest.messages.content of type string",
            fix: "write the content as one text, and images in `images`",
        },
        check: content,
    },
    Rule {
        told: crate::lint::Rule {
            id: "OL-ARGS",
            severity: Error,
            models: "all",
            evidence: "json: cannot unmarshal string into Go struct field ChatRequest.messages.tool_calls.function.arguments of type api.ToolCallFunctionArguments",
            fix: "write the arguments as an object",
        },
        check: arguments,
    },
    Rule {
        told: crate::lint::Rule {
            id: "OL-IMAGE",
            severity: Error,
            models: "all",
            evidence: "illegal base64 data at input byte 4",
            fix: "send the bytes of the image in base64, without a URL",
        },
        check: images,
    },
];

/// What is told of results beyond the calls before them.
const ORPHAN: crate::lint::Rule = crate::lint::Rule {
    id: "OL-ORPHAN",
    severity: Warning,
    models: "all",
    evidence: "nothing; the model wonders",
    fix: "drop the result",
};

/// Every rule.
pub(crate) fn rules() -> Vec<&'static crate::lint::Rule> {
    RULES.iter().map(|rule| &rule.told).chain([&ORPHAN]).collect()
}

/// Checks a body against the rules.
///
/// # Errors
/// Where the bytes are unusable.
pub(crate) fn lint(input: Input<'_>, strictness: Strictness) -> Result<Vec<Finding>> {
    let is_request = input.document().is_ok_and(|document| document.node.get("messages").is_some());
    if is_request {
        let Document { node, text, .. } = input.into_document()?;
        return Ok(check(&node, text, strictness));
    }
    let (_, decoded) = crate::convert::decode(input, None, &DecodeOptions::default())?;
    let Some(session) = decoded.archive.main_session() else { return Ok(Vec::new()) };
    if session.extra.spelling(super::ID, "kind").is_some() {
        return Ok(Vec::new());
    }
    let body = super::restore::parts(session, Kind::Request).request.unwrap_or_default().to_text();
    let Document { node, text, .. } = Input::new(body.as_bytes()).into_document()?;
    let mut findings = check(&node, text, strictness);
    findings.iter_mut().for_each(|finding| finding.line = None);
    Ok(findings)
}

fn check(body: &Node<'_>, text: &str, strictness: Strictness) -> Vec<Finding> {
    let messages = body.get("messages").and_then(Node::as_array).unwrap_or_default();
    let mut findings = Vec::new();
    for rule in RULES {
        let severity = if strictness == Strictness::Strict { Error } else { rule.told.severity };
        for (index, message) in messages.iter().enumerate() {
            for (at, offset) in (rule.check)(message, &format!("messages[{index}]")) {
                let what = format!("the vendor answers: {}; {}", rule.told.evidence, rule.told.fix);
                let line = Some(line_and_column(text, offset as usize).0);
                findings.push(Finding { rule: rule.told.id, severity, at, line, what });
            }
        }
    }
    findings.extend(orphans(messages, text));
    findings
}

fn role(message: &Node<'_>, at: &str) -> Vec<(String, u32)> {
    let role = message.get("role").and_then(Node::as_str).unwrap_or_default();
    let known = ["system", "user", "assistant", "tool"].contains(&&*role);
    if known { Vec::new() } else { vec![(format!("{at}.role"), message.at)] }
}

fn content(message: &Node<'_>, at: &str) -> Vec<(String, u32)> {
    match message.get("content") {
        Some(node) if !matches!(node.value, Value::Text(_) | Value::Null) => vec![(format!("{at}.content"), node.at)],
        _ => Vec::new(),
    }
}

fn arguments(message: &Node<'_>, at: &str) -> Vec<(String, u32)> {
    let calls = message.get("tool_calls").and_then(Node::as_array).unwrap_or_default().iter().enumerate();
    let wrong = calls.filter(|(_, call)| {
        let arguments = call.get("function").and_then(|function| function.get("arguments"));
        arguments.is_none_or(|arguments| arguments.as_object().is_none())
    });
    wrong.map(|(index, call)| (format!("{at}.tool_calls[{index}].function.arguments"), call.at)).collect()
}

fn images(message: &Node<'_>, at: &str) -> Vec<(String, u32)> {
    let images = message.get("images").and_then(Node::as_array).unwrap_or_default().iter().enumerate();
    let is_base64 = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '=');
    let wrong = images.filter(|(_, image)| !image.as_str().is_some_and(|bytes| bytes.chars().all(is_base64)));
    wrong.map(|(index, image)| (format!("{at}.images[{index}]"), image.at)).collect()
}

/// Results beyond the calls before them. Ollama takes them; the model wonders.
fn orphans(messages: &[Node<'_>], text: &str) -> Vec<Finding> {
    let mut open = 0usize;
    let mut findings = Vec::new();
    for (index, message) in messages.iter().enumerate() {
        open += message.get("tool_calls").and_then(Node::as_array).map_or(0, <[_]>::len);
        if message.get("role").and_then(Node::as_str).is_none_or(|role| role != "tool") {
            continue;
        }
        if open == 0 {
            let line = Some(line_and_column(text, message.at as usize).0);
            let what = "no call is open that this result answers; drop it".to_owned();
            findings.push(Finding {
                rule: "OL-ORPHAN",
                severity: Warning,
                at: format!("messages[{index}]"),
                line,
                what,
            });
        }
        open = open.saturating_sub(1);
    }
    findings
}
