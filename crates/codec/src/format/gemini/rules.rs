//! What the vendor refuses, as data.

use std::borrow::Cow;

use turnkeep_model::json::{Node, Value};

use super::SPELLINGS;
use crate::lint::rule::Evidence::{self, Answer, Stated};
use crate::lint::rule::{Hit, Rule, error, warning};
use crate::lint::view::{Block, RequestShape, RequestView, Run};

/// Contents have parts, in either spelling.
pub(super) const SHAPE: RequestShape = RequestShape {
    is_request: |body| ["contents", "generationConfig", "systemInstruction"].iter().any(|key| body.get(key).is_some()),
    lists: &["parts"],
    kinds,
    call_key: |_| None,
    message_call: None,
    class: |_| 0,
};

/// What a part is: the data it holds, of which it should have one.
fn kinds<'b, 'a>(_: &'static str, part: &'b Node<'a>, found: &mut dyn FnMut(Cow<'b, str>, &'b Node<'a>)) {
    if !part.is_object() {
        return;
    }
    let mut held = DATA.iter().filter(|kind| named(part, kind).is_some()).peekable();
    if held.peek().is_none() {
        found("".into(), part);
    }
    held.for_each(|kind| found((*kind).into(), part));
}

/// What stands under a key of a part, in either spelling; `null` is nothing.
fn named<'b, 'a>(part: &'b Node<'a>, key: &str) -> Option<&'b Node<'a>> {
    let snake = || SPELLINGS.iter().find(|(camel, _)| *camel == key).and_then(|(_, snake)| part.get(snake));
    part.get(key).or_else(snake).filter(|node| node.value != Value::Null)
}

const COUNT: Evidence = Answer(
    "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.",
);
const AFTER_CALL: Evidence =
    Answer("Please ensure that function response turn comes immediately after a function call turn.");
const AFTER_USER: Evidence = Answer(
    "Please ensure that function call turn comes immediately after a user turn or after a function response turn.",
);

pub(super) static RULES: &[Rule] = &[
    error("GE-EMPTY", Answer("* GenerateContentRequest.contents: contents is not specified"),
        "send at least one content",
        empty,
    ),
    error("GE-ROLE", Answer("Please use a valid role: user, model."), "name the role `user` or `model`", roles),
    error("GE-CALLPOS", AFTER_USER, "begin the history with a user's turn", calls_first),
    error("GE-RESPOS", AFTER_CALL, "put the responses right after their calls, or drop them", orphans),
    error("GE-DANGLING", COUNT,
        "answer every call of the turn, saying so where its outcome is unknown",
        dangling,
    ),
    error("GE-COUNT", COUNT, "answer every call of the turn once, in the turn after it", counts),
    error("GE-RESNAME", AFTER_CALL, "name the response after the call it answers, with the same id", names),
    error(
        "GE-SIG",
        Answer(
            "Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly.",
        ),
        "send the signature that came with the call, or `skip_thought_signature_validator` for a call of another model",
        unsigned,
    )
    .of("Gemini 3, in the turn that is going on", |view| view.body.get_str("model").is_some_and(|model| model.contains("gemini-3"))),
    error("GE-CALLROLE", Stated("calls are the model\'s and responses the user\'s, by the documentation"),
        "calls are the model's, responses the user's",
        wrong_side,
    ),
    error("GE-ONEOF", Stated("a part is one of text, data, call, response and the like, by the SDK\'s types"),
        "make one part of each",
        several,
    ),
    error("GE-ARGS", Stated("arguments are an object, by the SDK\'s types"),
        "give the arguments as an object",
        |view| not_object(view, "functionCall", "args"),
    ),
    error("GE-RESOBJ", Stated("a response is an object, by the SDK\'s types"),
        "give the response as an object: `output` holds what came out, `error` what went wrong",
        |view| not_object(view, "functionResponse", "response"),
    ),
    error("GE-NAME", Stated(
            "names begin with a letter or _, hold letters, digits, _ . : - and have at most 64 characters, by the documentation",
        ),
        "rename the tool, in its declaration and in its calls",
        illegal_names,
    ),
    error("GE-TEMP", Answer(
            "Unable to submit request because it has a temperature value of 1000 but the supported range is from 0 (inclusive) to 2.0001 (exclusive). Update the value and try again.",
        ),
        "choose a temperature between 0 and 2",
        temperature,
    ),
    warning("GE-NOPARTS", Stated("a content without parts was accepted in recordings, but says nothing"),
        "drop the content",
        no_parts,
    ),
    warning("GE-NODATA", Stated("a part says something, by the SDK's types"), "drop the part", no_data),
    warning("GE-LASTMODEL", Stated("accepted, but models may answer nothing, as clients report"),
        "end with the user's turn",
        last_model,
    ),
];

