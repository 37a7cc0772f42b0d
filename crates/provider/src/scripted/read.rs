//! From YAML to a script.

use regex_lite::Regex;
use turnkeep_codec::wire::mock::Refusal;
use turnkeep_codec::yaml;
use turnkeep_model::json::{Node, Value};
use turnkeep_model::{Author, Block, CallId, Error, ErrorKind, FinishReason, Reasoning, Result, Text, ToolCall, Usage};

use super::fields::{Fields, count, json_text, span, text, wrong};
use super::script::{Failure, Matcher, Pauses, Said, Script, Signatures, When};

/// The version of the format: 1, the first.
const VERSION: u64 = 1;
const KEY: &str = "turnkeep_script";

/// The script of a text, if it says that it is one.
pub(super) fn script(source: &str) -> Option<Result<Script>> {
    let node = match yaml::parse(source) {
        Ok((node, _)) => node,
        // A file that claims to be a script and does not parse is a wrong script.
        Err(error) => return source.lines().any(|line| line.starts_with(KEY)).then(|| Err(error.locate(source))),
    };
    node.get(KEY)?;
    Some(read(node).map_err(|error| error.locate(source)))
}

fn read(node: Node<'_>) -> Result<Script> {
    let mut fields = Fields::of(node, &[KEY, "model", "created", "piece", "signatures", "answers"])?;
    let at = fields.at();
    if fields.count(KEY)? != Some(VERSION) {
        return Err(Error::new(ErrorKind::Unsupported, "the script is of a newer version").hint("update turnkeep"));
    }
    let answers = fields.items("answers")?;
    if answers.is_empty() {
        return Err(wrong(at, "a script has `answers`"));
    }
    let mut script = Script::new(answers.into_iter().map(said).collect::<Result<_>>()?);
    script.model = fields.text("model")?;
    if let Some(node) = fields.take("created") {
        script.created = created(&node)?;
    }
    if let Some(piece) = fields.count("piece")? {
        script.piece = usize::try_from(piece).unwrap_or(usize::MAX).max(1);
    }
    if let Some(node) = fields.take("signatures") {
        script.signatures = signatures(&node)?;
    }
    fields.end()?;
    Ok(script)
}

fn created(node: &Node<'_>) -> Result<i64> {
    if let Some(seconds) = node.as_number().and_then(|number| number.as_i64()) {
        return Ok(seconds);
    }
    let time: Option<jiff::Timestamp> = node.as_str().and_then(|text| text.parse().ok());
    time.map(jiff::Timestamp::as_second).ok_or_else(|| wrong(node.at, "expected a time as `2026-01-31T12:00:00Z`"))
}

fn signatures(node: &Node<'_>) -> Result<Signatures> {
    match node.as_str().as_deref() {
        Some("any") => Ok(Signatures::Any),
        Some("own") => Ok(Signatures::Own),
        _ => Err(wrong(node.at, "`signatures` is `any` or `own`")),
    }
}

const SAID: &[&str] =
    &["when", "failures", "error", "reasoning", "text", "calls", "blocks", "finish", "usage", "delay"];

fn said(node: Node<'_>) -> Result<Said> {
    // A bare text is an answer of this text.
    if node.as_str().is_some() {
        return Ok(Said::blocks(vec![Block::text(Author::Assistant, text(node)?)]));
    }
    let mut fields = Fields::of(node, SAID)?;
    let mut said = Said { blocks: content(&mut fields)?, ..Said::default() };
    said.when = fields.take("when").map(when).transpose()?;
    said.failures = fields.items("failures")?.into_iter().map(failure).collect::<Result<_>>()?;
    said.failures.extend(fields.take("error").map(failure).transpose()?);
    said.finish = fields.text("finish")?.map(|word| FinishReason::from_word(&word));
    said.usage = fields.take("usage").map(usage).transpose()?;
    said.pauses = fields.take("delay").map(pauses).transpose()?.unwrap_or_default();
    let at = fields.at();
    fields.end()?;
    if said.blocks.is_empty() && said.failures.is_empty() {
        return Err(wrong(at, "an answer says something or fails").hint(format!("fields: {}", SAID.join(", "))));
    }
    Ok(said)
}

/// The content: thinking, text and calls, or blocks in an order of their own.
fn content(fields: &mut Fields<'_>) -> Result<Vec<Block>> {
    let mut blocks: Vec<Block> = Vec::new();
    blocks.extend(fields.take("reasoning").map(reasoning).transpose()?);
    blocks.extend(fields.text("text")?.map(|text| Block::text(Author::Assistant, text)));
    for node in fields.items("calls")? {
        blocks.push(call(node)?);
    }
    for node in fields.items("blocks")? {
        blocks.push(block(node)?);
    }
    Ok(blocks)
}

fn block(node: Node<'_>) -> Result<Block> {
    let mut fields = Fields::of(node, &["text", "reasoning", "call"])?;
    let at = fields.at();
    let said = fields.text("text")?.map(|text| Block::new(Author::Assistant, Text { text }));
    let thought = fields.take("reasoning").map(reasoning).transpose()?;
    let called = fields.take("call").map(call).transpose()?;
    fields.end()?;
    let mut found = said.into_iter().chain(thought).chain(called);
    match (found.next(), found.next()) {
        (Some(block), None) => Ok(block),
        _ => Err(wrong(at, "a block is one of text, reasoning, call")),
    }
}

