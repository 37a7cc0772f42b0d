//! The two codecs.

use turnkeep_model::json::{self, Json, JsonSink, Node};
use turnkeep_model::{Archive, Error, ErrorKind, Loss, LossKind, Result, Session, Status, diff};

use super::tree;
use super::{AGENT, FORMAT, SESSION, STATE, compat, decode, encode};
use crate::codec::{Codec, DecodeOptions, Decoded, EncodeOptions, Encoded, Fidelity, Keeps, Mode, Spec};
use crate::input::{Document, Input, Syntax};
use crate::loss_report;
use crate::sniff::Guess;

/// `llm4s.state`: the state of an agent.
pub(crate) struct StateCodec;

/// `llm4s.session`: a session of the interactive assistant.
pub(crate) struct SessionCodec;

/// What one of the two formats is made of.
struct Form {
    holder: &'static str,
    layout: json::Layout,
    read: fn(Node<'_>, Mode) -> Result<decode::Found>,
    write: for<'s> fn(&'s Session, &'s Status, Mode) -> Node<'s>,
    load: fn(&Json) -> std::result::Result<Json, String>,
    /// What the library says of a text that is not JSON, and of JSON that is not its own; its reason, where it is none.
    refusals: Option<(&'static str, &'static str)>,
}

const STATE_FORM: Form = Form {
    holder: "an llm4s agent state",
    layout: json::Layout::Pretty,
    read: decode::state,
    write: encode::state,
    load: compat::state,
    refusals: None,
};

const SESSION_FORM: Form = Form {
    holder: "an llm4s session",
    layout: json::Layout::Compact,
    read: decode::session,
    write: encode::session,
    load: compat::session,
    refusals: Some(("Failed to deserialize JSON to JSON", "Failed to deserialize JSON to SessionState")),
};

impl Codec for StateCodec {
    fn spec(&self) -> &'static Spec {
        &Spec {
            id: "llm4s.state",
            title: "llm4s agent state",
            extensions: &[".json"],
            fidelity: Fidelity {
                keys: Keeps::All,
                system_text: Keeps::All,
                options: Keeps::Some,
                tool_ids: Keeps::All,
                usage: Keeps::Some,
                status: Keeps::Some,
                ..Fidelity::NOTHING
            },
            ..Spec::READ_WRITE
        }
    }

    fn sniff(&self, input: &Input<'_>) -> Guess {
        let Some(document) = input.object() else { return Guess::no() };
        let node = &document.node;
        let present = STATE.iter().filter(|key| node.get(key).is_some()).count();
        let messages = node.get("conversation").and_then(|conversation| conversation.get("messages"));
        if messages.is_some() && node.get("completionOptions").is_some() && present >= 5 {
            return Guess::certain("it has a `conversation` and `completionOptions`").of(generation(node));
        }
        let typed = messages.and_then(Node::as_array).is_some_and(|items| items.iter().all(has_type));
        let shapes = ["completionOptions", "usageSummary", "systemMessage", "initialQuery"];
        let known = shapes.iter().any(|key| node.get(key).is_some());
        match typed && known && node.get("agentState").is_none() {
            true => Guess::likely("it has a `conversation` of typed messages").of("with keys missing"),
            false => Guess::no(),
        }
    }

    fn decode(&self, input: Input<'_>, options: &DecodeOptions) -> Result<Decoded> {
        read(&STATE_FORM, input, options.mode)
    }

    fn encode(&self, archive: &Archive, options: &EncodeOptions) -> Result<Encoded> {
        write(&STATE_FORM, archive, options.mode)
    }
}

fn has_type(message: &Node<'_>) -> bool {
    message.get("type").is_some()
}

/// When the library wrote files of this kind.
fn generation(node: &Node<'_>) -> &'static str {
    let options = node.get("completionOptions");
    match (node.get("usageSummary"), options.and_then(|options| options.get("reasoning"))) {
        (Some(_), _) => "since 2026-02, with usage",
        (None, Some(_)) => "since 2025-12, with reasoning",
        (None, None) => "2025-11, without reasoning and usage",
    }
}

impl Codec for SessionCodec {
    fn spec(&self) -> &'static Spec {
        &Spec {
            id: "llm4s.session",
            title: "llm4s assistant session",
            extensions: &[".json"],
            fidelity: Fidelity {
                keys: Keeps::All,
                system_text: Keeps::All,
                tools: Keeps::Some,
                tool_ids: Keeps::All,
                timing: Keeps::Some,
                status: Keeps::Some,
                ids: Keeps::Some,
                ..Fidelity::NOTHING
            },
            ..Spec::READ_WRITE
        }
    }

    fn sniff(&self, input: &Input<'_>) -> Guess {
        let Some(document) = input.object() else { return Guess::no() };
        let node = &document.node;
        let has = |key: &&str| node.get(key).is_some();
        if !SESSION.iter().all(has) {
            return Guess::no();
        }
        let agent = node.get("agentState");
        let known = |key: &&&str| agent.is_some_and(|agent| agent.get(key).is_some());
        match AGENT.iter().filter(known).count() {
            3.. => Guess::certain("it has a `sessionId`, a `sessionDir` and an `agentState` with a conversation"),
            _ => Guess::certain("it has a `sessionId`, a `sessionDir` and an `agentState`").of("without a state"),
        }
    }

    fn decode(&self, input: Input<'_>, options: &DecodeOptions) -> Result<Decoded> {
        read(&SESSION_FORM, input, options.mode)
    }

    fn encode(&self, archive: &Archive, options: &EncodeOptions) -> Result<Encoded> {
        let nothing = Json::Null;
        let empty = archive.main_session().and_then(|session| session.extra.spelling(FORMAT, "agentState"));
        if options.mode == Mode::Compat && empty == Some(&nothing) {
            return Err(Error::new(ErrorKind::Unsupported, "No agent state to save"));
        }
        write(&SESSION_FORM, archive, options.mode)
    }
}

