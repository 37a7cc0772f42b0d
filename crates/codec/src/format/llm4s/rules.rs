//! The library's rules of a conversation, which it does not apply itself when it loads one.

use turnkeep_model::Result;
use turnkeep_model::json::Node;

use crate::input::Input;
use crate::lint::{Finding, Severity, Strictness};

/// A message as the rules see it.
struct CheckedMessage<'a> {
    kind: String,
    text: Option<String>,
    calls: Vec<String>,
    answers: Option<String>,
    node: &'a Node<'a>,
}

/// Checks the messages of a state, or of a session, and finds all that is wrong.
///
/// # Errors
/// Where the bytes are unusable.
pub(crate) fn lint(input: &Input<'_>, _: Strictness) -> Result<Vec<Finding>> {
    let document = input.document().map_err(Clone::clone)?;
    let state = document.node.get("agentState").unwrap_or(&document.node);
    let messages = state.get("conversation").and_then(|talk| talk.get("messages")).and_then(Node::as_array);
    let prefix = if document.node.get("agentState").is_some() { "agentState." } else { "" };
    let said: Vec<CheckedMessage<'_>> = messages.unwrap_or_default().iter().map(said).collect();
    let mut findings = Vec::new();
    for (index, one) in said.iter().enumerate() {
        for (rule, what) in broken(index, one, &said) {
            let (line, column) = turnkeep_model::line_and_column(document.text, one.node.at as usize);
            findings.push(Finding {
                rule,
                severity: Severity::Error,
                at: format!("{prefix}conversation.messages[{index}]"),
                line: Some(line),
                column: Some(column),
                what,
            });
        }
    }
    Ok(findings)
}

fn said<'a>(node: &'a Node<'a>) -> CheckedMessage<'a> {
    let text = |node: Option<&Node<'_>>, key: &str| node?.get_str(key).map(std::borrow::Cow::into_owned);
    let data = node.get("data");
    let calls = data.and_then(|data| data.get("toolCalls")).and_then(Node::as_array).unwrap_or_default();
    let kind = text(Some(node), "type").unwrap_or_default();
    let own = text(Some(node), "content").or_else(|| text(data, "contentOpt")).or_else(|| text(data, "content"));
    let answers = text(Some(node), "toolCallId").or_else(|| text(data, "toolCallId"));
    CheckedMessage {
        text: own,
        calls: calls.iter().filter_map(|call| text(Some(call), "id")).collect(),
        answers: answers.filter(|_| kind == "tool"),
        kind,
        node,
    }
}

/// The rules that a message breaks, and how.
fn broken(index: usize, one: &CheckedMessage<'_>, all: &[CheckedMessage<'_>]) -> Vec<(&'static str, String)> {
    let (before, after) = all.split_at(index);
    let calling = before.iter().rev().find(|said| !said.calls.is_empty());
    let blank = one.text.as_deref().is_none_or(|text| text.trim().is_empty());
    let mut found: Vec<(&'static str, String)> = Vec::new();
    let mut say = |rule, is_broken: bool, what: String| {
        if is_broken {
            found.push((rule, what));
        }
    };
    let is_assistant = one.kind == "assistant";
    say("L4-BLANK", blank && !is_assistant, "its content is blank: say something, or take the message out".into());
    say("L4-SILENT", is_assistant && blank && one.calls.is_empty(), "an answer needs a text or calls".into());
    let instructed = before.iter().any(|said| said.kind == "system");
    say("L4-SYSTEM", one.kind == "system" && instructed, "there is a system message already: join the two".into());
    if let Some(id) = &one.answers {
        say("L4-TOOL-FIRST", index == 0, "a conversation cannot begin with a result".into());
        say("L4-NO-CALLS", index > 0 && calling.is_none(), "no answer before it makes calls".into());
        let foreign = calling.is_some_and(|said| !said.calls.contains(id));
        say("L4-TOOL-ID", foreign, format!("the last answer that makes calls has no call `{id}`"));
        let ever = before.iter().any(|said| said.calls.contains(id));
        say("L4-ORPHAN", !ever, format!("no call `{id}` stands before it: take the result out"));
    }
    for id in &one.calls {
        let answered = after.iter().any(|said| said.answers.as_ref() == Some(id));
        say("L4-UNANSWERED", !answered, format!("call `{id}` has no result: add one that says so"));
    }
    found
}