fn reasoning(node: Node<'_>) -> Result<Block> {
    if node.as_str().is_some() {
        let text = Some(text(node)?);
        return Ok(Block::new(Author::Assistant, Reasoning { text, ..Reasoning::default() }));
    }
    let mut fields = Fields::of(node, &["text", "summary", "signature", "encrypted"])?;
    let reasoning = Reasoning {
        text: fields.text("text")?,
        summary: fields.items("summary")?.into_iter().map(text).collect::<Result<_>>()?,
        signature: fields.text("signature")?,
        encrypted: fields.text("encrypted")?,
        scope: None,
    };
    fields.end()?;
    Ok(Block::new(Author::Assistant, reasoning))
}

/// A call without an id gets one when it is made.
fn call(node: Node<'_>) -> Result<Block> {
    let mut fields = Fields::of(node, &["name", "arguments", "id"])?;
    let at = fields.at();
    let name = fields.text("name")?.ok_or_else(|| wrong(at, "a call has a `name`"))?;
    let arguments = fields.take("arguments").map_or_else(|| "{}".to_owned(), json_text);
    let call = fields.text("id")?.map_or(CallId::Minted(0), CallId::given);
    fields.end()?;
    Ok(Block::new(Author::Assistant, ToolCall { call, name, arguments }))
}

fn usage(node: Node<'_>) -> Result<Usage> {
    let mut fields = Fields::of(node, &["input", "output", "cached_read", "cached_write", "reasoning"])?;
    let usage = Usage {
        input: fields.count("input")?,
        output: fields.count("output")?,
        cached_read: fields.count("cached_read")?,
        cached_write: fields.count("cached_write")?,
        reasoning: fields.count("reasoning")?,
        ..Usage::default()
    };
    fields.end()?;
    Ok(usage)
}

fn pauses(node: Node<'_>) -> Result<Pauses> {
    if !node.is_object() {
        return Ok(Pauses { first: span(&node)?, ..Pauses::default() });
    }
    let mut fields = Fields::of(node, &["first", "between"])?;
    let pauses = Pauses {
        first: fields.span("first")?.unwrap_or_default(),
        between: fields.span("between")?.unwrap_or_default(),
    };
    fields.end()?;
    Ok(pauses)
}

fn when(node: Node<'_>) -> Result<When> {
    let mut fields = Fields::of(node, &["user", "results", "model"])?;
    let mut matcher = |key: &str| fields.take(key).map(matcher).transpose();
    let when = When { user: matcher("user")?, results: matcher("results")?, model: matcher("model")? };
    fields.end()?;
    Ok(when)
}

/// A text is part of what it looks for; `{matches: …}` is a pattern.
fn matcher(node: Node<'_>) -> Result<Matcher> {
    if !node.is_object() {
        return Ok(Matcher::Contains(text(node)?));
    }
    let mut fields = Fields::of(node, &["contains", "matches"])?;
    let at = fields.at();
    let part = fields.text("contains")?.map(Matcher::Contains);
    let pattern = fields.text("matches")?;
    fields.end()?;
    match (part, pattern) {
        (Some(part), None) => Ok(part),
        (None, Some(pattern)) => {
            Regex::new(&pattern).map(Matcher::Pattern).map_err(|_| wrong(at, "this is no pattern that can be read"))
        }
        _ => Err(wrong(at, "one of `contains` and `matches` is needed")),
    }
}

const FAILURE: &[&str] =
    &["status", "class", "message", "retry_after", "after", "cut", "malformed", "unreachable", "silent"];

fn failure(node: Node<'_>) -> Result<Failure> {
    let mut fields = Fields::of(node, FAILURE)?;
    let at = fields.at();
    let status = fields.count("status")?;
    let (class, message) = (fields.text("class")?, fields.text("message")?);
    let (after, retry_after) = (fields.count("after")?, fields.count("retry_after")?);
    let events = |node: Node<'_>| count(&node).map(|count| usize::try_from(count).unwrap_or(usize::MAX));
    let cut = fields.take("cut").map(events).transpose()?;
    let malformed = fields.take("malformed").map(events).transpose()?;
    let (unreachable, silent) = (is_set(fields.take("unreachable"))?, is_set(fields.take("silent"))?);
    fields.end()?;
    let refusal = |status: u64| -> Result<Refusal> {
        let status = u16::try_from(status).ok().filter(|status| (400..600).contains(status));
        let status = status.ok_or_else(|| wrong(at, "the status of a failure is from 400 to 599"))?;
        Ok(Refusal {
            status,
            class: class.clone(),
            message: message.clone().unwrap_or_else(|| "scripted failure".into()),
        })
    };
    match (status, cut, malformed) {
        (Some(status), None, None) => match after {
            Some(after) => {
                Ok(Failure::Late { after: usize::try_from(after).unwrap_or(usize::MAX), refusal: refusal(status)? })
            }
            None => Ok(Failure::Refused { refusal: refusal(status)?, retry_after }),
        },
        (None, Some(after), None) => Ok(Failure::Cut { after }),
        (None, None, Some(after)) => Ok(Failure::Malformed { after }),
        (None, None, None) if unreachable => Ok(Failure::Unreachable),
        (None, None, None) if silent => Ok(Failure::Silent),
        _ => Err(wrong(at, "a failure is one of status, cut, malformed, unreachable, silent")),
    }
}

fn is_set(node: Option<Node<'_>>) -> Result<bool> {
    match node.map(|node| (node.at, node.value)) {
        None | Some((_, Value::Bool(false))) => Ok(false),
        Some((_, Value::Bool(true))) => Ok(true),
        Some((at, _)) => Err(wrong(at, "expected `true`")),
    }
}
