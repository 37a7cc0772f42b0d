//! What the program refuses: as its own verdict, or as rejections about a document that is read all the same.

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use turnkeep_model::json::{Field, Json, Node, Value};
use turnkeep_model::{Error, ErrorKind, Loss, LossKind, Result};

use super::words::{self, Generation};

/// One thing that the program refuses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Rejection {
    /// Where it stands in the document.
    pub path: String,
    /// Where it stands in the session.
    pub place: &'static str,
    /// The byte where it stands.
    pub at: u32,
    /// The program's own words.
    pub verdict: String,
    /// Ours.
    pub what: String,
}

impl Rejection {
    /// The program's verdict.
    pub(super) fn error(&self) -> Error {
        Error::new(ErrorKind::Corrupt, self.verdict.clone())
    }

    /// What a reader that goes on has to say.
    pub(super) fn loss(&self) -> Loss {
        let what = format!("`{}` {}; the text is kept, but instructor-php refuses it", self.path, self.what);
        Loss::decode(LossKind::Coerced, self.place, what)
    }
}

const STATUS: &str = "Cognesy\\Agents\\Enums\\ExecutionStatus";
const STOP: &str = "Cognesy\\Agents\\Continuation\\StopReason";
const SESSION: &str = "Cognesy\\Agents\\Session\\Enums\\SessionStatus";
const SESSION_STATUSES: &[&str] = &["active", "suspended", "completed", "failed", "deleted"];
const ROLES: &[&str] = &["system", "developer", "user", "assistant", "tool"];

/// Looks through a document in the order in which the program does.
#[derive(Debug)]
pub(super) struct Validator {
    pub generation: Generation,
    pub rejections: Vec<Rejection>,
}

/// A value of the document and its path.
#[derive(Clone, Copy)]
struct At<'a, 'n> {
    node: &'a Node<'n>,
    path: &'a str,
}

impl Validator {
    pub(super) fn new(generation: Generation) -> Validator {
        Validator { generation, rejections: Vec::new() }
    }

    fn push(&mut self, at: At<'_, '_>, place: &'static str, verdict: String, what: &str) {
        let (path, at) = (at.path.to_owned(), at.node.at);
        self.rejections.push(Rejection { path, place, at, verdict, what: what.to_owned() });
    }

    fn word(&mut self, parent: At<'_, '_>, key: &str, place: &'static str, (known, class): (&[&str], &str)) {
        let path = join(parent.path, key);
        let Some(node) = parent.node.get(key) else { return };
        if let Some(word) = node.as_str().filter(|word| !known.contains(&&**word)) {
            let verdict = format!("\"{word}\" is not a valid backing value for enum {class}");
            self.push(At { node, path: &path }, place, verdict, "is not a word it knows");
        }
    }

    fn uuid(&mut self, parent: At<'_, '_>, key: &str, place: &'static str) {
        let path = join(parent.path, key);
        let Some(node) = parent.node.get(key).filter(|_| self.generation == Generation::V2) else { return };
        if let Some(id) = node.as_str().filter(|id| !words::is_uuid(id)) {
            self.push(At { node, path: &path }, place, format!("Invalid UUID: {id}"), "is not a UUID");
        }
    }

    fn date(&mut self, parent: At<'_, '_>, key: &str, place: &'static str) {
        let path = join(parent.path, key);
        let Some(node) = parent.node.get(key) else { return };
        if let Some(text) = node.as_str().filter(|text| !text.is_empty() && !is_date(text)) {
            let first = text.chars().next().unwrap_or_default();
            let verdict = format!(
                "Failed to parse time string ({text}) at position 0 ({first}): The timezone could not be found in the database"
            );
            self.push(At { node, path: &path }, place, verdict, "is not a date");
        }
    }

    fn each<'a, 'n>(&mut self, list: At<'a, 'n>, mut visit: impl FnMut(&mut Validator, At<'_, 'n>)) {
        for (index, node) in list.node.as_array().unwrap_or_default().iter().enumerate() {
            visit(self, At { node, path: &format!("{}[{index}]", list.path) });
        }
    }