/// The contents of one role in a row, which the vendor merges, unless there is nothing to merge with.
fn turns<'v, 'b, 'a>(view: &'v RequestView<'b, 'a>) -> Vec<Run<'v, 'b, 'a>> {
    view.runs(|content| content.node.is_object(), |run| run.blocks().next().is_none())
}

fn has_calls(turn: &Run<'_, '_, '_>) -> bool {
    calls(turn).next().is_some()
}

fn has_responses(turn: &Run<'_, '_, '_>) -> bool {
    responses(turn).next().is_some()
}

/// The parts of a turn that hold an object under a key, each with that object.
fn held<'v, 'b, 'a>(
    turn: &Run<'v, 'b, 'a>,
    kind: &'static str,
) -> impl Iterator<Item = (&'v Block<'b, 'a>, &'b Node<'a>)> + use<'v, 'b, 'a> {
    let parts = turn.of_kind(kind);
    parts.filter_map(move |part| Some((part, named(part.node, kind).filter(|held| held.is_object())?)))
}

fn calls<'v, 'b, 'a>(
    turn: &Run<'v, 'b, 'a>,
) -> impl Iterator<Item = (&'v Block<'b, 'a>, &'b Node<'a>)> + use<'v, 'b, 'a> {
    held(turn, "functionCall")
}

fn responses<'v, 'b, 'a>(
    turn: &Run<'v, 'b, 'a>,
) -> impl Iterator<Item = (&'v Block<'b, 'a>, &'b Node<'a>)> + use<'v, 'b, 'a> {
    held(turn, "functionResponse")
}

fn hit(part: &Block<'_, '_>) -> Hit {
    part.hit("", "")
}

fn empty(view: &RequestView<'_, '_>) -> Vec<Hit> {
    RequestView::hit_if(turns(view).is_empty(), "contents", "")
}

fn roles(view: &RequestView<'_, '_>) -> Vec<Hit> {
    let is_known = |turn: &Run<'_, '_, '_>| matches!(turn.role, "" | "user" | "model" | "function");
    turns(view).iter().filter(|turn| !is_known(turn)).map(Run::hit).collect()
}

fn calls_first(view: &RequestView<'_, '_>) -> Vec<Hit> {
    let turns = turns(view);
    let first = turns.first().filter(|first| first.role == "model");
    first.and_then(|first| calls(first).next()).map(|(part, _)| hit(part)).into_iter().collect()
}

fn orphans(view: &RequestView<'_, '_>) -> Vec<Hit> {
    let turns = turns(view);
    let before = std::iter::once(None).chain(turns.iter().map(Some));
    let orphaned = turns.iter().zip(before).filter(|(_, before)| !before.is_some_and(has_calls));
    orphaned.flat_map(|(turn, _)| responses(turn)).map(|(part, _)| hit(part)).collect()
}

/// Turns of calls with the turn that follows them. The last one may still wait for its responses.
fn followed<'r, 'v, 'b, 'a>(
    turns: &'r [Run<'v, 'b, 'a>],
) -> impl Iterator<Item = (&'r Run<'v, 'b, 'a>, &'r Run<'v, 'b, 'a>)> {
    turns.iter().zip(turns.iter().skip(1)).filter(|(turn, _)| has_calls(turn))
}

fn dangling(view: &RequestView<'_, '_>) -> Vec<Hit> {
    let turns = turns(view);
    let open = followed(&turns).filter(|(_, next)| !has_responses(next));
    open.flat_map(|(turn, _)| calls(turn)).map(|(part, _)| hit(part)).collect()
}

fn counts(view: &RequestView<'_, '_>) -> Vec<Hit> {
    let turns = turns(view);
    let wrong = followed(&turns).filter(|(turn, next)| {
        let answered = responses(next).count();
        answered > 0 && answered != calls(turn).count()
    });
    wrong.map(|(turn, _)| turn.hit()).collect()
}

