//! `wink.slice`: the items of one slice, one a line.

use turnkeep_model::json::{Json, Node, Value};
use turnkeep_model::{Archive, Loss, LossKind, Result, Session, Slice};

use super::codec::FIDELITY;
use super::conversation::{self, Kind};
use super::document::refuse;
use super::encode::{Held, as_object, held};
use super::python::{self, Dumps};
use super::{FORMAT, decode, lines};
use crate::codec::{Codec, DecodeOptions, Decoded, EncodeOptions, Encoded, Fidelity, Keeps, Mode, Spec};
use crate::input::{Form, Input, Top};
use crate::loss_report;
use crate::sniff::Guess;
use crate::tree;

/// The codec.
pub(crate) struct SliceCodec;

impl Codec for SliceCodec {
    fn spec(&self) -> &'static Spec {
        &Spec {
            id: "wink.slice",
            title: "weakincentives slice (JSON lines)",
            variants: &["auto", "state", "inner"],
            extensions: &[".jsonl"],
            fidelity: Fidelity { slices: Keeps::Some, ids: Keeps::Nothing, timing: Keeps::Nothing, ..FIDELITY },
            ..Spec::READ_WRITE
        }
    }

    /// The lines of a slice are an application's own objects: only those of a conversation can be told from their keys.
    fn sniff(&self, input: &Input<'_>) -> Guess {
        let Top { form, records } = input.top();
        if !matches!(form, Form::Object | Form::Lines) || !is_ended(input) {
            return Guess::no();
        }
        let all = |keys: &[&str]| {
            let has = |item: &Json| keys.iter().all(|key| item.as_object().is_some_and(|item| item.contains(key)));
            !records.is_empty() && records.iter().all(has)
        };
        match input.name() {
            _ if all(&["__type__"]) => Guess::certain("every line is an object with a `__type__`"),
            _ if all(INNER) || all(STATE) => Guess::certain("every line is a message of a conversation"),
            Some(name) if type_of(name).contains(':') => {
                Guess::likely("every line is an object, and the file is named after a type")
            }
            _ => Guess::no(),
        }
    }

    fn decode(&self, input: Input<'_>, options: &DecodeOptions) -> Result<Decoded> {
        let (items, losses) = read(input.text()?, options.mode)?;
        let name = input.name().map(type_of).unwrap_or_default();
        let ends = input.text()?.is_empty() || input.text()?.ends_with('\n');
        Ok(Decoded { archive: archive_of(name, items, ends), losses })
    }

    fn encode(&self, archive: &Archive, options: &EncodeOptions) -> Result<Encoded> {
        let empty = Session::default();
        let session = archive.main_session().unwrap_or(&empty);
        let items = chosen(session, options.variant.as_deref().and_then(Kind::from_word));
        let mut text = String::new();
        for item in &items {
            python::append_node(item, Dumps::Compact, &mut text);
            text.push('\n');
        }
        let ends = archive.extra.spelling(FORMAT, "newline").is_none();
        if !ends {
            text.pop();
        }
        let back = archive_of(String::new(), items, ends);
        let losses = loss_report::losses(archive, &back, "a weakincentives slice, whose name is that of its file,");
        Ok(Encoded { bytes: text.into_bytes(), losses })
    }
}

/// The keys of every message of a conversation, and of every state of one.
const INNER: &[&str] = &["role", "content", "evaluation_id", "sequence"];
const STATE: &[&str] = &["system_message", "turns", "evaluation_id"];

/// Whether a lone object is a line of its own and no document laid out over lines.
fn is_ended(input: &Input<'_>) -> bool {
    input.top().form == Form::Lines || !input.has_lines()
}

/// The items of a text. A last line that was cut off was never a whole item: it is dropped and reported.
fn read(text: &str, mode: Mode) -> Result<(Vec<Node<'_>>, Vec<Loss>)> {
    let (mut items, mut losses) = (Vec::new(), Vec::new());
    let mut lines = lines::numbered(text).peekable();
    while let Some((number, line)) = lines.next() {
        let is_last = lines.peek().is_none();
        match lines::parse_line(line) {
            Ok(node) if node.is_object() => items.push(node),
            Ok(node) => {
                return Err(lines::in_line(refuse("an item of a slice must be an object", "", node.at), number));
            }
            Err(_) if is_last && !text.ends_with('\n') && mode == Mode::Faithful => {
                losses.push(Loss::decode(
                    LossKind::Dropped,
                    "slices[0].items",
                    format!("line {number} is torn and was dropped"),
                ));
            }
            Err(error) => return Err(lines::in_line(error, number)),
        }
    }
    let blank = text.lines().filter(|line| line.trim().is_empty()).count();
    if blank > 0 {
        losses.push(Loss::decode(LossKind::Repaired, "slices[0].items", format!("blank lines were skipped ({blank})")));
    }
    Ok((items, losses))
}

