//! What the vendor refuses, as data.

use turnkeep_model::json::{Node, Value};

use super::view::{Content, PartAt, Request};
use crate::lint::Severity::{self, Error, Warning};
use crate::wire::Evidence::{self, Answer, Stated};

/// One thing that the vendor refuses or does not like.
pub(super) struct Rule {
    pub(super) id: &'static str,
    pub(super) severity: Severity,
    /// Which models have it, in words.
    pub(super) models: &'static str,
    pub(super) evidence: Evidence,
    pub(super) fix: &'static str,
    /// The places that break it.
    pub(super) check: fn(&Request<'_, '_>) -> Vec<Hit>,
}

/// A place, and the byte where it stands.
pub(super) type Hit = (String, u32);

const fn rule(
    id: &'static str,
    severity: Severity,
    evidence: Evidence,
    fix: &'static str,
    check: fn(&Request<'_, '_>) -> Vec<Hit>,
) -> Rule {
    Rule { id, severity, models: "all", evidence, fix, check }
}

const COUNT: Evidence = Answer(
    "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.",
);
const AFTER_CALL: Evidence =
    Answer("Please ensure that function response turn comes immediately after a function call turn.");
const AFTER_USER: Evidence = Answer(
    "Please ensure that function call turn comes immediately after a user turn or after a function response turn.",
);

/// Every rule.
pub(super) const RULES: &[Rule] = &[
    rule(
        "GE-EMPTY",
        Error,
        Answer("* GenerateContentRequest.contents: contents is not specified"),
        "send at least one content",
        empty,
    ),
    rule("GE-ROLE", Error, Answer("Please use a valid role: user, model."), "name the role `user` or `model`", roles),
    rule("GE-CALLPOS", Error, AFTER_USER, "begin the history with a user's turn", calls_first),
    rule("GE-RESPOS", Error, AFTER_CALL, "put the responses right after their calls, or drop them", orphans),
    rule(
        "GE-DANGLING",
        Error,
        COUNT,
        "answer every call of the turn, saying so where its outcome is unknown",
        dangling,
    ),
    rule("GE-COUNT", Error, COUNT, "answer every call of the turn once, in the turn after it", counts),
    rule("GE-RESNAME", Error, AFTER_CALL, "name the response after the call it answers, with the same id", names),
    Rule {
        id: "GE-SIG",
        severity: Error,
        models: "Gemini 3, in the turn that is going on",
        evidence: Answer(
            "Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly.",
        ),
        fix: "send the signature that came with the call, or `skip_thought_signature_validator` for a call of another model",
        check: unsigned,
    },
    rule(
        "GE-CALLROLE",
        Error,
        Stated("calls are the model\'s and responses the user\'s, by the documentation"),
        "calls are the model's, responses the user's",
        wrong_side,
    ),
    rule(
        "GE-ONEOF",
        Error,
        Stated("a part is one of text, data, call, response and the like, by the SDK\'s types"),
        "make one part of each",
        several,
    ),
    rule(
        "GE-ARGS",
        Error,
        Stated("arguments are an object, by the SDK\'s types"),
        "give the arguments as an object",
        |request| not_object(request, "functionCall", "args"),
    ),
    rule(
        "GE-RESOBJ",
        Error,
        Stated("a response is an object, by the SDK\'s types"),
        "give the response as an object: `output` holds what came out, `error` what went wrong",
        |request| not_object(request, "functionResponse", "response"),
    ),
    rule(
        "GE-NAME",
        Error,
        Stated(
            "names begin with a letter or _, hold letters, digits, _ . : - and have at most 64 characters, by the documentation",
        ),
        "rename the tool, in its declaration and in its calls",
        illegal_names,
    ),
    rule(
        "GE-TEMP",
        Error,
        Answer(
            "Unable to submit request because it has a temperature value of 1000 but the supported range is from 0 (inclusive) to 2.0001 (exclusive). Update the value and try again.",
        ),
        "choose a temperature between 0 and 2",
        temperature,
    ),
    rule(
        "GE-NOPARTS",
        Warning,
        Stated("a content without parts was accepted in recordings, but says nothing"),
        "drop the content",
        no_parts,
    ),
    rule("GE-NODATA", Warning, Stated("a part says something, by the SDK's types"), "drop the part", no_data),
    rule(
        "GE-LASTMODEL",
        Warning,
        Stated("accepted, but models may answer nothing, as clients report"),
        "end with the user's turn",
        last_model,
    ),
];

fn empty(request: &Request<'_, '_>) -> Vec<Hit> {
    if request.contents.is_empty() { vec![("contents".to_owned(), request.body.at)] } else { Vec::new() }
}

fn contents(request: &Request<'_, '_>, broken: impl Fn(&Content<'_, '_>) -> bool) -> Vec<Hit> {
    request.contents.iter().filter(|content| broken(content)).map(Content::hit).collect()
}

fn parts(request: &Request<'_, '_>, broken: impl Fn(&PartAt<'_, '_>) -> bool) -> Vec<Hit> {
    let all = request.contents.iter().flat_map(|content| &content.parts);
    all.filter(|part| broken(part)).map(PartAt::hit).collect()
}

fn roles(request: &Request<'_, '_>) -> Vec<Hit> {
    contents(request, |content| !matches!(content.role.as_str(), "" | "user" | "model" | "function"))
}

fn calls_first(request: &Request<'_, '_>) -> Vec<Hit> {
    let first = request.contents.first().filter(|first| first.role == "model");
    let call = first.and_then(|first| first.parts.iter().find(|part| part.call().is_some()));
    call.map(PartAt::hit).into_iter().collect()
}

