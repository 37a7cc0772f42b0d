//! `wink.composite`: a snapshot of a session and of the resources its tools act on.

use turnkeep_model::json::{Fields, Json, Node, Object, Text, Value};
use turnkeep_model::{Archive, Loss, LossKind, Result, Session};

use super::codec::{FIDELITY, json_of, losses, to_write, with_first};
use super::document::{self, Snapshot, kept, refuse};
use super::encode::Wanted;
use super::python::{self, Part};
use super::{FORMAT, clock, compat, decode};
use crate::codec::{Codec, DecodeOptions, Decoded, EncodeOptions, Encoded, Mode, Spec};
use crate::fields::{Opened, kept_pairs, open};
use crate::input::Input;
use crate::sniff::Guess;

/// The codec.
pub(crate) struct CompositeCodec;

/// The key under which what surrounds the session is kept.
const ENVELOPE: &str = "composite";

/// A composite snapshot: the session, and the other fields as they are.
struct Composite<'a> {
    session: Snapshot<'a>,
    envelope: Object,
}

impl Codec for CompositeCodec {
    fn spec(&self) -> &'static Spec {
        &Spec {
            id: "wink.composite",
            title: "weakincentives snapshot of a session and its resources",
            extensions: &[".json"],
            fidelity: FIDELITY,
            ..Spec::READ_WRITE
        }
    }

    fn sniff(&self, input: &Input<'_>) -> Guess {
        with_first(input, |node| {
            let session = node.get("session").filter(|session| session.as_object().is_some());
            let wraps = session.is_some_and(|session| session.get("created_at").is_some());
            let version = node.get("version").and_then(|version| version.as_str().map(std::borrow::Cow::into_owned));
            match (wraps && node.get("snapshot_id").is_some(), version) {
                (true, Some(version)) => {
                    Guess::certain("it has a snapshot id and a session snapshot").of(format!("version {version}"))
                }
                _ => Guess::no(),
            }
        })
    }

    fn decode(&self, input: Input<'_>, options: &DecodeOptions) -> Result<Decoded> {
        if options.mode == Mode::Compat {
            let node = compat::loads(input.whole_text()?, "Invalid composite snapshot JSON")?;
            let composite = read(node, Mode::Compat, &mut Vec::new()).map_err(|error| compat::bare(&error))?;
            return Ok(decoded(composite, Vec::new(), false));
        }
        let ends = input.text()?.ends_with('\n');
        let document = json_of(input)?;
        let mut losses = Vec::new();
        let composite =
            read(document.node, Mode::Faithful, &mut losses).map_err(|error| error.locate(document.text))?;
        Ok(decoded(composite, losses, ends))
    }

    fn encode(&self, archive: &Archive, options: &EncodeOptions) -> Result<Encoded> {
        let empty = Session::default();
        let session = archive.main_session().unwrap_or(&empty);
        let session = to_write(session, options, Wanted::default());
        let envelope = envelope(archive, &session, options.mode);
        let composite = Composite { session, envelope };
        let mut pairs = kept(&composite.envelope, &["session"]);
        pairs.push((Text::Plain("session"), Part::Object(composite.session.pairs())));
        let mut text = String::new();
        python::append_pairs(pairs, &mut text);
        let ends = archive.extra.spelling(FORMAT, "newline").is_some() && options.mode == Mode::Faithful;
        if ends {
            text.push('\n');
        }
        let back = decoded(composite, Vec::new(), ends).archive;
        Ok(Encoded { bytes: text.into_bytes(), losses: losses(archive, &back, "a weakincentives composite snapshot") })
    }
}

fn decoded(composite: Composite<'_>, mut losses: Vec<Loss>, ends: bool) -> Decoded {
    let implied = made_up(&composite.session);
    let session = decode::session(composite.session, &mut losses);
    let mut archive = Archive::from(session);
    let part = archive.extra.part_mut(FORMAT);
    if composite.envelope != implied {
        part.fields.set(ENVELOPE, composite.envelope);
    }
    if ends {
        part.spelling.set("newline", true);
    }
    archive.extra.tidy();
    Decoded { archive, losses }
}