fn names(view: &RequestView<'_, '_>) -> Vec<Hit> {
    let turns = turns(view);
    let wrong = followed(&turns).filter(|(turn, next)| {
        let (called, answered) = (calls(turn).count(), responses(next).count());
        let differ = |key: &str| {
            let (ours, theirs) = (sorted(calls(turn), key), sorted(responses(next), key));
            // Ids may be left out, on either side.
            let are_told = key == "name" || ours.len() == called && theirs.len() == answered;
            are_told && ours != theirs
        };
        called == answered && (differ("name") || differ("id"))
    });
    wrong.map(|(_, next)| next.hit()).collect()
}

fn sorted<'v, 'b: 'v, 'a: 'b>(
    parts: impl Iterator<Item = (&'v Block<'b, 'a>, &'b Node<'a>)>,
    key: &str,
) -> Vec<Cow<'b, str>> {
    let mut words: Vec<_> = parts.filter_map(|(_, held)| held.get_str(key)).collect();
    words.sort();
    words
}

/// The first call of every answer since the user last spoke is signed.
fn unsigned(view: &RequestView<'_, '_>) -> Vec<Hit> {
    let turns = turns(view);
    let since = turns.iter().rposition(|turn| turn.role != "model" && !has_responses(turn)).map_or(0, |last| last + 1);
    let first = turns.iter().skip(since).filter_map(|turn| calls(turn).next());
    first.filter(|(part, _)| named(part.node, "thoughtSignature").is_none()).map(|(part, _)| hit(part)).collect()
}

fn wrong_side(view: &RequestView<'_, '_>) -> Vec<Hit> {
    let is_wrong = |turn: &&Run<'_, '_, '_>| match turn.role {
        "model" => has_responses(turn),
        "user" | "function" => has_calls(turn),
        _ => false,
    };
    turns(view).iter().filter(is_wrong).map(Run::hit).collect()
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

fn several(view: &RequestView<'_, '_>) -> Vec<Hit> {
    let again = view.blocks.iter().zip(view.blocks.iter().skip(1)).filter(|(part, next)| part.place == next.place);
    let mut places: Vec<_> = again.map(|(part, _)| part.place).collect();
    places.dedup();
    places.into_iter().map(|place| place.hit("")).collect()
}

fn not_object(view: &RequestView<'_, '_>, kind: &str, field: &str) -> Vec<Hit> {
    let wrong = view.of_kind(kind).filter(|part| {
        let inner = named(part.node, kind).and_then(|inner| inner.get(field));
        inner.is_some_and(|value| !matches!(value.value, Value::Object(_) | Value::Null))
    });
    wrong.map(hit).collect()
}

fn illegal_names(view: &RequestView<'_, '_>) -> Vec<Hit> {
    let legal = |name: &str| {
        let first = name.chars().next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
        first
            && name.len() <= 64
            && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | ':' | '-'))
    };
    let wrong = view.of_kind("functionCall").filter(|part| {
        let call = named(part.node, "functionCall").filter(|call| call.is_object());
        call.is_some_and(|call| !call.get_str("name").is_some_and(|name| legal(&name)))
    });
    wrong.map(hit).collect()
}

fn temperature(view: &RequestView<'_, '_>) -> Vec<Hit> {
    let config = view.body.get("generationConfig").or_else(|| view.body.get("generation_config"));
    let number = config.and_then(|config| config.get("temperature")?.as_number());
    let wrong = number.is_some_and(|number| !(0.0..2.0001).contains(&number.as_f64()));
    RequestView::hit_if(wrong, "generationConfig.temperature", "")
}

fn no_parts(view: &RequestView<'_, '_>) -> Vec<Hit> {
    turns(view).iter().filter(|turn| turn.blocks().next().is_none()).map(Run::hit).collect()
}

fn no_data(view: &RequestView<'_, '_>) -> Vec<Hit> {
    view.of_kind("").map(hit).collect()
}

fn last_model(view: &RequestView<'_, '_>) -> Vec<Hit> {
    turns(view).last().filter(|last| last.role == "model").map(Run::hit).into_iter().collect()
}
