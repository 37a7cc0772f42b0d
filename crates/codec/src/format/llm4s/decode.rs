//! From documents to sessions.

use std::collections::HashSet;

use turnkeep_model::json::{Json, Node, Text, Value};
use turnkeep_model::{
    Author, Block, Error, ErrorKind, ExtraPart, Loss, LossKind, Result, Session, SessionId, Status, Time, ToolSpec,
    status as states,
};

use super::status::{self, Reading};
use super::tree::{self, Opened};
use super::{AGENT, FORMAT, SESSION, STATE, java, options, usage};
use crate::codec::Mode;
use crate::turns::TurnBuilder;

/// What was read, or why it is refused.
pub(super) type Read<T> = std::result::Result<T, Refusal>;

/// A session, and what of its document could not be kept.
pub(super) type Found = (Session, Vec<Loss>);

/// Why a document is refused, and where.
pub(super) struct Refusal {
    at: u32,
    path: String,
    what: String,
}

impl Refusal {
    /// A refusal at the byte `at`.
    pub(super) fn new(at: u32, path: impl Into<String>, what: impl Into<String>) -> Refusal {
        Refusal { at, path: path.into(), what: what.into() }
    }

    /// The refusal of a value that is not `wanted`.
    pub(super) fn wrong(node: &Node<'_>, path: impl Into<String>, wanted: &str) -> Refusal {
        Refusal::new(node.at, path, format!("expected {wanted}, found {}", node.kind()))
    }

    fn into_error(self, root: &str) -> Error {
        Error::new(ErrorKind::Corrupt, self.what)
            .path(format!("{root}{}", self.path))
            .offset(self.at as usize)
            .hint("llm4s refuses this too; correct the file, or restore it from its source")
    }
}

/// The session of a state.
///
/// # Errors
/// `NotThisFormat` for another document, `Corrupt` for what the library refuses and nothing can stand in for.
pub(super) fn state(node: Node<'_>, mode: Mode) -> Result<Found> {
    let opened = root(node, &STATE)?;
    let mut decoder = Decoder::new("", mode);
    match decoder.state(opened) {
        Ok(()) => Ok(decoder.finish()),
        Err(refusal) => Err(refusal.into_error(decoder.root)),
    }
}

/// The session of an assistant's session file.
///
/// # Errors
/// As [`state`].
pub(super) fn session(node: Node<'_>, mode: Mode) -> Result<Found> {
    let opened = root(node, &SESSION)?;
    let mut decoder = Decoder::new("agentState.", mode);
    let [id, directory, created, agent] = decoder.leave_around(opened);
    decoder.head(id, directory, created).map_err(|refusal| refusal.into_error(""))?;
    match decoder.agent(agent) {
        Ok(()) => Ok(decoder.finish()),
        Err(refusal) => Err(refusal.into_error(decoder.root)),
    }
}

