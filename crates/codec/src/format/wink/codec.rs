//! The codecs of snapshots, and of snapshots that hold a conversation.

use turnkeep_model::json::{Json, Node};
use turnkeep_model::{Archive, Error, ErrorKind, Loss, LossKind, Result, Session};

use super::conversation::Kind;
use super::document::{self, Snapshot};
use super::encode::{self, Wanted};
use super::types::Types;
use super::{FORMAT, compat, decode, lines, typed};
use crate::codec::{Codec, DecodeOptions, Decoded, EncodeOptions, Encoded, Fidelity, Keeps, Mode, Spec};
use crate::input::{Document, Input, Syntax};
use crate::loss_report;
use crate::sniff::{Confidence, Guess};

/// `wink.snapshot`: a session's slices, or one snapshot a line.
pub(crate) struct SnapshotCodec;

/// `wink.conversation`: a snapshot with a conversation in one of its slices.
pub(crate) struct ConversationCodec;

pub(super) const FIDELITY: Fidelity = Fidelity {
    keys: Keeps::Some,
    system_text: Keeps::All,
    tool_ids: Keeps::All,
    tool_errors: Keeps::Some,
    timing: Keeps::Some,
    slices: Keeps::All,
    ids: Keeps::Some,
    timestamps: Keeps::All,
    ..Fidelity::NOTHING
};

impl Codec for SnapshotCodec {
    fn spec(&self) -> &'static Spec {
        &Spec {
            id: "wink.snapshot",
            title: "weakincentives session snapshot",
            variants: &["auto", "state", "inner"],
            extensions: &[".json", ".jsonl"],
            fidelity: FIDELITY,
            ..Spec::READ_WRITE
        }
    }

    fn sniff(&self, input: &Input<'_>) -> Guess {
        with_first(input, |node| match shape(node) {
            Some((guess, Conversation::None)) => guess,
            // The more telling format is asked first; this one reads it just as well.
            Some((guess, Conversation::Some(_))) => Guess { confidence: Confidence::Likely, ..guess },
            None => Guess::no(),
        })
    }

    fn decode(&self, input: Input<'_>, options: &DecodeOptions) -> Result<Decoded> {
        read(input, options)
    }

    fn encode(&self, archive: &Archive, options: &EncodeOptions) -> Result<Encoded> {
        write(archive, options, Wanted { kind: wanted_kind(options), always: false })
    }
}

impl Codec for ConversationCodec {
    fn spec(&self) -> &'static Spec {
        &Spec {
            id: "wink.conversation",
            title: "weakincentives snapshot with a conversation",
            variants: &["auto", "state", "inner"],
            extensions: &[".json", ".jsonl"],
            fidelity: FIDELITY,
            ..Spec::READ_WRITE
        }
    }

    fn sniff(&self, input: &Input<'_>) -> Guess {
        with_first(input, |node| match shape(node) {
            Some((guess, Conversation::Some(kind))) => {
                let slice = kind.type_id().rsplit(':').next().unwrap_or_default();
                let generation = guess.generation.unwrap_or_default();
                Guess::likely(format!("{}, and one of them is of {slice}", guess.why)).of(generation)
            }
            _ => Guess::no(),
        })
    }

    fn decode(&self, input: Input<'_>, options: &DecodeOptions) -> Result<Decoded> {
        read(input, options)
    }

    fn encode(&self, archive: &Archive, options: &EncodeOptions) -> Result<Encoded> {
        write(archive, options, Wanted { kind: wanted_kind(options), always: true })
    }
}

fn wanted_kind(options: &EncodeOptions) -> Option<Kind> {
    options.variant.as_deref().and_then(Kind::from_word)
}

/// What the first document of an input looks like.
pub(super) fn with_first(input: &Input<'_>, look: impl Fn(&Node<'_>) -> Guess) -> Guess {
    if input.has_lines()
        && let Some(first) = input.first_line().filter(|node| node.as_object().is_some())
    {
        return look(first);
    }
    match input.object() {
        Some(document) if document.syntax == Syntax::Json => look(&document.node),
        _ => Guess::no(),
    }
}

/// Whether a snapshot holds a conversation.
enum Conversation {
    None,
    Some(Kind),
}

