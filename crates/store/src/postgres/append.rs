//! Appending: one statement, one round trip, and certainty about it after a lost connection.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use deadpool_postgres::GenericClient;
use futures_channel::oneshot;
use tokio_postgres::types::ToSql;
use turnkeep_model::Seq;

use super::base::{Base, PATIENCE, pause, random, worth_waiting};
use super::heads;
use super::lineage::{SessionRow, find};
use super::nul::hide;
use super::sql::{get, query_opt, signed};
use crate::error::{Error, ErrorKind, Result};
use crate::packed::pack::Packed;
use crate::packed::prepared::{PreparedBatch, spelling_number};
use crate::summary::Change;

// Under `READ COMMITTED` an update that waited for another looks at the row again: of two appenders at one place the
// second matches nothing. The hour changes rarely, and then only is an index of the row touched.
const ADD: &str = "WITH s AS (UPDATE session SET before = turns, last = $3, turns = turns + $4, blocks = blocks + $5, \
     bytes = bytes + $6, updated = $7, hour = $7::bigint / 3600000 \
     WHERE id = $1 AND last = $2 RETURNING sid, epoch, before, turns, blocks, bytes)";

const CHANGE: &str = "WITH s AS (UPDATE session SET before = turns, last = $3, turns = coalesce($14, turns) + $4, \
     blocks = coalesce($15, blocks) + $5, bytes = bytes + $6, updated = $7, hour = $7::bigint / 3600000, \
     created = coalesce($16, created), \
     title = CASE WHEN $17 THEN $18 ELSE title END, status = CASE WHEN $19 THEN $20 ELSE status END, \
     tag_keys = coalesce($21, tag_keys), tag_values = coalesce($22, tag_values) \
     WHERE id = $1 AND last = $2 RETURNING sid, epoch, before, turns, blocks, bytes)";

const BEGIN: &str = "WITH s AS (INSERT INTO session (id, last, turns, blocks, bytes, updated, hour, created, title, status, \
     tag_keys, tag_values) VALUES ($1, $3, coalesce($14, 0::bigint) + $4, coalesce($15, 0::bigint) + $5, $6, $7, \
     $7::bigint / 3600000, $16, CASE WHEN $17 THEN $18 END, CASE WHEN $19 THEN $20 END, \
     coalesce($21, '{}'::text[]), coalesce($22, '{}'::text[])) \
     ON CONFLICT (id) DO NOTHING RETURNING sid, epoch, before, turns, blocks, bytes)";

const BATCH: &str = ", b AS (INSERT INTO batch (sid, first, last, turns_before, turns, blocks, bytes, spelling, \
     dictionary, raw, mark, data, bodies) \
     SELECT sid, $2::bigint + 1, $3, before, turns, blocks, bytes, $8, $9, $10, $11, $12, $13 FROM s)";

// In the order of their hashes, so that two who store the same bodies do not wait for each other in a circle.
const BODIES: &str = ", o AS (INSERT INTO body (hash, refs, raw, data) SELECT t.hash, t.refs, t.raw, t.data FROM s, \
     unnest($23::bytea[], $24::bigint[], $25::bigint[], $26::bytea[]) AS t (hash, refs, raw, data) ORDER BY t.hash \
     ON CONFLICT (hash) DO UPDATE SET refs = body.refs + excluded.refs)";

const END: &str = " SELECT sid, epoch FROM s";

/// The statements: for a new session or one that goes on, without and with large bodies; and for a batch that only adds,
/// as most do.
static BEGIN_PLAIN: LazyLock<String> = LazyLock::new(|| [BEGIN, BATCH, END].concat());
static BEGIN_LARGE: LazyLock<String> = LazyLock::new(|| [BEGIN, BATCH, BODIES, END].concat());
static CHANGE_PLAIN: LazyLock<String> = LazyLock::new(|| [CHANGE, BATCH, END].concat());
static CHANGE_LARGE: LazyLock<String> = LazyLock::new(|| [CHANGE, BATCH, BODIES, END].concat());
static ADD_PLAIN: LazyLock<String> = LazyLock::new(|| [ADD, BATCH, END].concat());

