//! Appending: one statement, one round trip, and certainty about it after a lost connection.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use deadpool_postgres::GenericClient;
use tokio_postgres::types::ToSql;
use turnkeep_model::Seq;

use super::base::{Base, pause, random, worth_waiting};
use super::chain::{Place, find};
use super::heads;
use super::nul::hide;
use super::sql::{get, query_opt, signed};
use crate::error::{Error, ErrorKind, Result};
use crate::packed::pack::Packed;
use crate::packed::ready::{Ready, spelling_number};

// Under `READ COMMITTED` an update that waited for another looks at the row again: of two appenders at one place the
// second matches nothing.
const GO_ON: &str = "WITH s AS (UPDATE session SET before = turns, last = $3, turns = coalesce($4, turns) + $5, \
     blocks = coalesce($6, blocks) + $7, bytes = bytes + $8, created = coalesce($9, created), updated = $10, \
     title = CASE WHEN $11 THEN $12 ELSE title END, status = CASE WHEN $13 THEN $14 ELSE status END, \
     tag_keys = coalesce($15, tag_keys), tag_values = coalesce($16, tag_values) \
     WHERE id = $1 AND last = $2 RETURNING sid, epoch, before, turns, blocks, bytes)";

const BEGIN: &str = "WITH s AS (INSERT INTO session (id, last, turns, blocks, bytes, created, updated, title, status, \
     tag_keys, tag_values) VALUES ($1, $3, coalesce($4, 0::bigint) + $5, coalesce($6, 0::bigint) + $7, $8, \
     $9, $10, CASE WHEN $11 THEN $12 END, CASE WHEN $13 THEN $14 END, \
     coalesce($15, '{}'::text[]), coalesce($16, '{}'::text[])) \
     ON CONFLICT (id) DO NOTHING RETURNING sid, epoch, before, turns, blocks, bytes)";

const BATCH: &str = ", b AS (INSERT INTO batch (sid, first, last, turns_before, turns, blocks, bytes, spelling, \
     dictionary, raw, mark, bodies, data) \
     SELECT sid, $2::bigint + 1, $3, before, turns, blocks, bytes, $17, $18, $19, $20, $21, $22 FROM s)";

// In the order of their hashes, so that two who store the same bodies do not wait for each other in a circle.
const BODIES: &str = ", o AS (INSERT INTO body (hash, refs, raw, data) SELECT t.hash, t.refs, t.raw, t.data FROM s, \
     unnest($23::bytea[], $24::bigint[], $25::bigint[], $26::bytea[]) AS t (hash, refs, raw, data) ORDER BY t.hash \
     ON CONFLICT (hash) DO UPDATE SET refs = body.refs + excluded.refs)";

const END: &str = " SELECT sid, epoch FROM s";

/// The statements: for a new session or one that goes on, without and with large bodies.
static BEGIN_PLAIN: LazyLock<String> = LazyLock::new(|| [BEGIN, BATCH, END].concat());
static BEGIN_LARGE: LazyLock<String> = LazyLock::new(|| [BEGIN, BATCH, BODIES, END].concat());
static GO_ON_PLAIN: LazyLock<String> = LazyLock::new(|| [GO_ON, BATCH, END].concat());
static GO_ON_LARGE: LazyLock<String> = LazyLock::new(|| [GO_ON, BATCH, BODIES, END].concat());

/// Where an append went: the session's row, and how often that was changed other than by appending.
#[derive(Debug, Clone, Copy)]
pub(super) struct Landed {
    pub(super) sid: i64,
    pub(super) epoch: i64,
}

/// Appends, if the session is where the appender believes it to be. A server that goes away meanwhile is waited for;
/// the mark then tells whether the batch was recorded.
pub(super) async fn append(base: &Arc<Base>, ready: &Ready) -> Result<Seq> {
    let mark = random();
    let (start, mut wait, mut sent) = (Instant::now(), Duration::from_millis(5), Sent::No);
    loop {
        match attempt(base, ready, mark, &mut sent).await {
            Err(error) if worth_waiting(&error, start) => pause(wait).await,
            Err(error) if error.kind() == ErrorKind::Unavailable && sent == Sent::Perhaps => return Err(unsure(error)),
            done => return done,
        }
        wait = (wait * 2).min(Duration::from_millis(250));
    }
}

/// Whether the server may have the batch.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sent {
    No,
    Perhaps,
}

async fn attempt(base: &Arc<Base>, ready: &Ready, mark: i64, sent: &mut Sent) -> Result<Seq> {
    let client = base.client().await?;
    if *sent == Sent::Perhaps && recorded(&client, ready, mark).await? {
        return Ok(ready.effects.last);
    }
    *sent = Sent::Perhaps;
    match put(&client, base, ready, mark).await? {
        Some(landed) => {
            heads::note(base, landed, ready);
            base.stirred.notify_one();
            Ok(ready.effects.last)
        }
        // An earlier attempt may have been recorded while this one was on its way.
        None if recorded(&client, ready, mark).await? => Ok(ready.effects.last),
        None => Err(refuse(ready, find(&client, &ready.session).await?)),
    }
}