/// Whether a document is a snapshot.
fn shape(node: &Node<'_>) -> Option<(Guess, Conversation)> {
    let is_text = |key: &str| node.get(key).is_some_and(|value| value.as_str().is_some());
    if !is_text("version") || !is_text("created_at") || node.get("session").is_some() {
        return None;
    }
    let Some(slices) = node.get("slices").and_then(|slices| slices.as_array()) else {
        let wink = node.get("policies").or(node.get("children_ids")).or(node.get("parent_id")).is_some();
        let why = "it has a version and a time as snapshots do";
        return wink.then(|| (Guess::likely(why).of(generation(node, &[])), Conversation::None));
    };
    if !slices.iter().all(|slice| slice.get("slice_type").is_some() && slice.get("item_type").is_some()) {
        return None;
    }
    let mut kinds = slices.iter().filter_map(|slice| Kind::of_type(&slice.get("item_type")?.as_str()?));
    let conversation = kinds.next_back().map_or(Conversation::None, Conversation::Some);
    let why = "it has a version, a time and slices with their types";
    Some((Guess::certain(why).of(generation(node, slices)), conversation))
}

/// Which releases wrote it: all of them call it version 1.
fn generation(node: &Node<'_>, slices: &[Node<'_>]) -> &'static str {
    // A release writes the type into all items or into none.
    let items = slices.iter().filter_map(|slice| slice.get("items")?.as_array()?.first());
    let typed = items.into_iter().any(|item| item.get("__type__").is_some());
    match (node.get("policies").is_some(), node.get("tags").is_some(), typed) {
        (true, _, true) => "0.16 to 0.22",
        (true, _, false) => "0.23 and later",
        (false, _, true) => "0.13 to 0.15",
        (false, true, false) => "0.12",
        (false, false, false) => "0.5 to 0.11",
    }
}

fn read(input: Input<'_>, options: &DecodeOptions) -> Result<Decoded> {
    if options.mode == Mode::Compat {
        let types = types_of(options)?;
        let mut snapshot = read_compat(input.whole_text()?)?;
        if let Some(types) = &types {
            typed::check(&mut snapshot, types, Mode::Compat).map_err(|error| compat::bare(&error))?;
        }
        return Ok(archive_of(vec![(snapshot, Vec::new())], None));
    }
    let types = types_of(options)?;
    let text = input.text()?;
    let ends = text.ends_with('\n');
    if lines::is_lines(text) {
        let mut snapshots = read_lines(text)?;
        let all = snapshots.iter_mut().map(|(snapshot, _)| snapshot);
        all.zip(lines::numbered(text)).try_for_each(|(snapshot, (number, _))| {
            check_types(snapshot, types.as_ref()).map_err(|error| lines::in_line(error, number))
        })?;
        return Ok(archive_of(snapshots, Some(ends)));
    }
    let document = json_of(input)?;
    let mut losses = Vec::new();
    let mut snapshot = document::read(document.node, &mut losses).map_err(|error| error.locate(document.text))?;
    check_types(&mut snapshot, types.as_ref())?;
    Ok(archive_of(vec![(snapshot, losses)], Some(ends)))
}

/// The types that the caller knows, if a types file says some.
fn types_of(options: &DecodeOptions) -> Result<Option<Types>> {
    options.types.as_deref().map(Types::read).transpose()
}

fn check_types(snapshot: &mut Snapshot<'_>, types: Option<&Types>) -> Result<()> {
    types.map_or(Ok(()), |types| typed::check(snapshot, types, Mode::Faithful))
}

/// The parsed text, unless it is an object of YAML.
pub(super) fn json_of(input: Input<'_>) -> Result<Document<'_>> {
    let document = input.into_document()?;
    if document.syntax == Syntax::Yaml && document.node.as_object().is_some() {
        return Err(Error::new(ErrorKind::NotThisFormat, "a snapshot is JSON, and this is YAML")
            .hint("ask `turnkeep sniff` what it is"));
    }
    Ok(document)
}

fn read_compat(text: &str) -> Result<Snapshot<'_>> {
    let node = compat::loads(text, "Invalid snapshot JSON")?;
    document::read(node, &mut Vec::new()).map_err(|error| compat::bare(&error))
}