/// Every turn with the one before it.
fn orphans(request: &Request<'_, '_>) -> Vec<Hit> {
    let mut hits = Vec::new();
    let mut before: Option<&Content<'_, '_>> = None;
    for content in &request.contents {
        let called = before.is_some_and(|before| before.calls().next().is_some());
        if !called {
            let responses = content.parts.iter().filter(|part| part.response().is_some());
            hits.extend(responses.map(PartAt::hit));
        }
        before = Some(content);
    }
    hits
}

/// Turns of calls with the turn that follows them. The last one may still wait for its responses.
fn followed<'c, 'b, 'a>(
    request: &'c Request<'b, 'a>,
) -> impl Iterator<Item = (&'c Content<'b, 'a>, &'c Content<'b, 'a>)> {
    let pairs = request.contents.iter().zip(request.contents.iter().skip(1));
    pairs.filter(|(content, _)| content.calls().next().is_some())
}

fn dangling(request: &Request<'_, '_>) -> Vec<Hit> {
    let open = followed(request).filter(|(_, next)| next.responses().next().is_none());
    open.flat_map(|(content, _)| content.parts.iter().filter(|part| part.call().is_some()).map(PartAt::hit)).collect()
}

fn counts(request: &Request<'_, '_>) -> Vec<Hit> {
    let wrong = followed(request).filter(|(content, next)| {
        let answered = next.responses().count();
        answered > 0 && answered != content.calls().count()
    });
    wrong.map(|(content, _)| content.hit()).collect()
}

fn names(request: &Request<'_, '_>) -> Vec<Hit> {
    let wrong = followed(request).filter(|(content, next)| {
        let (calls, responses) = (content.calls().count(), next.responses().count());
        let of = |key: &str| (sorted(content.calls(), key), sorted(next.responses(), key));
        let ((called, answered), (ids, answers)) = (of("name"), of("id"));
        let ids_differ = ids.len() == calls && answers.len() == responses && ids != answers;
        calls == responses && (called != answered || ids_differ)
    });
    wrong.map(|(_, next)| next.hit()).collect()
}

fn sorted<'b, 'a: 'b>(nodes: impl Iterator<Item = &'b Node<'a>>, key: &str) -> Vec<String> {
    let mut words: Vec<String> =
        nodes.filter_map(|node| node.get(key).and_then(Node::as_str).map(std::borrow::Cow::into_owned)).collect();
    words.sort();
    words
}

/// The first call of every answer since the user last spoke is signed.
fn unsigned(request: &Request<'_, '_>) -> Vec<Hit> {
    if !request.model().contains("gemini-3") {
        return Vec::new();
    }
    let speaks = |content: &Content<'_, '_>| content.role != "model" && content.responses().next().is_none();
    let since = request.contents.iter().rposition(speaks).map_or(0, |last| last + 1);
    let answers = request.contents.iter().skip(since);
    let first = answers.filter_map(|content| content.parts.iter().find(|part| part.call().is_some()));
    first.filter(|part| part.named("thoughtSignature").is_none()).map(PartAt::hit).collect()
}

fn wrong_side(request: &Request<'_, '_>) -> Vec<Hit> {
    let wrong = |content: &&Content<'_, '_>| match content.role.as_str() {
        "model" => content.responses().next().is_some(),
        "user" | "function" => content.calls().next().is_some(),
        _ => false,
    };
    request.contents.iter().filter(wrong).map(Content::hit).collect()
}

/// What a part can be; it is one of them.
const DATA: &[&str] = &[
    "text",
    "inlineData",
    "fileData",
    "functionCall",
    "functionResponse",
    "executableCode",
    "codeExecutionResult",
    "toolCall",
    "toolResponse",
];

fn several(request: &Request<'_, '_>) -> Vec<Hit> {
    parts(request, |part| DATA.iter().filter(|key| part.named(key).is_some()).count() > 1)
}

fn not_object(request: &Request<'_, '_>, kind: &str, field: &str) -> Vec<Hit> {
    parts(request, |part| {
        let inner = part.named(kind).and_then(|inner| inner.get(field));
        inner.is_some_and(|value| !matches!(value.value, Value::Object(_) | Value::Null))
    })
}

fn illegal_names(request: &Request<'_, '_>) -> Vec<Hit> {
    let legal = |name: &str| {
        let first = name.chars().next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
        first
            && name.len() <= 64
            && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | ':' | '-'))
    };
    parts(request, |part| {
        part.call().is_some_and(|call| !call.get("name").and_then(Node::as_str).is_some_and(|name| legal(&name)))
    })
}

fn temperature(request: &Request<'_, '_>) -> Vec<Hit> {
    let config = request.body.get("generationConfig").or_else(|| request.body.get("generation_config"));
    let Some(node) = config.and_then(|config| config.get("temperature")) else { return Vec::new() };
    let number = node.clone().into_json().as_number().map(turnkeep_model::Number::as_f64);
    let wrong = number.is_some_and(|number| !(0.0..2.0001).contains(&number));
    if wrong { vec![("generationConfig.temperature".to_owned(), node.at)] } else { Vec::new() }
}

fn no_parts(request: &Request<'_, '_>) -> Vec<Hit> {
    contents(request, |content| content.parts.is_empty())
}

fn no_data(request: &Request<'_, '_>) -> Vec<Hit> {
    parts(request, |part| !DATA.iter().any(|key| part.named(key).is_some()))
}

fn last_model(request: &Request<'_, '_>) -> Vec<Hit> {
    let last = request.contents.last().filter(|last| last.role == "model");
    last.map(Content::hit).into_iter().collect()
}