/// Where an append went: the session's row, and how often that was changed other than by appending.
#[derive(Debug, Clone, Copy)]
pub(super) struct Landed {
    pub(super) sid: i64,
    pub(super) epoch: i64,
}

/// Appends, and answers as soon as the batch is recorded; the head in memory and the index are told afterwards.
pub(super) async fn append(base: &Arc<Base>, prepared: &PreparedBatch, answer: oneshot::Sender<Result<Seq>>) {
    let recorded = record(base, prepared).await;
    // Whoever asked may have gone.
    let _ = answer.send(recorded.as_ref().map(|_| prepared.effects.last).map_err(Error::clone));
    if let Ok(landed) = recorded {
        landed.into_iter().for_each(|landed| heads::note(base, landed, prepared));
        base.stirred.notify_one();
        base.announcer.changed(&prepared.session, Some(prepared.effects.last));
    }
}

/// Appends, if the session is where the appender believes it to be. A server that goes away meanwhile is waited for;
/// the mark then tells whether the batch was recorded, but not where.
async fn record(base: &Base, prepared: &PreparedBatch) -> Result<Option<Landed>> {
    let mut sent = Sent::No;
    match base.within(limit(prepared), insist(base, prepared, &mut sent)).await {
        Err(error) if error.kind() == ErrorKind::Unavailable && sent == Sent::Perhaps => Err(unsure(error)),
        done => done,
    }
}

/// How long an append may take: some time for its bytes, too.
fn limit(prepared: &PreparedBatch) -> Duration {
    PATIENCE + Duration::from_secs(prepared.line.len() as u64 >> 20)
}