pub(super) fn read_lines(text: &str) -> Result<Vec<(Snapshot<'_>, Vec<Loss>)>> {
    let read = |(number, line)| {
        let mut losses = Vec::new();
        let node = lines::parse_line(line).and_then(|node| document::read(node, &mut losses));
        Ok((node.map_err(|error| lines::in_line(error, number))?, losses))
    };
    lines::numbered(text).map(read).collect()
}

/// The sessions of some snapshots; `ends` says whether the text ended with a line break.
pub(super) fn archive_of(snapshots: Vec<(Snapshot<'_>, Vec<Loss>)>, ends: Option<bool>) -> Decoded {
    let mut archive = Archive::default();
    let several = snapshots.len() > 1;
    let mut all = Vec::new();
    for (snapshot, mut losses) in snapshots {
        archive.sessions.push(decode::session(snapshot, &mut losses));
        all.push(losses);
    }
    archive.main = root(&archive.sessions);
    if let Some(ends) = ends.filter(|ends| *ends != several) {
        archive.extra.part_mut(FORMAT).spelling.set("newline", ends);
    }
    let prefixed = all.into_iter().enumerate().flat_map(|(index, losses)| {
        let prefix = archive.prefix(index);
        losses.into_iter().map(move |loss| Loss { at: format!("{prefix}{}", loss.at), ..loss })
    });
    Decoded { losses: prefixed.collect(), archive }
}

/// The session that the others came from: snapshots of a tree are written children first.
fn root(sessions: &[Session]) -> u32 {
    let root = sessions.iter().rposition(|session| session.parent.is_none());
    u32::try_from(root.unwrap_or(sessions.len().saturating_sub(1))).unwrap_or_default()
}

fn write(archive: &Archive, options: &EncodeOptions, wanted: Wanted) -> Result<Encoded> {
    let empty = [Session::default()];
    let sessions = if archive.sessions.is_empty() { &empty[..] } else { &archive.sessions };
    let snapshots = sessions.iter().map(|session| to_write(session, options, wanted));
    let snapshots: Vec<(Snapshot<'_>, Vec<Loss>)> = snapshots.map(|snapshot| (snapshot, Vec::new())).collect();
    let several = snapshots.len() > 1;
    let noted = archive.extra.spelling(FORMAT, "newline").and_then(Json::as_bool);
    let ends = if options.mode == Mode::Compat { several } else { noted.unwrap_or(several) };
    let mut text = String::new();
    for (index, (snapshot, _)) in snapshots.iter().enumerate() {
        snapshot.write(&mut text);
        if ends || index + 1 < snapshots.len() {
            text.push('\n');
        }
    }
    let back = archive_of(snapshots, Some(ends)).archive;
    Ok(Encoded { bytes: text.into_bytes(), losses: losses(archive, &back, "a weakincentives snapshot") })
}

pub(super) fn to_write<'s>(session: &'s Session, options: &EncodeOptions, wanted: Wanted) -> Snapshot<'s> {
    let snapshot = encode::snapshot(session, wanted);
    if options.mode == Mode::Compat { compat::rewritten(snapshot) } else { snapshot }
}

/// What did not survive. Slices are written in the order of their names, which is one loss and not one a slice.
pub(super) fn losses(archive: &Archive, back: &Archive, holder: &str) -> Vec<Loss> {
    let unsorted = |session: &Session| !session.slices.is_sorted_by(|a, b| a.name <= b.name);
    if !archive.sessions.iter().any(unsorted) {
        return loss_report::losses(archive, back, holder);
    }
    let mut sorted = archive.clone();
    let mut losses = Vec::new();
    for (index, session) in sorted.sessions.iter_mut().enumerate().filter(|(_, session)| unsorted(session)) {
        session.slices.sort_by(|a, b| a.name.cmp(&b.name));
        let what = "slices are written in the order of their names";
        losses.push(Loss::encode(LossKind::Reordered, format!("{}slices", archive.prefix(index)), what));
    }
    losses.extend(loss_report::losses(&sorted, back, holder));
    losses
}