/// What surrounds the session, of the source or made up.
fn envelope(archive: &Archive, session: &Snapshot<'_>, mode: Mode) -> Object {
    let own = match archive.extra.fields(FORMAT).and_then(|fields| fields.get(ENVELOPE)) {
        Some(Json::Object(envelope)) => envelope.clone(),
        _ => made_up(session),
    };
    if mode == Mode::Compat { compat_envelope(&own) } else { own }
}

/// A composite of a session that was in none. The id of all zeros says that nobody gave it one.
fn made_up(session: &Snapshot<'_>) -> Object {
    let readable = clock::isoformat(&session.created_at).is_some();
    let taken = if readable { session.created_at.as_str() } else { "1970-01-01T00:00:00+00:00" };
    let pairs = [
        ("created_at", Json::from(taken)),
        ("metadata", Json::Null),
        ("resources", Json::Array(Vec::new())),
        ("snapshot_id", Json::from("00000000-0000-0000-0000-000000000000")),
        ("version", Json::from("1")),
    ];
    pairs.into_iter().collect()
}

/// What the original writes of an envelope that it read.
fn compat_envelope(own: &Object) -> Object {
    let text = |key: &str| own.get_str(key).unwrap_or_default().into_owned();
    let metadata = match own.get("metadata") {
        Some(Json::Object(metadata)) => {
            let field = |key: &'static str| (key, metadata.get(key).cloned().unwrap_or_default());
            let phase = metadata.get("phase").cloned().unwrap_or_else(|| "manual".into());
            let fields = [field("tag"), field("tool_call_id"), field("tool_name"), ("phase", phase)];
            Json::Object(fields.into_iter().collect())
        }
        _ => Json::Null,
    };
    let created = text("created_at");
    let id = text("snapshot_id");
    let pairs = [
        ("created_at", Json::from(clock::isoformat(&created).unwrap_or(created))),
        ("metadata", metadata),
        ("resources", own.get("resources").cloned().unwrap_or_else(|| Json::Array(Vec::new()))),
        ("snapshot_id", Json::from(python::uuid(&id).unwrap_or(id))),
        ("version", own.get("version").cloned().unwrap_or_default()),
    ];
    pairs.into_iter().collect()
}

fn read<'a>(node: Node<'a>, mode: Mode, losses: &mut Vec<Loss>) -> Result<Composite<'a>> {
    let at = node.at;
    let Value::Object(fields) = node.value else {
        return Err(refuse("Composite snapshot payload must be an object", "", at));
    };
    check_version(&fields, at, mode, losses)?;
    check_text(&fields, "snapshot_id", at)?;
    check(&fields, "snapshot_id", |id| python::uuid(id).is_some(), "Invalid snapshot_id")?;
    check_text(&fields, "created_at", at)?;
    check(&fields, "created_at", |time| clock::isoformat(time).is_some(), "Invalid created_at timestamp")?;
    let Opened { slots: [session], rest, .. } = open(fields, &["session"]);
    let session = match session {
        Some(session) if session.as_object().is_some() => read_session(session, mode, losses)?,
        other => return Err(refuse("Session snapshot must be an object", "session", other.map_or(at, |node| node.at))),
    };
    check_resources(&rest, mode)?;
    check_metadata(&rest)?;
    Ok(Composite { session, envelope: kept_pairs(rest) })
}

fn read_session<'a>(node: Node<'a>, mode: Mode, losses: &mut Vec<Loss>) -> Result<Snapshot<'a>> {
    let at = node.at;
    let snapshot = document::read(node, losses);
    match mode {
        Mode::Compat => snapshot
            .and_then(|snapshot| compat::check_values(&snapshot).map(|()| snapshot))
            .map_err(|_| refuse("Failed to parse session snapshot", "session", at)),
        Mode::Faithful => snapshot.map_err(|error| refuse(error.what(), &within(error.at_path()), at)),
    }
}

fn within(path: &str) -> String {
    if path.is_empty() { "session".to_owned() } else { format!("session.{path}") }
}

fn find<'f, 'a>(fields: &'f Fields<'a>, key: &str) -> Option<&'f Node<'a>> {
    fields.iter().rev().find(|(name, _)| name.to_str_lossy() == key).map(|(_, node)| node)
}

