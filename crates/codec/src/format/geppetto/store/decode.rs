//! From the rows of a store to sessions.

use std::collections::HashMap;

use turnkeep_model::json::{self, Json, Node, Text, Value};
use turnkeep_model::{Archive, Loss, LossKind, Result, Session, SessionId};

use super::super::document::Content;
use super::super::{decode, hash, read};
use super::STORE;
use super::rows::{ALGORITHM, BlockKey, BlockRow, MemberRow, Rows, SnapshotKey, TurnKey, TurnRow, made_up_id};
use crate::codec::Mode;

/// The phase that a turn ends in.
pub(super) const FINAL: &str = "final";

/// One session: a snapshot of a turn, or a turn of which no snapshot was kept.
struct Snapshot<'r> {
    turn: &'r TurnRow,
    key: Option<&'r SnapshotKey>,
    members: Vec<&'r MemberRow>,
}

/// Every snapshot as a session, and what was found wrong.
pub(super) fn archive(rows: &Rows, mode: Mode) -> Result<(Archive, Vec<Loss>)> {
    let mut losses = Vec::new();
    let snapshots = snapshots(rows, mode, &mut losses);
    let blocks = verified(rows, &mut losses);
    let mut archive = Archive { main: main_of(&snapshots), ..Archive::default() };
    for (index, snapshot) in snapshots.iter().enumerate() {
        let prefix = archive.prefix(index);
        let (session, found) = session(snapshot, &blocks, mode)?;
        losses.extend(found.into_iter().map(|loss| Loss { at: place(&prefix, &loss.at), ..loss }));
        archive.sessions.push(session);
    }
    Ok((archive, losses))
}

fn place(prefix: &str, at: &str) -> String {
    format!("{prefix}{at}").trim_end_matches('.').to_owned()
}

/// The snapshots by turn, in the order they were written.
fn snapshots<'r>(rows: &'r Rows, mode: Mode, losses: &mut Vec<Loss>) -> Vec<Snapshot<'r>> {
    let mut of_turn: HashMap<&TurnKey, Vec<&SnapshotKey>> = HashMap::new();
    let mut members: HashMap<&SnapshotKey, Vec<&MemberRow>> = HashMap::new();
    for member in &rows.members {
        let known = members.entry(&member.snapshot).or_default();
        if known.is_empty() {
            of_turn.entry(&member.snapshot.turn).or_default().push(&member.snapshot);
        }
        known.push(member);
    }
    let mut snapshots = Vec::new();
    for turn in &rows.turns {
        let keys = of_turn.remove(&turn.key).unwrap_or_default();
        // The original never lists a turn without blocks.
        if keys.is_empty() && mode == Mode::Faithful {
            snapshots.push(Snapshot { turn, key: None, members: Vec::new() });
        }
        for key in keys {
            let mut members = members.remove(key).unwrap_or_default();
            members.sort_by_key(|member| member.ordinal);
            snapshots.push(Snapshot { turn, key: Some(key), members });
        }
    }
    let mut homeless: Vec<_> = members.into_keys().collect();
    homeless.sort();
    for key in homeless {
        losses.push(dropped(format!("a snapshot in the phase `{}` has no turn", key.phase)));
    }
    snapshots
}

/// The latest final snapshot; where there is none, the latest of any phase.
fn main_of(snapshots: &[Snapshot<'_>]) -> u32 {
    let rank = |(index, snapshot): &(usize, &Snapshot<'_>)| {
        let phase = snapshot.key.map(|key| key.phase == FINAL);
        (phase, snapshot.key.map_or(snapshot.turn.updated_ms, |key| key.created_ms), *index)
    };
    let latest = snapshots.iter().enumerate().max_by_key(rank);
    latest.and_then(|(index, _)| u32::try_from(index).ok()).unwrap_or_default()
}

/// The blocks by their names; those that do not match their hash are told.
fn verified<'r>(rows: &'r Rows, losses: &mut Vec<Loss>) -> HashMap<&'r BlockKey, &'r BlockRow> {
    for row in &rows.blocks {
        let what = if row.algorithm != ALGORITHM {
            format!("the hash of block `{}` is of an unknown kind and was not checked", row.key.id)
        } else if !matches_hash(row) {
            format!("block `{}` does not match its hash; it is read as it stands", row.key.id)
        } else {
            continue;
        };
        losses.push(Loss::decode(LossKind::Repaired, "", what));
    }
    rows.blocks.iter().map(|row| (&row.key, row)).collect()
}

/// The texts are what was hashed; a tool that laid them out anew still wrote the same values.
fn matches_hash(row: &BlockRow) -> bool {
    let BlockRow { kind, role, payload, metadata, .. } = row;
    if hash::hash(kind, role, payload, metadata) == row.key.hash {
        return true;
    }
    let canonical = |text: &str| match json::parse(text).map(Node::into_json) {
        Ok(Json::Object(map)) => Some(hash::go_map(&map)),
        Ok(Json::Null) => Some("{}".to_owned()),
        _ => None,
    };
    let canonical = canonical(payload).zip(canonical(metadata));
    canonical.is_some_and(|(payload, metadata)| hash::hash(kind, role, &payload, &metadata) == row.key.hash)
}

