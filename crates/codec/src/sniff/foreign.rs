//! Files of systems that are known and cannot be read: they are refused by name, and never taken for something else.

mod apis;

use turnkeep_model::json::{Json, Object};

use crate::input::{Form, Input};

/// A system whose files are known.
struct Foreign {
    /// What a file of it is, as in "a Claude Code session".
    name: &'static str,
    /// Patterns, one of which a file matches.
    marks: &'static [Mark],
}

/// What a record of a file has: keys, `a.b` for a key in a key or an item of a list, `a.*` for any of the first items,
/// `a=word` for a text, `a^word` for how one begins, `a~word` for what is in one, `a:text` for any text; `-` before any of
/// them for what is not so.
enum Mark {
    /// The object that the file is, or one of its first lines.
    Record(&'static str),
    /// One of its first lines, where it has several.
    Line(&'static str),
    /// One of the first items of the list that it is.
    Item(&'static str),
    /// Tables of the SQLite database that it is.
    Tables(&'static [&'static str]),
    /// How a line of text begins.
    Text(&'static str),
}

use Mark::{Item, Line, Record, Tables, Text};

/// The table. Systems whose files look alike share a row.
static KNOWN: &[Foreign] = &[
    Foreign {
        name: "a Claude Code session",
        marks: &[
            Record("sessionId uuid isSidechain"),
            Record("type=summary leafUuid"),
            Record("type=file-history-snapshot messageId"),
            Record("sessionId message.usage requestId"),
            Record("type=user message.content uuid -cwd"),
            Line("type=assistant message.content timestamp -cwd"),
            Record("type=attachment attachment.type timestamp"),
            Record("loglines"),
            Record("agentType description toolUseId"),
        ],
    },
    Foreign {
        name: "a Codex rollout",
        marks: &[
            Record("type=session_meta payload"),
            Record("type=turn_context payload"),
            Record("type=response_item payload"),
            Record("type=event_msg payload"),
            Record("type=world_state payload"),
            Record("record_type=state"),
        ],
    },
    Foreign { name: "a Codex terminal log", marks: &[Line("ts dir kind")] },
    Foreign {
        name: "a Gemini CLI session",
        marks: &[Record("sessionId projectHash startTime"), Record("history meta start_time lastUpdated")],
    },
    Foreign { name: "a Qwen Code session", marks: &[Record("uuid parentUuid sessionId type cwd version")] },
    Foreign { name: "an OpenCode export", marks: &[Record("info.id messages"), Record("messages.0.info")] },
    Foreign {
        name: "a part of OpenCode's storage",
        marks: &[
            Record("sessionID role time"),
            Record("messageID type id"),
            Record("projectID directory title"),
            Tables(&["session", "message", "part"]),
        ],
    },
    Foreign {
        name: "a Copilot CLI session",
        marks: &[Record("type=session.start data"), Record("type=user.message data")],
    },
    Foreign { name: "a Cursor transcript", marks: &[Line("role message.content")] },
    Foreign {
        name: "a Droid session",
        marks: &[Record("type=session_start cwd"), Line("type=tool_call toolName parameters")],
    },
    Foreign { name: "a Cline or Roo Code task", marks: &[Item("ts type say"), Item("ts type ask")] },
    Foreign {
        name: "a Cline SDK session",
        marks: &[Record("updated_at agent sessionId messages"), Record("session_id source pid started_at")],
    },
    Foreign { name: "an Amp thread", marks: &[Record("created messages usageLedger")] },
    Foreign { name: "a Pi or OpenClaw session", marks: &[Record("type=session id timestamp cwd")] },
    Foreign {
        name: "a Kimi CLI session",
        marks: &[
            Record("type=config.update"),
            Record("type=metadata protocol_version"),
            Record("agents isCustomTitle workDir"),
        ],
    },
    Foreign {
        name: "a Kiro session",
        marks: &[Record("sessionId workspacePath history"), Record("conversation_id history")],
    },
    Foreign {
        name: "a Grok session",
        marks: &[
            Line("type=user content prompt_index"),
            Line("type=user content synthetic_reason"),
            Line("type=system content -uuid"),
            Line("role content model_id"),
            Record("info session_summary num_messages"),
        ],
    },
    Foreign {
        name: "a Mistral Vibe session",
        marks: &[Line("role content message_id"), Record("session_id start_time git_commit")],
    },
    Foreign {
        name: "a goose session",
        marks: &[Record("working_dir message_count"), Tables(&["sessions", "messages", "schema_version"])],
    },
    Foreign { name: "a gptme conversation", marks: &[Line("role content timestamp")] },
    Foreign {
        name: "a ChatGPT export",
        marks: &[
            Record("mapping current_node"),
            Item("mapping current_node"),
            Record("polylogue_capture_kind raw_provider_payload"),
        ],
    },
    Foreign { name: "a Claude.ai export", marks: &[Record("chat_messages uuid"), Item("chat_messages uuid")] },
    Foreign { name: "a Gemini AI Studio prompt", marks: &[Record("chunkedPrompt")] },
    Foreign {
        name: "LangChain messages",
        marks: &[Item("lc type kwargs"), Record("lc type kwargs"), Item("type data.content")],
    },
    Foreign { name: "a LangGraph checkpoint database", marks: &[Tables(&["checkpoints", "writes"])] },
    Foreign {
        name: "Vercel UI messages",
        marks: &[
            Item("id role parts"),
            Item("role content.0.type=tool-call"),
            Item("role content.1.type=tool-call"),
            Item("role content.0.toolCallId"),
        ],
    },
    Foreign { name: "pydantic-ai messages", marks: &[Item("parts kind=request"), Item("parts kind=response")] },
    Foreign { name: "an OpenAI Agents database", marks: &[Tables(&["agent_sessions", "agent_messages"])] },
    Foreign { name: "a log database of llm", marks: &[Tables(&["conversations", "responses"])] },
    Foreign {
        name: "an OpenAI fine-tuning file",
        marks: &[Line("messages.0.role"), Record("preferred_output non_preferred_output")],
    },
    Foreign { name: "a ShareGPT dataset", marks: &[Item("conversations.0.from"), Record("conversations.0.from")] },
    Foreign {
        name: "a Letta agent file",
        marks: &[Record("agents blocks tools mcp_servers"), Record("agent_type core_memory")],
    },
    Foreign { name: "a Letta Code transcript", marks: &[Line("kind text captured_at")] },
    Foreign { name: "an ATIF trajectory", marks: &[Record("schema_version trajectory_id steps")] },
    Foreign { name: "an ATOF trace", marks: &[Record("atof_version category")] },
    Foreign {
        name: "an OpenHands trajectory",
        marks: &[
            Record("items.0.kind items.0.source"),
            Record("items.1.kind items.1.source"),
            Item("action source timestamp"),
        ],
    },
    Foreign {
        name: "a Hermes session",
        marks: &[Record("session.started_at messages"), Record("session_id session_start message_count")],
    },
    Foreign {
        name: "a Posit Assistant conversation",
        marks: &[
            Record("schemaVersion root messages"),
            Line("id message.role message.content -type"),
            Record("conversations schemaVersion"),
        ],
    },
    Foreign { name: "a QwenPaw session", marks: &[Record("agent.memory.content")] },
    Foreign { name: "an OpenTelemetry trace", marks: &[Record("resourceSpans")] },
    Foreign {
        name: "an aider chat history",
        marks: &[Text("# aider chat started at"), Text("> $ aider"), Text("> Aider v")],
    },
];

/// What the file is, if a system that is known wrote it.
pub(super) fn named(input: &Input<'_>) -> Option<&'static str> {
    let matches = |foreign: &&Foreign| foreign.marks.iter().any(|mark| mark.is_met(input));
    all().find(matches).map(|foreign| foreign.name)
}

fn all() -> impl Iterator<Item = &'static Foreign> {
    KNOWN.iter().chain(apis::APIS)
}

/// Every system that is known and cannot be read.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    all().map(|foreign| foreign.name)
}

impl Mark {
    fn is_met(&self, input: &Input<'_>) -> bool {
        let top = || input.top();
        let fits = |record: &Object, pattern: &str| bodies(record).any(|body| has_all(body, pattern));
        let any = |pattern: &str| top().records.iter().filter_map(Json::as_object).any(|record| fits(record, pattern));
        match self {
            Record(pattern) => matches!(top().form, Form::Object | Form::Lines | Form::Events) && any(pattern),
            Line(pattern) => top().form == Form::Lines && any(pattern),
            Item(pattern) => top().form == Form::Items && any(pattern),
            Tables(names) => is_database(input.bytes()) && names.iter().all(|name| has_table(input.bytes(), name)),
            Text(begin) => top().form == Form::Other && has_line(input, begin),
        }
    }
}

/// A record, and the bodies of the exchange that it is.
fn bodies(record: &Object) -> impl Iterator<Item = &Object> {
    let part = |key: &str| record.get(key).and_then(Json::as_object);
    let exchange = part("request").zip(part("response")).map(|(request, response)| [request, response]);
    std::iter::once(record).chain(exchange.into_iter().flatten())
}

fn has_all(record: &Object, pattern: &str) -> bool {
    pattern.split(' ').all(|part| {
        let (part, is_there) = part.strip_prefix('-').map_or((part, true), |absent| (absent, false));
        let (path, sign, word) = match part.find(['=', '^', '~', ':']) {
            Some(at) => (part.get(..at), part.get(at..=at), part.get(at + 1..).unwrap_or_default()),
            None => (Some(part), None, ""),
        };
        let test = |value: &Json| match (sign, value.as_str()) {
            (None, _) => true,
            (Some("="), Some(text)) => text == word,
            (Some("^"), Some(text)) => text.starts_with(word),
            (Some("~"), Some(text)) => text.contains(word),
            (Some(_), text) => text.is_some(),
        };
        is_at(record, path.unwrap_or(part), &test) == is_there
    })
}

/// Whether a value that passes `test` stands at a path.
fn is_at(record: &Object, path: &str, test: &dyn Fn(&Json) -> bool) -> bool {
    let (key, rest) = path.split_once('.').map_or((path, None), |(key, rest)| (key, Some(rest)));
    record.get(key).is_some_and(|value| is_in(value, rest, test))
}

fn is_in(value: &Json, path: Option<&str>, test: &dyn Fn(&Json) -> bool) -> bool {
    /// How many items are looked at.
    const ENOUGH: usize = 64;
    let Some(path) = path else { return test(value) };
    match value {
        Json::Object(object) => is_at(object, path, test),
        Json::Array(items) => {
            let (index, rest) = path.split_once('.').map_or((path, None), |(index, rest)| (index, Some(rest)));
            match index.parse::<usize>() {
                Ok(index) => items.get(index).is_some_and(|item| is_in(item, rest, test)),
                Err(_) => index == "*" && items.iter().take(ENOUGH).any(|item| is_in(item, rest, test)),
            }
        }
        _ => false,
    }
}

fn is_database(bytes: &[u8]) -> bool {
    bytes.starts_with(b"SQLite format 3\0")
}

/// Whether a database has a table. Its schema is text in its first pages.
fn has_table(bytes: &[u8], name: &str) -> bool {
    /// How many bytes are looked through.
    const ENOUGH: usize = 1 << 20;
    let head = bytes.get(..ENOUGH).unwrap_or(bytes);
    let spelled =
        [format!("CREATE TABLE {name}"), format!("CREATE TABLE \"{name}\""), format!("CREATE TABLE [{name}]")];
    let spelled = spelled.into_iter().chain([format!("CREATE TABLE `{name}`")]);
    spelled.into_iter().any(|text| {
        let ends =
            |at: usize| head.get(at + text.len()).is_none_or(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_');
        memchr::memmem::find_iter(head, text.as_bytes()).any(ends)
    })
}

fn has_line(input: &Input<'_>, begin: &str) -> bool {
    /// How many lines are looked at.
    const ENOUGH: usize = 400;
    input.text().is_ok_and(|text| text.lines().take(ENOUGH).any(|line| line.starts_with(begin)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named_of(text: &str) -> Option<&'static str> {
        named(&Input::new(text.as_bytes()))
    }

    #[test]
    fn files_of_other_systems_are_named() {
        for (text, name) in [
            (r#"{"type":"user","uuid":"u","sessionId":"s","isSidechain":false,"message":{}}"#, "a Claude Code session"),
            ("{\"timestamp\":\"t\",\"type\":\"session_meta\",\"payload\":{}}\n", "a Codex rollout"),
            (r#"[{"id":"m","role":"user","parts":[]}]"#, "Vercel UI messages"),
            ("# aider chat started at 2026-01-01\n\n#### hi\n", "an aider chat history"),
        ] {
            assert_eq!(named_of(text), Some(name), "{text}");
        }
        assert_eq!(named_of(r#"{"model":"gpt-4o","messages":[]}"#), None);
    }

    #[test]
    fn a_table_is_known_by_its_whole_name() {
        let schema = b"SQLite format 3\0..CREATE TABLE \"writes_log\" (a)CREATE TABLE checkpoints (b)";
        assert!(has_table(schema, "checkpoints"));
        assert!(!has_table(schema, "writes"));
    }
}
