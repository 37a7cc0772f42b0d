//! Appending and forking, inside a transaction of the writer.

use std::borrow::Cow;

use rusqlite::params;
use turnkeep_model::{Seq, SessionId};

use super::chain::{Place, key, signed};
use super::desk::Desk;
use super::pack::{Packed, pack};
use super::schema::failed;
use crate::error::{Error, Result};
use crate::packed::ready::spelling_number;
pub(super) use crate::packed::ready::{Ready, hashes, ready};
use crate::store::{no_such_place, taken};
use crate::summary::{Effects, Summary};

/// Appends, if the session is where the appender believes it to be. Nothing is written before that is known.
pub(super) fn append(desk: &mut Desk, ready: &Ready) -> Result<Seq> {
    let session = &ready.session;
    let place = match desk.find(session)? {
        Some(place) if place.last != ready.at => return Err(Error::stale(session, ready.at, place.last)),
        Some(place) => place,
        None if ready.at != Seq::START => return Err(Error::unknown(session)),
        None => begin(desk, session)?,
    };
    let summary = update(desk, &place, &ready.effects)?;
    insert(desk, &place, &summary, ready)?;
    super::search::lacks(desk, place.sid)?;
    super::heads::note(desk, place.sid, ready)?;
    Ok(ready.effects.last)
}

fn begin(desk: &Desk, session: &SessionId) -> Result<Place> {
    desk.connection
        .prepare_cached(
            "INSERT INTO session (id, last, turns, blocks, bytes, created, updated) VALUES (?1, 0, 0, 0, 0, 0, 0)",
        )
        .and_then(|mut insert| insert.execute([session.as_str()]))
        .map_err(failed)?;
    Ok(Place { sid: desk.connection.last_insert_rowid(), last: Seq::START, turns: 0, bytes: 0 })
}

fn update(desk: &Desk, place: &Place, effects: &Effects) -> Result<Summary> {
    let mut summary = desk.row_summary(place.sid)?;
    summary.apply(effects, desk.clock.now());
    desk.connection
        .prepare_cached(
            "UPDATE session SET last = ?2, turns = ?3, blocks = ?4, bytes = ?5, created = ?6, updated = ?7, \
             title = ?8, status = ?9 WHERE sid = ?1",
        )
        .and_then(|mut update| {
            update.execute(params![
                place.sid,
                signed(summary.last.0),
                signed(summary.turns),
                signed(summary.blocks),
                signed(summary.bytes),
                summary.created,
                summary.updated,
                summary.title,
                summary.status
            ])
        })
        .map_err(failed)?;
    if let Some(tags) = &effects.tags {
        set_tags(desk, place.sid, tags)?;
    }
    Ok(summary)
}

pub(super) fn set_tags(desk: &Desk, sid: i64, tags: &[(String, String)]) -> Result<()> {
    let mut delete = desk.connection.prepare_cached("DELETE FROM tag WHERE sid = ?1").map_err(failed)?;
    delete.execute([sid]).map_err(failed)?;
    let mut insert = desk.connection.prepare_cached("INSERT INTO tag VALUES (?1, ?2, ?3, ?4)").map_err(failed)?;
    for (n, (key, value)) in tags.iter().enumerate() {
        insert.execute(params![sid, n as i64, key, value]).map_err(failed)?;
    }
    Ok(())
}

fn insert(desk: &Desk, place: &Place, summary: &Summary, ready: &Ready) -> Result<()> {
    let packed = &readable(desk, ready)?;
    put_bodies(desk, packed)?;
    desk.connection
        .prepare_cached("INSERT INTO batch VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)")
        .and_then(|mut insert| {
            insert.execute(params![
                key(place.sid, ready.first).unwrap_or_default(),
                signed(ready.effects.last.0),
                signed(place.turns),
                signed(summary.turns),
                signed(summary.blocks),
                signed(summary.bytes),
                spelling_number(ready.spelling),
                packed.dictionary,
                packed.raw as i64,
                hashes(packed),
                packed.data
            ])
        })
        .map(drop)
        .map_err(failed)
}