/// The original reads version 1 and nothing else; its successor, which has a sandbox in place of resources, writes 2.
fn check_version(fields: &Fields<'_>, at: u32, mode: Mode, losses: &mut Vec<Loss>) -> Result<()> {
    let version = find(fields, "version");
    let text = version.and_then(|version| version.as_str().map(std::borrow::Cow::into_owned));
    match (text.as_deref(), mode) {
        (Some("1"), _) => Ok(()),
        (Some("2"), Mode::Faithful) => Ok(()),
        (Some(_), Mode::Faithful) => {
            let what = "the composite snapshot's version is neither 1 nor 2; it was read as if it were";
            losses.push(Loss::decode(LossKind::Coerced, "archive.extra.wink", what));
            Ok(())
        }
        _ => {
            let got = version.map_or_else(|| "None".to_owned(), |node| python::repr_of(&node.clone().into_json()));
            let words = format!("Composite snapshot schema version mismatch: expected 1, got {got}");
            Err(refuse(&words, "version", version.map_or(at, |node| node.at)))
        }
    }
}

fn check_text(fields: &Fields<'_>, key: &str, at: u32) -> Result<()> {
    match find(fields, key) {
        Some(node) if matches!(node.value, Value::Text(_)) => Ok(()),
        other => {
            let words = format!("Composite snapshot {key} must be a string");
            Err(refuse(&words, key, other.map_or(at, |node| node.at)))
        }
    }
}

fn check(fields: &Fields<'_>, key: &str, good: impl Fn(&str) -> bool, words: &str) -> Result<()> {
    match find(fields, key) {
        Some(node) if !node.as_str().is_some_and(|text| good(&text)) => Err(refuse(words, key, node.at)),
        _ => Ok(()),
    }
}

fn check_resources(fields: &Fields<'_>, mode: Mode) -> Result<()> {
    let Some(resources) = find(fields, "resources") else { return Ok(()) };
    let entries = resources.as_array().ok_or_else(|| refuse("Resources must be a list", "resources", resources.at))?;
    for (index, entry) in entries.iter().enumerate() {
        let path = format!("resources[{index}]");
        if entry.as_object().is_none() {
            return Err(refuse("Resource entry must be an object", &path, entry.at));
        }
        if entry.get("resource_type").is_none_or(|name| name.as_str().is_none()) {
            return Err(refuse("Resource type must be a string", &path, entry.at));
        }
        check_resource_types(entry, &path, mode)?;
    }
    Ok(())
}

/// What a resource is of; the original resolves both types, and what is no type id can be none.
fn check_resource_types(entry: &Node<'_>, path: &str, mode: Mode) -> Result<()> {
    let refuse = |words: &str| Err(refuse(words, path, entry.at));
    let is_type = |id: &str| id.split_once(':').is_some_and(|(module, name)| !module.is_empty() && !name.is_empty());
    let is_refused = |id: &str| mode == Mode::Compat && !is_type(id);
    let resource_type = entry.get_str("resource_type").unwrap_or_default();
    if is_refused(&resource_type) {
        return refuse(&format!("Unknown resource type: {resource_type}"));
    }
    if entry.get("snapshot").is_none_or(|snapshot| !snapshot.is_object()) {
        return refuse("Resource snapshot must be an object");
    }
    match entry.get_str("snapshot_type") {
        None if mode == Mode::Compat => refuse("Resource entry must include snapshot_type"),
        Some(name) if is_refused(&name) => refuse(&format!("Unknown snapshot type: {name}")),
        _ => Ok(()),
    }
}

fn check_metadata(fields: &Fields<'_>) -> Result<()> {
    let Some(metadata) = find(fields, "metadata").filter(|node| node.value != Value::Null) else { return Ok(()) };
    if metadata.as_object().is_none() {
        return Err(refuse("Metadata must be an object", "metadata", metadata.at));
    }
    for key in ["tag", "tool_call_id", "tool_name"] {
        let text = |node: &&Node<'_>| !matches!(node.value, Value::Null | Value::Text(_));
        if let Some(wrong) = metadata.get(key).filter(text) {
            return Err(refuse(&format!("Metadata {key} must be a string"), &format!("metadata.{key}"), wrong.at));
        }
    }
    let phase = |node: &&Node<'_>| !matches!(node.as_str().as_deref(), Some("pre_tool" | "post_tool" | "manual"));
    match metadata.get("phase").filter(phase) {
        Some(wrong) => Err(refuse("Metadata phase must be valid", "metadata.phase", wrong.at)),
        None => Ok(()),
    }
}
