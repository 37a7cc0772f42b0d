//! From sessions to the rows of a store.

use std::collections::{HashMap, HashSet};

use jiff::Timestamp;
use turnkeep_model::json::{Json, Number, Object};
use turnkeep_model::{Archive, Session, Time};

use super::super::document::{Block, Turn};
use super::super::keys::typed;
use super::super::{encode, hash};
use super::STORE;
use super::decode::FINAL;
use super::rows::{ALGORITHM, BlockKey, BlockRow, MemberRow, Rows, SnapshotKey, TurnKey, TurnRow, made_up_id};
use crate::codec::EncodeOptions;

/// The rows of some sessions: each is a snapshot of a turn.
pub(super) fn rows(archive: &Archive, options: &EncodeOptions) -> Rows {
    let mut encoder = Encoder::default();
    for (index, session) in archive.sessions.iter().enumerate() {
        encoder.session(session, index, options);
    }
    encoder.rows
}

#[derive(Default)]
struct Encoder {
    rows: Rows,
    turns: HashMap<TurnKey, (usize, i64)>,
    blocks: HashMap<BlockKey, usize>,
    snapshots: HashSet<SnapshotKey>,
}

impl Encoder {
    fn session(&mut self, session: &Session, index: usize, options: &EncodeOptions) {
        let empty = Object::new();
        let noted = session.extra.fields(STORE).unwrap_or(&empty);
        let mut turn = encode::turn(session);
        if options.omit_data {
            turn.data = None;
        }
        let key = turn_key(session, &mut turn, noted, index);
        let mut snapshot = SnapshotKey {
            turn: key.clone(),
            phase: text(noted, "phase").unwrap_or_else(|| FINAL.to_owned()),
            created_ms: snapshot_time(session, noted, index),
        };
        let is_kept = !turn.blocks().is_empty();
        // Of two snapshots at the same moment the second would replace the first.
        while is_kept && !self.snapshots.insert(snapshot.clone()) {
            snapshot.created_ms += 1;
        }
        self.turn(key, &turn, session, noted, snapshot.created_ms);
        let first_seen = first_seen(session);
        for (ordinal, block) in (0..).zip(turn.blocks()) {
            let seen = usize::try_from(ordinal).ok().and_then(|ordinal| first_seen.get(ordinal).copied().flatten());
            let seen = seen.or(whole(noted, "turn_created_at_ms")).unwrap_or(snapshot.created_ms);
            let block = self.block(block, &snapshot.turn.turn, ordinal, seen);
            self.rows.members.push(MemberRow { snapshot: snapshot.clone(), ordinal, block });
        }
    }

    fn turn(&mut self, key: TurnKey, turn: &Turn, session: &Session, noted: &Object, at: i64) {
        let evaluation = session.turns.last().and_then(|turn| turn.evaluation.as_ref()).map(ToString::to_string);
        let made = |map: &Option<Object>| map.as_ref().map_or_else(|| "{}".to_owned(), hash::go_map);
        let row = TurnRow {
            key: key.clone(),
            created_ms: whole(noted, "turn_created_at_ms").unwrap_or(at),
            updated_ms: whole(noted, "updated_at_ms").unwrap_or(at),
            metadata: made(&turn.metadata),
            data: made(&turn.data),
            runtime_key: text(noted, "runtime_key").unwrap_or_default(),
            inference_id: text(noted, "inference_id").or(evaluation).unwrap_or_default(),
        };
        match self.turns.get_mut(&key).and_then(|known| Some((self.rows.turns.get_mut(known.0)?, known))) {
            None => {
                self.turns.insert(key, (self.rows.turns.len(), at));
                self.rows.turns.push(row);
            }
            // A turn has its metadata once: the newest snapshot's.
            Some((known, (_, newest))) => {
                let created_ms = known.created_ms.min(row.created_ms);
                let updated_ms = known.updated_ms.max(row.updated_ms);
                if at >= *newest {
                    *newest = at;
                    *known = row;
                }
                (known.created_ms, known.updated_ms) = (created_ms, updated_ms);
            }
        }
    }

    fn block(&mut self, block: &Block, turn: &str, ordinal: i64, seen: i64) -> BlockKey {
        let id = block.id.clone().filter(|id| !id.is_empty()).unwrap_or_else(|| made_up_id(turn, ordinal));
        let key = BlockKey { id, hash: hash::block_hash(block) };
        match self.blocks.get(&key).and_then(|at| self.rows.blocks.get_mut(*at)) {
            Some(known) => known.first_seen_ms = known.first_seen_ms.min(seen),
            None => {
                self.blocks.insert(key.clone(), self.rows.blocks.len());
                self.rows.blocks.push(BlockRow {
                    key: key.clone(),
                    algorithm: ALGORITHM.to_owned(),
                    kind: hash::stored_kind(block).to_owned(),
                    role: block.role.clone().unwrap_or_default(),
                    payload: hash::go_map(block.payload.as_ref().unwrap_or(&Object::new())),
                    metadata: hash::go_map(&hash::stored_metadata(block)),
                    first_seen_ms: seen,
                });
            }
        }
        key
    }
}

/// What names the turn of a session. Where the id is only a column, it is not written into the metadata.
fn turn_key(session: &Session, turn: &mut Turn, noted: &Object, index: usize) -> TurnKey {
    let own = session.id.as_ref().map(ToString::to_string).filter(|id| !id.is_empty());
    if session.extra.spelling(STORE, "id").is_some()
        && let Some(metadata) = &mut turn.metadata
    {
        metadata.remove(&typed("session_id"));
    }
    let session_id = text(noted, "session_id").or(own).unwrap_or_else(|| format!("session-{}", index + 1));
    let conv = text(noted, "conv_id").unwrap_or_else(|| session_id.clone());
    let turn = turn.id.clone().filter(|id| !id.is_empty()).unwrap_or_else(|| format!("turn-{}", index + 1));
    TurnKey { conv, session: session_id, turn }
}

/// When a snapshot was made: as noted, or when its session was last touched, or its place in the archive.
fn snapshot_time(session: &Session, noted: &Object, index: usize) -> i64 {
    let touched = session.last_time().and_then(Time::instant).map(Timestamp::as_millisecond);
    let noted = whole(noted, "snapshot_created_at_ms").or(whole(noted, "turn_created_at_ms"));
    noted.or(touched).filter(|ms| *ms > 0).unwrap_or_else(|| i64::try_from(index).unwrap_or_default() + 1)
}

/// When each block of the source was first seen, where that was noted.
fn first_seen(session: &Session) -> Vec<Option<i64>> {
    let mut times: Vec<Option<i64>> = Vec::new();
    let mut last = None;
    for (_, _, block) in session.in_message_order() {
        if last == Some(block.message.ordinal) {
            continue;
        }
        last = Some(block.message.ordinal);
        times.push(block.extra.fields(STORE).and_then(|fields| whole(fields, "first_seen_at_ms")));
    }
    times
}

fn text(map: &Object, key: &str) -> Option<String> {
    map.get_str(key).filter(|text| !text.is_empty()).map(std::borrow::Cow::into_owned)
}

fn whole(map: &Object, key: &str) -> Option<i64> {
    map.get(key).and_then(Json::as_number).and_then(Number::as_i64)
}