fn refuse(ready: &Ready, place: Option<Place>) -> Error {
    match place {
        Some(place) => Error::stale(&ready.session, ready.at, place.last),
        None if ready.at != Seq::START => Error::unknown(&ready.session),
        None => Error::new(ErrorKind::Unavailable, "the session was removed meanwhile").session(&ready.session),
    }
}

fn unsure(error: Error) -> Error {
    let what = "PostgreSQL went away, and whether the batch was recorded is not known";
    Error::new(ErrorKind::Unavailable, what).hint("read on from there and append it if it is missing").because(error)
}

/// Whether this very append was recorded.
async fn recorded(client: &impl GenericClient, ready: &Ready, mark: i64) -> Result<bool> {
    let text = "SELECT 1 FROM session JOIN batch USING (sid) WHERE id = $1 AND first = $2 AND mark = $3";
    let values: [&(dyn ToSql + Sync); 3] = [&ready.session.as_str(), &signed(ready.first.0), &mark];
    Ok(query_opt(client, text, &values).await?.is_some())
}

/// Appends; gives nothing where the session is elsewhere.
pub(super) async fn put(client: &impl GenericClient, base: &Base, ready: &Ready, mark: i64) -> Result<Option<Landed>> {
    let effects = &ready.effects;
    let packed = &ready.packed;
    let change = effects.changes(ready.at, base.options.clock.now());
    let (turns, blocks) = change.opened_with.map(|(turns, blocks)| (signed(turns), signed(blocks))).unzip();
    let (title, status) = (change.title.flatten().map(hide), change.status.flatten().map(hide));
    let tag = |part: fn(&(String, String)) -> &String| {
        effects.tags.as_ref().map(|tags| tags.iter().map(|tag| hide(part(tag))).collect::<Vec<_>>())
    };
    let (keys, values) = (tag(|tag| &tag.0), tag(|tag| &tag.1));
    let hashes: Option<Vec<&[u8]>> =
        (!packed.bodies.is_empty()).then(|| packed.bodies.iter().map(|body| body.hash.as_slice()).collect());
    let bodies = Columns::of(packed);
    let mut parameters: Vec<&(dyn ToSql + Sync)> = Vec::with_capacity(26);
    let (id, at, last) = (ready.session.as_str(), signed(ready.at.0), signed(effects.last.0));
    let (added_turns, added_blocks, bytes) = (signed(change.turns), signed(change.blocks), signed(effects.bytes));
    let (titled, stands) = (change.title.is_some(), change.status.is_some());
    let (spelling, raw) = (spelling_number(ready.spelling) as i16, signed(packed.raw as u64));
    parameters.extend::<[&(dyn ToSql + Sync); 10]>([
        &id,
        &at,
        &last,
        &turns,
        &added_turns,
        &blocks,
        &added_blocks,
        &bytes,
        &change.created,
        &change.updated,
    ]);
    parameters.extend::<[&(dyn ToSql + Sync); 6]>([&titled, &title, &stands, &status, &keys, &values]);
    parameters.extend::<[&(dyn ToSql + Sync); 6]>([&spelling, &packed.dictionary, &raw, &mark, &hashes, &packed.data]);
    if hashes.is_some() {
        parameters.extend::<[&(dyn ToSql + Sync); 4]>([&bodies.hashes, &bodies.refs, &bodies.raws, &bodies.datas]);
    }
    let text = match (ready.at == Seq::START, hashes.is_some()) {
        (true, false) => &BEGIN_PLAIN,
        (true, true) => &BEGIN_LARGE,
        (false, false) => &GO_ON_PLAIN,
        (false, true) => &GO_ON_LARGE,
    };
    let row = query_opt(client, text, &parameters).await?;
    row.map(|row| Ok(Landed { sid: get(&row, 0)?, epoch: get(&row, 1)? })).transpose()
}

/// The bodies of a line as columns, each body once.
#[derive(Default)]
pub(super) struct Columns<'a> {
    pub(super) hashes: Vec<&'a [u8]>,
    pub(super) refs: Vec<i64>,
    pub(super) raws: Vec<i64>,
    pub(super) datas: Vec<&'a [u8]>,
}

impl Columns<'_> {
    pub(super) fn of(packed: &Packed) -> Columns<'_> {
        let mut uses = BTreeMap::new();
        for body in &packed.bodies {
            uses.entry(body.hash.as_slice()).or_insert((body, 0)).1 += 1;
        }
        let mut columns = Columns::default();
        for (hash, (body, count)) in uses {
            columns.hashes.push(hash);
            columns.refs.push(count);
            columns.raws.push(signed(body.raw as u64));
            columns.datas.push(&body.data);
        }
        columns
    }
}