fn session(
    snapshot: &Snapshot<'_>,
    blocks: &HashMap<&BlockKey, &BlockRow>,
    mode: Mode,
) -> Result<(Session, Vec<Loss>)> {
    let mut losses = Vec::new();
    let node = turn_node(snapshot, blocks, mode, &mut losses);
    let (file, found) = read::file(node)?;
    losses.extend(found);
    let mut turn = match file.content {
        Content::Turn(turn) => turn,
        Content::Turns(_) | Content::Fixture { .. } => Default::default(),
    };
    // A row has no version, and nothing is to be noted of that.
    turn.version = Some(read::VERSION);
    let (mut session, found) = decode::session(turn);
    losses.extend(found);
    note_columns(&mut session, snapshot);
    note_times(&mut session, snapshot, blocks);
    Ok((session, losses))
}

/// The turn document that the rows hold.
fn turn_node<'r>(
    snapshot: &Snapshot<'r>,
    blocks: &HashMap<&BlockKey, &'r BlockRow>,
    mode: Mode,
    losses: &mut Vec<Loss>,
) -> Node<'r> {
    let turn = snapshot.turn;
    let mut nodes = Vec::new();
    for member in &snapshot.members {
        match blocks.get(&member.block) {
            Some(row) => nodes.push(block_node(row, member, mode, losses)),
            None => losses.push(dropped(format!("block {} is named but not there", member.ordinal))),
        }
    }
    let mut fields =
        vec![(Text::Plain("id"), word(&turn.key.turn)), (Text::Plain("blocks"), node(Value::Array(nodes)))];
    fields.extend(map("metadata", &turn.metadata, losses));
    fields.extend(map("data", &turn.data, losses));
    node(Value::Object(fields))
}

fn block_node<'r>(row: &'r BlockRow, member: &MemberRow, mode: Mode, losses: &mut Vec<Loss>) -> Node<'r> {
    let mut fields = Vec::new();
    let made_up = row.key.id == made_up_id(&member.snapshot.turn.turn, member.ordinal);
    if !made_up || mode == Mode::Compat {
        fields.push((Text::Plain("id"), word(&row.key.id)));
    }
    fields.push((Text::Plain("kind"), word(&row.kind)));
    if !row.role.is_empty() {
        fields.push((Text::Plain("role"), word(&row.role)));
    }
    fields.extend(map("payload", &row.payload, losses));
    fields.extend(map("metadata", &row.metadata, losses));
    node(Value::Object(fields))
}

fn node(value: Value<'_>) -> Node<'_> {
    Node { at: 0, value }
}

fn word(text: &str) -> Node<'_> {
    node(Value::Text(Text::Plain(text)))
}

/// A map of a row, if there is anything in it.
fn map<'r>(key: &'static str, text: &'r str, losses: &mut Vec<Loss>) -> Option<(Text<'r>, Node<'r>)> {
    if matches!(text.trim(), "" | "{}" | "null") {
        return None;
    }
    match json::parse(text) {
        Ok(parsed @ Node { value: Value::Object(_), .. }) => Some((Text::Plain(key), parsed)),
        _ => {
            losses.push(dropped(format!("the {key} of a row is not a JSON object")));
            None
        }
    }
}

fn dropped(what: String) -> Loss {
    Loss::decode(LossKind::Dropped, "", what)
}

/// Keeps what only the store says of the session.
fn note_columns(session: &mut Session, snapshot: &Snapshot<'_>) {
    let TurnRow { key, created_ms, updated_ms, runtime_key, inference_id, .. } = snapshot.turn;
    let evaluation = session.turns.last().and_then(|turn| turn.evaluation.as_ref());
    let derived = evaluation.map_or("", |id| id.as_str());
    let inference = (inference_id != derived).then(|| inference_id.clone());
    let part = session.extra.part_mut(STORE);
    match &session.id {
        None => {
            session.id = Some(SessionId::new(key.session.as_str()));
            part.spelling.set("id", "column");
        }
        Some(id) if id.as_str() != key.session => part.fields.set("session_id", key.session.as_str()),
        Some(_) => {}
    }
    if key.conv != key.session {
        part.fields.set("conv_id", key.conv.as_str());
    }
    if let Some(SnapshotKey { phase, created_ms, .. }) = snapshot.key {
        part.fields.set("phase", phase.as_str());
        part.fields.set("snapshot_created_at_ms", *created_ms);
    }
    part.fields.set("turn_created_at_ms", *created_ms);
    part.fields.set("updated_at_ms", *updated_ms);
    if !runtime_key.is_empty() {
        part.fields.set("runtime_key", runtime_key.as_str());
    }
    if let Some(inference) = inference {
        part.fields.set("inference_id", inference);
    }
}

/// Keeps when a block was first seen, where that is not when its turn was made.
fn note_times(session: &mut Session, snapshot: &Snapshot<'_>, blocks: &HashMap<&BlockKey, &BlockRow>) {
    let found: Vec<_> = snapshot.members.iter().filter_map(|member| blocks.get(&member.block)).collect();
    for block in session.turns.iter_mut().flat_map(|turn| &mut turn.blocks) {
        let row = found.get(block.message.ordinal as usize);
        if let Some(row) = row.filter(|row| row.first_seen_ms != snapshot.turn.created_ms) {
            block.extra.part_mut(STORE).fields.set("first_seen_at_ms", row.first_seen_ms);
        }
    }
}