fn root<'a, const N: usize>(node: Node<'a>, known: &[&'static str; N]) -> Result<Opened<'a, N>> {
    let not_this = |what: String| {
        let hint = "name the format with --from, or ask `turnkeep sniff`";
        Error::new(ErrorKind::NotThisFormat, what).offset(node.at as usize).hint(hint)
    };
    let kind = node.kind();
    let Value::Object(fields) = node.value else {
        return Err(not_this(format!("expected an object, found {kind}")));
    };
    let opened = tree::open(fields, known);
    if opened.slots.iter().all(Option::is_none) {
        return Err(not_this(format!("it has none of the keys {}", known.join(", "))));
    }
    Ok(opened)
}

/// The state of one reading.
pub(super) struct Decoder {
    /// The path of the agent's state in its document, with the dot behind it.
    root: &'static str,
    pub(super) mode: Mode,
    session: Session,
    /// What the extra will keep of the agent's state.
    part: ExtraPart,
    /// What it will keep of the document around that, where there is one.
    around: ExtraPart,
    pub(super) turns: TurnBuilder,
    pub(super) ordinal: u32,
    pub(super) calls: u32,
    /// The ids of the calls so far.
    pub(super) known: HashSet<String>,
    losses: Vec<Loss>,
    /// Losses in a message, whose place is known when the turns are.
    pending: Vec<(u32, Loss)>,
}

impl Decoder {
    fn new(root: &'static str, mode: Mode) -> Decoder {
        Decoder {
            root,
            mode,
            session: Session::default(),
            part: ExtraPart::default(),
            around: ExtraPart::default(),
            turns: TurnBuilder::default(),
            ordinal: 0,
            calls: 0,
            known: HashSet::new(),
            losses: Vec::new(),
            pending: Vec::new(),
        }
    }

    /// Whether this is a state, which has its system text apart from the conversation.
    pub(super) fn is_state(&self) -> bool {
        self.root.is_empty()
    }

    fn lose(&mut self, kind: LossKind, at: &str, what: impl Into<String>) {
        self.losses.push(Loss::decode(kind, at, what));
    }

    /// Records a loss in the message that is being read.
    pub(super) fn lose_in_message(&mut self, kind: LossKind, at: &str, what: impl Into<String>) {
        self.pending.push((self.ordinal, Loss::decode(kind, at, what)));
    }

    fn leave<'a, const N: usize>(&mut self, mut opened: Opened<'a, N>) -> [Option<Node<'a>>; N] {
        tree::leave(&mut opened, &mut self.part);
        if !opened.repeated.is_empty() {
            self.lose(LossKind::Dropped, "", "a key stands more than once; the last one counts");
        }
        opened.slots
    }

    /// The same for the document around the agent's state.
    fn leave_around<'a, const N: usize>(&mut self, opened: Opened<'a, N>) -> [Option<Node<'a>>; N] {
        let slots = self.leave(opened);
        self.around = std::mem::take(&mut self.part);
        slots
    }

    fn leave_under<'a, const N: usize>(&mut self, key: &str, mut opened: Opened<'a, N>) -> [Option<Node<'a>>; N] {
        tree::leave_under(&mut opened, key, &mut self.part);
        if !opened.repeated.is_empty() {
            let what = format!("a key of `{key}` stands more than once; the last one counts");
            self.lose(LossKind::Dropped, "", what);
        }
        opened.slots
    }

    /// Keeps a value of the agent's state that has the wrong type.
    fn keep_aside(&mut self, key: &str, at: &str, node: Node<'_>) {
        let what = format!("`{}{key}` is {}; it is unset, and kept aside", self.root, node.kind());
        self.lose(LossKind::Coerced, at, what);
        self.part.fields.set(key, node.into_json());
    }

    fn missing(&mut self, key: &str, at: &str, assumed: &str) {
        let what = format!("`{}{key}` is missing; {assumed} is assumed", self.root);
        self.lose(LossKind::Synthesised, at, what);
    }

    fn string(&mut self, text: Text<'_>, at: &str) -> String {
        let (text, verdict) = text.into_string_lossy();
        if let Err(lone) = verdict {
            self.lose(LossKind::Coerced, at, format!("{lone}; U+FFFD stands in its place"));
        }
        text
    }

    fn state(&mut self, opened: Opened<'_, 7>) -> Read<()> {
        let [conversation, query, status, logs, system, settings, summary] = self.leave(opened);
        self.system(system);
        self.conversation(conversation)?;
        if query.is_none() {
            self.missing("initialQuery", "initial_query", "`null`");
        }
        self.query(query);
        self.status(status)?;
        self.logs(logs)?;
        if settings.is_none() {
            self.missing("completionOptions", "options", "what llm4s assumes");
        }
        self.session.options = options::read(settings, &mut self.losses)?;
        match summary {
            None => tree::note_absent(&mut self.part, "usageSummary"),
            Some(node) => self.session.usage = usage::read(node, self.mode, &mut self.losses),
        }
        Ok(())
    }

    fn head(&mut self, id: Option<Node<'_>>, directory: Option<Node<'_>>, created: Option<Node<'_>>) -> Read<()> {
        let id = self.head_text(id, "sessionId", "id")?;
        let directory = self.head_text(directory, "sessionDir", "")?;
        let created = self.head_text(created, "created", "timing.created")?;
        self.session.id = id.filter(|id| !id.is_empty()).map(SessionId::new);
        self.session.timing.created = created.map(Time::new);
        let time = self.session.timing.created.as_ref();
        if time.is_some_and(|time| java::local_time(time).as_deref() != Some(time.as_str())) {
            // It has a zone, or is no time; the library takes neither.
            self.around.spelling.set("created", "own");
        }
        if let Some(directory) = directory.filter(|directory| !directory.is_empty()) {
            self.around.fields.set("sessionDir", directory);
        }
        Ok(())
    }

    fn head_text(&mut self, node: Option<Node<'_>>, key: &str, at: &str) -> Read<Option<String>> {
        match node {
            None => {
                self.lose(LossKind::Synthesised, at, format!("`{key}` is missing; it is left unset"));
                Ok(None)
            }
            Some(Node { value: Value::Text(text), .. }) => Ok(Some(self.string(text, at))),
            Some(node) => Err(Refusal::wrong(&node, key, "a string")),
        }
    }

    fn agent(&mut self, node: Option<Node<'_>>) -> Read<()> {
        let fields = match node {
            Some(Node { value: Value::Object(fields), .. }) => fields,
            Some(Node { value: Value::Null, .. }) => {
                self.around.spelling.set("agentState", Json::Null);
                return Ok(());
            }
            None => {
                self.lose(LossKind::Synthesised, "", "`agentState` is missing; `null` is assumed");
                self.around.spelling.set("agentState", Json::Null);
                return Ok(());
            }
            Some(node) => return Err(Refusal::wrong(&node, "", "an object or null")),
        };
        let [conversation, query, status, logs, names] = self.leave(tree::open(fields, &AGENT));
        self.conversation(conversation)?;
        if query.is_none() {
            tree::note_absent(&mut self.part, "initialQuery");
        }
        self.query(query);
        self.status(status)?;
        self.logs(logs)?;
        self.tools(names);
        Ok(())
    }

    fn tools(&mut self, node: Option<Node<'_>>) {
        let Some(node) = node else { return tree::note_absent(&mut self.part, "toolNames") };
        let name = |node: &Node<'_>| {
            let name = node.as_str()?.into_owned();
            Some(ToolSpec { name, ..ToolSpec::default() })
        };
        match node.as_array().and_then(|names| names.iter().map(name).collect::<Option<Vec<_>>>()) {
            Some(tools) => self.session.tools = tools,
            None => self.keep_aside("toolNames", "tools", node),
        }
    }

    fn system(&mut self, node: Option<Node<'_>>) {
        match node {
            None => self.missing("systemMessage", "turns", "no system text"),
            Some(Node { value: Value::Null, .. }) => {}
            Some(Node { value: Value::Text(text), .. }) => {
                let text = self.string(text, "turns[0].blocks[0].text");
                self.turns.push(Block::text(Author::System, text).in_message(self.ordinal));
                self.ordinal += 1;
            }
            Some(node) => self.keep_aside("systemMessage", "turns", node),
        }
    }

    fn conversation(&mut self, node: Option<Node<'_>>) -> Read<()> {
        let Some(node) = node else {
            self.missing("conversation", "turns", "an empty one");
            return Ok(());
        };
        let fields = match node.value {
            Value::Object(fields) => fields,
            Value::Null => {
                self.null("conversation", "the conversation is null; it is read as empty");
                return Ok(());
            }
            value => return Err(Refusal::wrong(&Node { at: node.at, value }, "conversation", "an object")),
        };
        let [messages] = self.leave_under("conversation", tree::open(fields, &["messages"]));
        match messages {
            None => self.missing("conversation.messages", "turns", "an empty list"),
            Some(Node { value: Value::Null, .. }) => {
                self.null("messages", "the messages are null; they are read as none");
            }
            Some(Node { value: Value::Array(items), .. }) => {
                for (index, item) in items.into_iter().enumerate() {
                    self.message(index, item)?;
                    self.ordinal += 1;
                }
            }
            Some(node) => return Err(Refusal::wrong(&node, "conversation.messages", "an array")),
        }
        Ok(())
    }

    /// The library takes null for an empty thing, and gives it back as null.
    fn null(&mut self, key: &str, what: &str) {
        match self.mode {
            Mode::Faithful => self.lose(LossKind::Repaired, "turns", what),
            Mode::Compat => self.part.spelling.set(key, Json::Null),
        }
    }

    fn query(&mut self, node: Option<Node<'_>>) {
        match node {
            None | Some(Node { value: Value::Null, .. }) => {}
            Some(Node { value: Value::Text(text), .. }) => {
                let query = self.string(text, "initial_query");
                self.session.initial_query = Some(query);
            }
            Some(node) => self.keep_aside("initialQuery", "initial_query", node),
        }
    }

    fn status(&mut self, node: Option<Node<'_>>) -> Read<()> {
        let Some(node) = node else {
            self.missing("status", "status", "`InProgress`");
            self.session.status = Some(Status::InProgress(states::InProgress {}));
            return Ok(());
        };
        self.session.status = Some(match status::read(node, &mut self.part) {
            Reading::Known(status) => status,
            Reading::Fallback(status) => {
                let what = "it is none of llm4s's statuses, which reads it as a failure; it is kept aside";
                self.lose(LossKind::Coerced, "status", what);
                status
            }
            Reading::Refused(at) => return Err(Refusal::new(at, "status.error", "the error is not a string")),
        });
        Ok(())
    }

    fn logs(&mut self, node: Option<Node<'_>>) -> Read<()> {
        let Some(node) = node else {
            self.missing("logs", "logs", "an empty list");
            return Ok(());
        };
        let Value::Array(items) = node.value else { return Err(Refusal::wrong(&node, "logs", "an array")) };
        for (index, item) in items.into_iter().enumerate() {
            let Value::Text(text) = item.value else {
                return Err(Refusal::wrong(&item, format!("logs[{index}]"), "a string"));
            };
            let line = self.string(text, "logs");
            self.session.logs.push(line);
        }
        Ok(())
    }

    fn finish(mut self) -> Found {
        self.session.turns = self.turns.finish();
        *self.session.extra.part_mut(FORMAT) =
            if self.root.is_empty() { self.part } else { tree::nest(self.around, "agentState", self.part) };
        self.session.extra.tidy();
        for (ordinal, mut loss) in self.pending {
            loss.at = place(&self.session, ordinal, &loss.at);
            self.losses.push(loss);
        }
        (self.session, self.losses)
    }
}

/// The place of something in the message with this ordinal.
fn place(session: &Session, ordinal: u32, inner: &str) -> String {
    let mut places = session
        .turns
        .iter()
        .enumerate()
        .flat_map(|(t, turn)| turn.blocks.iter().enumerate().map(move |(b, block)| (t, b, block.message.ordinal)));
    match places.find(|(_, _, own)| *own == ordinal) {
        Some((t, b, _)) if inner.is_empty() => format!("turns[{t}].blocks[{b}]"),
        Some((t, b, _)) => format!("turns[{t}].blocks[{b}].{inner}"),
        None => "turns".to_owned(),
    }
}