    fn inside<'n>(&mut self, parent: At<'_, 'n>, key: &str, mut visit: impl FnMut(&mut Validator, At<'_, 'n>)) {
        if let Some(node) = parent.node.get(key) {
            visit(self, At { node, path: &join(parent.path, key) });
        }
    }

    /// A state of any generation.
    pub(super) fn state(&mut self, node: &Node<'_>, path: &str) {
        let state = At { node, path };
        self.inside(state, "execution", Validator::execution);
        self.uuid(state, "agentId", "id");
        self.uuid(state, "parentAgentId", "parent");
        self.date(state, "createdAt", "timing.created");
        self.date(state, "updatedAt", "timing.updated");
        self.inside(state, "context", |own, context| own.inside(context, "messageStore", Validator::store));
        self.inside(state, "messageStore", Validator::store);
        if self.generation == Generation::V1 {
            self.status(state);
        }
    }

    fn status(&mut self, parent: At<'_, '_>) {
        let known = words::statuses(self.generation);
        self.word(parent, "status", "status", (known, STATUS));
    }

    fn execution(&mut self, execution: At<'_, '_>) {
        self.inside(execution, "currentStep", Validator::step);
        self.status(execution);
        self.uuid(execution, "executionId", "runs");
        self.inside(execution, "stepExecutions", |own, list| own.each(list, Validator::executed));
        self.inside(execution, "continuation", |own, map| own.signals(map, "runs"));
    }

    fn executed(&mut self, item: At<'_, '_>) {
        self.inside(item, "step", Validator::step);
        self.inside(item, "continuation", |own, map| own.signals(map, "turns"));
        let known = words::stop_reasons(self.generation);
        self.inside(item, "outcome", |own, map| own.word(map, "stopReason", "turns", (known, STOP)));
        self.date(item, "startedAt", "turns");
        self.date(item, "completedAt", "turns");
        self.uuid(item, "id", "turns");
    }

    fn step(&mut self, step: At<'_, '_>) {
        self.uuid(step, "id", "turns");
        self.inside(step, "inputMessages", |own, list| own.each(list, Validator::message));
        self.inside(step, "outputMessages", |own, list| own.each(list, Validator::message));
        self.inside(step, "toolExecutions", |own, list| {
            own.each(list, |own, item| {
                own.date(item, "startedAt", "turns");
                own.date(item, "completedAt", "turns");
            });
        });
    }

    fn signals(&mut self, map: At<'_, '_>, place: &'static str) {
        let known = words::stop_reasons(self.generation);
        self.inside(map, "stop_signals", |own, list| {
            own.each(list, |own, signal| own.word(signal, "reason", place, (known, STOP)));
        });
    }

    /// A message store: sections, or a bare list.
    fn store(&mut self, store: At<'_, '_>) {
        if store.node.as_array().is_some() {
            return self.each(store, Validator::message);
        }
        self.inside(store, "sections", |own, list| {
            own.each(list, |own, section| {
                own.inside(section, "messages", |own, list| own.each(list, Validator::message));
            });
        });
    }

    fn message(&mut self, message: At<'_, '_>) {
        self.uuid(message, "id", "turns");
        self.date(message, "createdAt", "turns");
        let Some(role) = message.node.get("role") else { return };
        if let Some(word) = role.as_str().filter(|word| !word.is_empty() && !ROLES.contains(&&**word)) {
            let at = At { node: role, path: &join(message.path, "role") };
            self.push(at, "turns", format!("Invalid message role: {word}"), "is not a role it knows");
        }
    }

    /// A slim or continuation snapshot.
    pub(super) fn snapshot(&mut self, node: &Node<'_>) {
        let snapshot = At { node, path: "" };
        self.status(snapshot);
        self.inside(snapshot, "execution", |own, map| {
            for key in ["started_at", "created_at", "updated_at"] {
                own.date(map, key, "timing");
            }
        });
        for key in ["messageStore", "message_store", "messages"] {
            self.inside(snapshot, key, Validator::store);
        }
    }

    /// A bare list of messages.
    pub(super) fn messages(&mut self, node: &Node<'_>) {
        self.store(At { node, path: "" });
    }

    /// The header of a session file.
    pub(super) fn header(&mut self, node: &Node<'_>) {
        let header = At { node, path: "header" };
        for (key, place) in [("parentId", "parent"), ("sessionId", "id")] {
            let path = join("header", key);
            if let Some(id) = node.get(key)
                && let Some(text) =
                    id.as_str().filter(|text| !(words::is_session_id(text) || key == "parentId" && text.is_empty()))
            {
                let at = At { node: id, path: &path };
                self.push(at, place, format!("Invalid session ID: {text}"), "is not a session id");
            }
        }
        self.word(header, "status", "extra", (SESSION_STATUSES, SESSION));
        self.date(header, "createdAt", "timing.created");
        self.date(header, "updatedAt", "timing.updated");
    }
}

fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

/// Whether the program can make a date of a text. It knows more words than these.
fn is_date(text: &str) -> bool {
    let trimmed = text.trim();
    trimmed.parse::<Timestamp>().is_ok()
        || trimmed.parse::<DateTime>().is_ok()
        || trimmed.parse::<Date>().is_ok()
        || trimmed.strip_prefix('@').is_some_and(|rest| rest.parse::<i64>().is_ok())
        || matches!(trimmed.to_lowercase().as_str(), "now" | "today" | "midnight" | "noon" | "tomorrow" | "yesterday")
}

/// The program's verdict on one message.
pub(super) fn message(data: &Json) -> Result<()> {
    let get = |key: &str| data.as_object().and_then(|fields| fields.get(key)).and_then(super::map::text);
    let refuse = |what: String| Err(Error::new(ErrorKind::Corrupt, what));
    if let Some(id) = get("id").filter(|id| !words::is_uuid(id)) {
        return refuse(format!("Invalid UUID: {id}"));
    }
    match get("role").filter(|role| !role.is_empty() && !ROLES.contains(&role.as_str())) {
        Some(role) => refuse(format!("Invalid message role: {role}")),
        None => Ok(()),
    }
}

/// The loss of keys that stand more than once in an object of the program's own; only the last counts there.
pub(super) fn repeated(node: &Node<'_>) -> Vec<Loss> {
    let mut losses = Vec::new();
    // Most documents have none, and then no path is needed.
    if repeats(node) {
        find_repeated(node, &mut String::new(), &mut losses);
    }
    losses
}

/// Whether some key stands more than once, at any depth.
fn repeats(node: &Node<'_>) -> bool {
    match &node.value {
        Value::Array(items) => items.iter().any(repeats),
        Value::Object(fields) => {
            let is_second = |(at, (key, _)): (usize, &Field<'_>)| fields.iter().take(at).any(|(own, _)| own == key);
            let few = fields.len() <= FEW && fields.iter().enumerate().any(is_second);
            few || fields.iter().any(|(_, value)| repeats(value))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Text(_) => false,
    }
}

/// Objects of the program have few keys; large maps are the application's.
const FEW: usize = 32;

/// Maps that belong to the application keep what they hold.
const FREE: &[&str] = &["metadata", "_metadata", "arguments", "context", "parameters", "schema", "tools", "content"];

fn find_repeated(node: &Node<'_>, path: &mut String, losses: &mut Vec<Loss>) {
    let length = path.len();
    for (index, item) in node.as_array().unwrap_or_default().iter().enumerate() {
        path.push_str(&format!("[{index}]"));
        find_repeated(item, path, losses);
        path.truncate(length);
    }
    let fields = node.as_object().unwrap_or_default();
    for (at, (key, value)) in fields.iter().enumerate() {
        let name = key.to_str_lossy();
        path.push_str(if length == 0 { "" } else { "." });
        path.push_str(&name);
        if fields.len() <= FEW && fields.get(..at).unwrap_or_default().iter().any(|(earlier, _)| earlier == key) {
            let what = format!("`{path}` stands more than once; the last one counts");
            losses.push(Loss::decode(LossKind::Dropped, "", what));
        }
        let is_state = *name == *"context" && length == 0 || name == "context" && path == "state.context";
        if is_state || !FREE.contains(&&*name) {
            find_repeated(value, path, losses);
        }
        path.truncate(length);
    }
}