/// The type that a file is named after: `demo_app.state.Note.jsonl` is of `demo_app.state:Note`.
fn type_of(path: &str) -> String {
    let file = path.rsplit(['/', '\\']).next().unwrap_or(path);
    let name = file.strip_suffix(".jsonl").unwrap_or(file);
    let parts: Vec<&str> = name.split('.').collect();
    let is_class = |part: &&str| part.trim_start_matches('_').starts_with(|c: char| c.is_uppercase());
    match parts.iter().position(is_class) {
        Some(at) if at > 0 => {
            let (module, class) = parts.split_at(at);
            format!("{}:{}", module.join("."), class.join("."))
        }
        _ => name.to_owned(),
    }
}

fn archive_of(name: String, items: Vec<Node<'_>>, ends: bool) -> Archive {
    let mut session = Session::default();
    let name = match Kind::of_type(&name) {
        None => kind_of(&items).map_or(name, |kind| kind.type_id().to_owned()),
        Some(_) => name,
    };
    // A lone file says nothing of policies; a conversation in it is stored as if it did not.
    session.extra.part_mut(FORMAT).spelling.set("absent", vec![Json::from("policies")]);
    session.slices.push(Slice { name, ..Slice::default() });
    let mut items = vec![items];
    conversation::unpack(&mut session, &mut items);
    decode::fill(&mut session, items);
    session.extra.part_mut(FORMAT).spelling.remove("absent");
    session.extra.tidy();
    let mut archive = Archive::from(session);
    if !ends {
        archive.extra.part_mut(FORMAT).spelling.set("newline", false);
    }
    archive
}

/// The kind of a conversation slice, told by its items.
fn kind_of(items: &[Node<'_>]) -> Option<Kind> {
    let all = |keys: &[&str]| {
        let has = |item: &Node<'_>| keys.iter().all(|key| item.get(key).is_some());
        !items.is_empty() && items.iter().all(has)
    };
    match (all(INNER), all(STATE)) {
        (true, _) => Some(Kind::Inner),
        (_, true) => Some(Kind::State),
        _ => None,
    }
}

/// The items to write: the conversation if there is one, else those of the first slice.
fn chosen(session: &Session, wanted: Option<Kind>) -> Vec<Node<'_>> {
    if session.turns.is_empty() && wanted.is_none() {
        let items = session.slices.first().map(|slice| slice.items.as_slice()).unwrap_or_default();
        if items.iter().any(is_full) {
            return items.iter().map(as_object).collect();
        }
    }
    let mut slices: Vec<Held<'_>> = session.slices.iter().map(held).collect();
    let kind = conversation::pack(session, wanted, true, &mut slices);
    let of_kind = |held: &Held<'_>| kind.is_some() && Kind::of_type(&held.entry.item_type) == kind;
    let items = slices.into_iter().find(of_kind).and_then(|held| held.entry.items).unwrap_or_default();
    items.into_iter().map(in_field_order).collect()
}

/// Whether an item says anything: a file of empty objects could be anything.
fn is_full(item: &Json) -> bool {
    item.as_object().is_none_or(|object| !object.is_empty())
}

/// The order of the fields in the original's classes, which is the order in which lines are written.
const FIELD_ORDER: [&str; 23] = [
    "turn_number",
    "assistant_message",
    "tool_messages",
    "provider_payload",
    "role",
    "content",
    "evaluation_id",
    "sequence",
    "tool_calls",
    "tool_call_id",
    "tool_name",
    "call_id",
    "name",
    "arguments",
    "status",
    "turn",
    "prompt_ns",
    "prompt_key",
    "system_message",
    "turns",
    "created_at",
    "message_id",
    "state_id",
];

fn in_field_order(node: Node<'_>) -> Node<'_> {
    match node.value {
        Value::Object(mut fields) => {
            let rank = |key: &str| FIELD_ORDER.iter().position(|known| *known == key).unwrap_or(FIELD_ORDER.len());
            fields.sort_by_key(|(key, _)| rank(&key.to_str_lossy()));
            let ordered = fields.into_iter().map(|(key, value)| {
                let value = if key.is("provider_payload") { value } else { in_field_order(value) };
                (key, value)
            });
            tree::object(ordered.collect())
        }
        Value::Array(items) => tree::array(items.into_iter().map(in_field_order)),
        _ => node,
    }
}