async fn insist(base: &Base, prepared: &PreparedBatch, sent: &mut Sent) -> Result<Option<Landed>> {
    let mark = random();
    let (start, mut wait) = (Instant::now(), Duration::from_millis(5));
    loop {
        match attempt(base, prepared, mark, sent).await {
            Err(error) if worth_waiting(&error, start) => pause(wait).await,
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

async fn attempt(base: &Base, prepared: &PreparedBatch, mark: i64, sent: &mut Sent) -> Result<Option<Landed>> {
    let client = base.client().await?;
    if *sent == Sent::Perhaps && recorded(&client, prepared, mark).await? {
        return Ok(None);
    }
    *sent = Sent::Perhaps;
    match put(&client, base, prepared, mark).await? {
        Some(landed) => Ok(Some(landed)),
        // An earlier attempt may have been recorded while this one was on its way.
        None if recorded(&client, prepared, mark).await? => Ok(None),
        None => Err(refuse(prepared, find(&client, &prepared.session).await?)),
    }
}

fn refuse(prepared: &PreparedBatch, session_row: Option<SessionRow>) -> Error {
    match session_row {
        Some(session_row) => Error::stale(&prepared.session, prepared.at, session_row.last),
        None if prepared.at != Seq::START => Error::unknown(&prepared.session),
        None => Error::new(ErrorKind::Unavailable, "the session was removed meanwhile").session(&prepared.session),
    }
}

fn unsure(error: Error) -> Error {
    let what = "PostgreSQL went away, and whether the batch was recorded is not known";
    Error::new(ErrorKind::Unavailable, what).hint("read on from there and append it if it is missing").because(error)
}

/// Whether this very append was recorded.
async fn recorded(client: &impl GenericClient, prepared: &PreparedBatch, mark: i64) -> Result<bool> {
    let text = "SELECT 1 FROM session JOIN batch USING (sid) WHERE id = $1 AND first = $2 AND mark = $3";
    let values: [&(dyn ToSql + Sync); 3] = [&prepared.session.as_str(), &signed(prepared.first.0), &mark];
    Ok(query_opt(client, text, &values).await?.is_some())
}

/// Appends; gives nothing where the session is elsewhere.
pub(super) async fn put(
    client: &impl GenericClient,
    base: &Base,
    prepared: &PreparedBatch,
    mark: i64,
) -> Result<Option<Landed>> {
    let (effects, packed) = (&prepared.effects, &prepared.packed);
    let change = effects.changes(prepared.at, base.options.clock.now());
    let (id, at, last) = (prepared.session.as_str(), signed(prepared.at.0), signed(effects.last.0));
    let (turns, blocks, bytes) = (signed(change.turns), signed(change.blocks), signed(effects.bytes));
    let (spelling, raw) = (spelling_number(prepared.spelling) as i16, signed(packed.raw as u64));
    let hashes = hashes(packed);
    let (fields, bodies) = (Fields::of(&change), Columns::of(packed));
    let mut values: Vec<&(dyn ToSql + Sync)> = Vec::with_capacity(26);
    values.extend::<[&(dyn ToSql + Sync); 7]>([&id, &at, &last, &turns, &blocks, &bytes, &change.updated]);
    values.extend::<[&(dyn ToSql + Sync); 6]>([&spelling, &packed.dictionary, &raw, &mark, &packed.data, &hashes]);
    let begins = prepared.at == Seq::START;
    let only_adds = !begins && hashes.is_none() && change.only_adds();
    if !only_adds {
        fields.push_to(&mut values);
    }
    if hashes.is_some() {
        values.extend::<[&(dyn ToSql + Sync); 4]>([&bodies.hashes, &bodies.refs, &bodies.raws, &bodies.datas]);
    }
    let statement = match (begins, hashes.is_some()) {
        (true, false) => &BEGIN_PLAIN,
        (true, true) => &BEGIN_LARGE,
        (false, false) if only_adds => &ADD_PLAIN,
        (false, false) => &CHANGE_PLAIN,
        (false, true) => &CHANGE_LARGE,
    };
    let row = query_opt(client, statement, &values).await?;
    row.map(|row| Ok(Landed { sid: get(&row, 0)?, epoch: get(&row, 1)? })).transpose()
}

fn hashes(packed: &Packed) -> Option<Vec<&[u8]>> {
    (!packed.bodies.is_empty()).then(|| packed.bodies.iter().map(|body| body.hash.as_slice()).collect())
}

/// What a batch changes in the row of its session, as columns.
struct Fields<'a> {
    turns: Option<i64>,
    blocks: Option<i64>,
    created: Option<i64>,
    titled: bool,
    title: Option<Cow<'a, str>>,
    stands: bool,
    status: Option<Cow<'a, str>>,
    keys: Option<Vec<Cow<'a, str>>>,
    values: Option<Vec<Cow<'a, str>>>,
}

impl<'a> Fields<'a> {
    fn of(change: &Change<'a>) -> Fields<'a> {
        let (turns, blocks) = change.opened_with.map(|(turns, blocks)| (signed(turns), signed(blocks))).unzip();
        let tag = |part: fn(&(String, String)) -> &String| {
            change.tags.map(|tags| tags.iter().map(|tag| hide(part(tag))).collect::<Vec<_>>())
        };
        Fields {
            turns,
            blocks,
            created: change.created,
            titled: change.title.is_some(),
            title: change.title.flatten().map(hide),
            stands: change.status.is_some(),
            status: change.status.flatten().map(hide),
            keys: tag(|tag| &tag.0),
            values: tag(|tag| &tag.1),
        }
    }

    fn push_to<'b>(&'b self, values: &mut Vec<&'b (dyn ToSql + Sync)>) {
        values.extend::<[&(dyn ToSql + Sync); 3]>([&self.turns, &self.blocks, &self.created]);
        values.extend::<[&(dyn ToSql + Sync); 4]>([&self.titled, &self.title, &self.stands, &self.status]);
        values.extend::<[&(dyn ToSql + Sync); 2]>([&self.keys, &self.values]);
    }
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