/// What is stored; packed anew if its dictionary was retired meanwhile, by whatever process.
fn readable<'a>(desk: &Desk, ready: &'a Ready) -> Result<Cow<'a, Packed>> {
    if desk.has_dictionary(ready.packed.dictionary)? {
        return Ok(Cow::Borrowed(&ready.packed));
    }
    repacked(desk, &ready.line).map(Cow::Owned)
}

/// A line, packed against a dictionary that is in the store.
pub(super) fn repacked(desk: &Desk, line: &str) -> Result<Packed> {
    let packed = pack(line, &desk.dictionaries)?;
    if desk.has_dictionary(packed.dictionary)? {
        return Ok(packed);
    }
    desk.dictionaries.retire(packed.dictionary);
    pack(line, &desk.dictionaries)
}

/// Stores the bodies that are new, and counts one more use of each.
pub(super) fn put_bodies(desk: &Desk, packed: &Packed) -> Result<()> {
    for body in &packed.bodies {
        desk.connection
            .prepare_cached(
                "INSERT INTO body (hash, refs, dictionary, raw, data) VALUES (?1, 1, -1, ?2, ?3) \
                 ON CONFLICT (hash) DO UPDATE SET refs = refs + 1",
            )
            .and_then(|mut insert| insert.execute(params![body.hash.as_slice(), body.raw as i64, body.data]))
            .map_err(failed)?;
    }
    Ok(())
}

/// Makes a session that shares the past of another.
pub(super) fn fork(desk: &mut Desk, session: &SessionId, at: Seq, child: &SessionId) -> Result<()> {
    let place = desk.must_find(session)?;
    if desk.find(child)?.is_some() {
        return Err(taken(child));
    }
    let holder = desk.segments(place.sid, place.last)?.into_iter().find(|part| part.after < at && at <= part.until);
    let row = holder.map(|part| Ok::<_, Error>((part.sid, desk.row_with(part.sid, at)?))).transpose()?;
    let Some((holder, Some(row))) = row.filter(|(_, row)| row.as_ref().is_some_and(|row| row.last == at)) else {
        return Err(no_such_place(session, at));
    };
    let same = at == place.last;
    desk.connection
        .prepare_cached(
            "INSERT INTO session (id, past, until, origin, last, indexed, turns, blocks, bytes, created, updated, title, status) \
             SELECT ?1, ?2, ?3, ?4, ?3, ?3, batch.turns, batch.blocks, batch.bytes, s.created, s.updated, s.title, \
             CASE WHEN ?5 THEN s.status END FROM session s, batch WHERE s.sid = ?6 AND batch.at = ?7",
        )
        .and_then(|mut insert| {
            insert.execute(params![child.as_str(), holder, signed(at.0), session.as_str(), same, place.sid, row.at])
        })
        .map_err(failed)?;
    let sid = desk.connection.last_insert_rowid();
    desk.connection
        .prepare_cached("INSERT INTO tag SELECT ?1, n, key, value FROM tag WHERE sid = ?2")
        .and_then(|mut insert| insert.execute([sid, place.sid]))
        .map_err(failed)?;
    keep_given(desk, sid)
}

/// Keeps what a fork was given, as its listing says it now.
pub(super) fn keep_given(desk: &Desk, sid: i64) -> Result<()> {
    let given = "INSERT OR REPLACE INTO fork SELECT sid, past, until, origin, created, updated, title, status \
         FROM session WHERE sid = ?1 AND past IS NOT NULL AND origin IS NOT NULL";
    for statement in [given, "INSERT OR REPLACE INTO fork_tag SELECT * FROM tag WHERE sid = ?1"] {
        desk.connection.prepare_cached(statement).and_then(|mut insert| insert.execute([sid])).map_err(failed)?;
    }
    Ok(())
}
