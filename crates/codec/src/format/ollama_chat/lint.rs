//! What Ollama refuses, as data.

use turnkeep_model::json::{Node, Value};
use turnkeep_model::{Result, line_and_column};

use crate::codec::DecodeOptions;
use crate::input::{Document, Input};
use crate::lint::Severity::{Error, Warning};
use crate::lint::{Finding, Strictness};
use crate::models;
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

/// What is told of calls that nothing answers.
const DANGLING: crate::lint::Rule = crate::lint::Rule {
    id: "OL-DANGLING",
    severity: Warning,
    models: "all",
    evidence: "nothing; the model wonders, or calls again",
    fix: "answer the call, saying that its outcome is unknown where it is",
};

/// Every rule.
pub(crate) fn rules() -> Vec<&'static crate::lint::Rule> {
    RULES.iter().map(|rule| &rule.told).chain([&ORPHAN, &DANGLING]).collect()
}

/// Checks a body against the rules.
///
/// # Errors
/// Where the bytes are unusable.
pub(crate) fn lint(input: &Input<'_>, strictness: Strictness) -> Result<Vec<Finding>> {
    let document = input.document().ok().filter(|document| document.node.get("messages").is_some());
    if let Some(document) = document {
        return Ok(check(&document.node, document.text, strictness));
    }
    let (_, decoded) = crate::convert::decode(input.again(), None, &DecodeOptions::default())?;
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
    findings.extend(unpaired(messages, text));
    findings.extend(models::findings(super::ID, None, body, Some(text), strictness));
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

/// Results beyond the calls before them, and calls that the talk goes on without. Ollama takes both; the model wonders.
fn unpaired(messages: &[Node<'_>], text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut open: Vec<(usize, u32)> = Vec::new();
    for (index, message) in messages.iter().enumerate() {
        let is_result = message.get("role").and_then(Node::as_str).is_some_and(|role| role == "tool");
        if is_result && open.is_empty() {
            findings.push(told(&ORPHAN, index, message.at, text));
        } else if is_result {
            open.remove(0);
        } else {
            findings.extend(open.drain(..).map(|(index, at)| told(&DANGLING, index, at, text)));
        }
        let calls = message.get("tool_calls").and_then(Node::as_array).map_or(0, <[_]>::len);
        open.extend(std::iter::repeat_n((index, message.at), calls));
    }
    findings
}

fn told(rule: &crate::lint::Rule, index: usize, at: u32, text: &str) -> Finding {
    let line = Some(line_and_column(text, at as usize).0);
    let what = format!("{}; {}", rule.evidence, rule.fix);
    Finding { rule: rule.id, severity: rule.severity, at: format!("messages[{index}]"), line, what }
}