fn read(form: &Form, input: Input<'_>, mode: Mode) -> Result<Decoded> {
    if mode == Mode::Compat {
        return load(form, &input);
    }
    let Document { node, text, syntax, .. } = input.into_document()?;
    if syntax != Syntax::Json {
        // YAML takes more than JSON does: a comma too many, for one.
        json::parse(text).map_err(|error| error.locate(text).hint("correct the JSON at this place"))?;
    }
    let (mut session, losses) = (form.read)(node, mode).map_err(|error| error.locate(text))?;
    TextLayout::of(text, form.layout).note(&mut session, form.layout);
    Ok(Decoded { archive: session.into(), losses })
}

/// Loads as the library does. What it changes in doing so is told by comparing with what stands in the file.
fn load(form: &Form, input: &Input<'_>) -> Result<Decoded> {
    let text = input.whole_text()?;
    let refused = |what: String| Error::new(ErrorKind::Corrupt, what);
    let (no_json, no_state) = form.refusals.unzip();
    let json = compat::parse(text).map_err(|what| refuse(what, no_json))?;
    if form.refusals.is_some() && json.as_object().is_none() {
        return Err(refused(format!("Expected ujson.Obj (data: {json})")));
    }
    let loaded = (form.load)(&json).map_err(|what| refuse(what, no_state))?;
    let (session, _) = (form.read)(Json::to_node(&loaded), Mode::Compat)?;
    let losses = json::parse(text).and_then(|node| (form.read)(node, Mode::Faithful)).map(|(stood, _)| {
        let loss = |change: turnkeep_model::Change| {
            let kind = if change.after.is_none() { LossKind::Dropped } else { LossKind::Coerced };
            Loss::decode(kind, change.at.clone(), "llm4s does not keep it as it stands in the file").of_change(&change)
        };
        diff(&stood, &session).into_iter().map(loss).collect()
    });
    Ok(Decoded { archive: session.into(), losses: losses.unwrap_or_default() })
}

fn refuse(what: String, instead: Option<&str>) -> Error {
    match instead {
        Some(message) => Error::new(ErrorKind::Corrupt, message).hint(what),
        None => Error::new(ErrorKind::Corrupt, what),
    }
}

fn write(form: &Form, archive: &Archive, mode: Mode) -> Result<Encoded> {
    let empty = Session::default();
    let session = archive.main_session().unwrap_or(&empty);
    let standing = encode::standing(session);
    let document = (form.write)(session, &standing, mode);
    let layout =
        if mode == Mode::Compat { TextLayout::usual(form.layout) } else { TextLayout::noted(session, form.layout) };
    let mut sink = JsonSink::new(layout.layout);
    tree::write(&document, &mut sink);
    let mut bytes = sink.into_bytes();
    if layout.newline {
        bytes.push(b'\n');
    }
    let (mut back, _) = (form.read)(document, mode)?;
    layout.note(&mut back, form.layout);
    let losses = loss_report::losses(archive, &back.into(), form.holder);
    Ok(Encoded { bytes, losses })
}

/// How a text is laid out.
#[derive(Clone, Copy)]
struct TextLayout {
    layout: json::Layout,
    newline: bool,
}

impl TextLayout {
    fn usual(layout: json::Layout) -> TextLayout {
        TextLayout { layout, newline: false }
    }

    fn of(text: &str, usual: json::Layout) -> TextLayout {
        let body = text.trim();
        let layout = match (body.contains('\n'), usual) {
            (true, _) => json::Layout::Pretty,
            (false, json::Layout::Pretty) if spaced(body) => json::Layout::Pretty,
            (false, _) => json::Layout::Compact,
        };
        TextLayout { layout, newline: text.ends_with('\n') }
    }

    fn noted(session: &Session, usual: json::Layout) -> TextLayout {
        let spelled = |key: &str| session.extra.spelling(FORMAT, key);
        let layout = match spelled("layout").and_then(Json::as_str).as_deref() {
            Some("compact") => json::Layout::Compact,
            Some("pretty") => json::Layout::Pretty,
            _ => usual,
        };
        TextLayout { layout, newline: spelled("newline").is_some() }
    }

    fn note(self, session: &mut Session, usual: json::Layout) {
        let part = session.extra.part_mut(FORMAT);
        if self.layout != usual {
            let word = if self.layout == json::Layout::Compact { "compact" } else { "pretty" };
            part.spelling.set("layout", word);
        }
        if self.newline {
            part.spelling.set("newline", true);
        }
        session.extra.tidy();
    }
}

/// Whether a text on one line is not compact: then it is laid out as usual.
fn spaced(body: &str) -> bool {
    body.split_once(':').is_some_and(|(_, rest)| rest.starts_with(' '))
}
