//! From a session to its rows: its own, and those of the pasts it shares.
//!
//! A fork's row names the row of its parent (`past`) and the last record that they share (`until`). One recursive statement
//! gives the segments of a journal, so that a fork of many generations costs one round trip.

use std::collections::HashMap;

use deadpool_postgres::GenericClient;
use tokio_postgres::Row;
use turnkeep_model::{Batch, Seq, SessionId, Spelling};

use super::base::Base;
use super::sql::{get, query, query_opt, signed, unsigned};
use crate::error::{Error, Result};
use crate::packed::pack::{Unpacker, check_length, damaged, join};
use crate::packed::prepared::Written;

/// A query for rows of batches.
macro_rules! rows {
    ($rest:literal) => {
        concat!("SELECT first, last, turns_before, spelling, dictionary, raw, bodies, data FROM batch ", $rest)
    };
}

pub(super) use crate::packed::segment::Segment;
pub(super) use rows;

/// A session row.
#[derive(Debug, Clone, Copy)]
pub(super) struct SessionRow {
    pub(super) sid: i64,
    pub(super) last: Seq,
    pub(super) turns: u64,
    pub(super) bytes: u64,
    pub(super) epoch: i64,
    past: Option<i64>,
}

/// Finds a session.
pub(super) async fn find(client: &impl GenericClient, session: &SessionId) -> Result<Option<SessionRow>> {
    let text = "SELECT sid, last, turns, bytes, epoch, past FROM session WHERE id = $1";
    let row = query_opt(client, text, &[&session.as_str()]).await?;
    row.map(|row| {
        Ok(SessionRow {
            sid: get(&row, 0)?,
            last: Seq(unsigned(&row, 1)?),
            turns: unsigned(&row, 2)?,
            bytes: unsigned(&row, 3)?,
            epoch: get(&row, 4)?,
            past: get(&row, 5)?,
        })
    })
    .transpose()
}

/// Finds a session that must be there.
pub(super) async fn must_find(client: &impl GenericClient, session: &SessionId) -> Result<SessionRow> {
    find(client, session).await?.ok_or_else(|| Error::unknown(session))
}

/// The parts of a session's journal, oldest first.
pub(super) async fn segments(client: &impl GenericClient, session_row: &SessionRow) -> Result<Vec<Segment>> {
    if session_row.past.is_none() {
        return Ok(vec![Segment { sid: session_row.sid, after: Seq::START, until: session_row.last }]);
    }
    segments_of(client, session_row.sid, session_row.last).await
}

/// The parts of the journal of a session row up to a record, oldest first.
pub(super) async fn segments_of(client: &impl GenericClient, sid: i64, last: Seq) -> Result<Vec<Segment>> {
    let text = "WITH RECURSIVE lineage (n, sid, past, until) AS (\
         SELECT 0, sid, past, until FROM session WHERE sid = $1 UNION ALL \
         SELECT n + 1, s.sid, s.past, s.until FROM session s JOIN lineage c ON s.sid = c.past WHERE n < 100000) \
         SELECT sid, past IS NOT NULL, until FROM lineage ORDER BY n";
    let mut segments = Vec::new();
    let mut until = last;
    for row in query(client, text, &[&sid]).await? {
        let after = if get(&row, 1)? { Seq(unsigned(&row, 2)?) } else { Seq::START };
        segments.push(Segment { sid: get(&row, 0)?, after, until });
        until = after.min(until);
    }
    segments.retain(|segment| segment.after < segment.until);
    segments.reverse();
    Ok(segments)
}

/// A row of the table of batches.
#[derive(Debug)]
pub(super) struct Stored {
    pub(super) first: Seq,
    pub(super) last: Seq,
    pub(super) turns_before: u64,
    pub(super) spelling: Spelling,
    written: Written,
    dictionary: i64,
    raw: usize,
    pub(super) bodies: Vec<Vec<u8>>,
    data: Vec<u8>,
}

impl Stored {
    pub(super) fn read(row: &Row) -> Result<Stored> {
        let written = Written::from_number(get::<i16>(row, 3)?.into());
        let written = written.ok_or_else(|| damaged("a row has another shape"))?;
        Ok(Stored {
            first: Seq(unsigned(row, 0)?),
            last: Seq(unsigned(row, 1)?),
            turns_before: unsigned(row, 2)?,
            spelling: written.into(),
            written,
            dictionary: get(row, 4)?,
            raw: usize::try_from(unsigned(row, 5)?).unwrap_or_default(),
            bodies: get::<Option<Vec<Vec<u8>>>>(row, 6)?.unwrap_or_default(),
            data: get(row, 7)?,
        })
    }
}

/// The rows of the batches that begin within a part.
pub(super) async fn begun(client: &impl GenericClient, part: Segment) -> Result<Vec<Stored>> {
    let text = rows!("WHERE sid = $1 AND first > $2 AND first <= $3 ORDER BY first");
    let rows = query(client, text, &[&part.sid, &signed(part.after.0), &signed(part.until.0)]).await?;
    rows.iter().map(Stored::read).collect()
}

/// The row of the batch that holds a record.
pub(super) async fn row_with(client: &impl GenericClient, sid: i64, seq: Seq) -> Result<Option<Stored>> {
    let text = rows!("WHERE sid = $1 AND first <= $2 ORDER BY first DESC LIMIT 1");
    let row = query_opt(client, text, &[&sid, &signed(seq.0)]).await?;
    let row = row.as_ref().map(Stored::read).transpose()?;
    Ok(row.filter(|row| row.last >= seq))
}

/// The batches that begin within a part.
pub(super) async fn batches(client: &impl GenericClient, base: &Base, part: Segment) -> Result<Vec<Batch>> {
    let read = async || parse(client, base, &begun(client, part).await?).await;
    match read().await {
        // Between a batch and its bodies an erasure may have changed both; a second look tells.
        Err(error) if error.kind() == crate::ErrorKind::Corrupt => read().await,
        done => done,
    }
}

/// From how many bytes of lines on others do not wait while they are read.
const LONG: usize = 1 << 16;

/// The batches of rows. Many of them are read while the runtime goes on elsewhere.
pub(super) async fn parse(client: &impl GenericClient, base: &Base, rows: &[Stored]) -> Result<Vec<Batch>> {
    let bodies = bodies(client, rows).await?;
    let parse = || {
        let lines = lines_with(base, rows, &bodies)?;
        lines.into_iter().zip(rows).map(|(line, row)| batch_of(line, row)).collect()
    };
    let long = rows.iter().map(|row| row.raw).sum::<usize>() > LONG || !bodies.is_empty();
    if long { tokio::task::block_in_place(parse) } else { parse() }
}

fn batch_of(line: Result<String>, row: &Stored) -> Result<Batch> {
    let batch = line.and_then(|line| Ok(Batch::from_line_spelled(&line, row.spelling)?));
    batch.map_err(|error| error.seq(row.first))
}

/// The lines of rows, each on its own: one that is damaged harms no other.
pub(super) async fn lines(client: &impl GenericClient, base: &Base, rows: &[Stored]) -> Result<Vec<Result<String>>> {
    lines_with(base, rows, &bodies(client, rows).await?)
}

fn lines_with(base: &Base, rows: &[Stored], bodies: &Bodies) -> Result<Vec<Result<String>>> {
    base.unpack(|unpacker| Ok(rows.iter().map(|row| line(base, unpacker, row, bodies)).collect()))
}

/// The line of one row.
pub(super) async fn line_of(client: &impl GenericClient, base: &Base, row: &Stored) -> Result<String> {
    let lines = lines(client, base, std::slice::from_ref(row)).await?;
    lines.into_iter().next().unwrap_or_else(|| Err(damaged("the line is missing")))
}

type Bodies = HashMap<Vec<u8>, (usize, Vec<u8>)>;

async fn bodies(client: &impl GenericClient, rows: &[Stored]) -> Result<Bodies> {
    let hashes: Vec<&[u8]> = rows.iter().flat_map(|row| &row.bodies).map(Vec::as_slice).collect();
    if hashes.is_empty() {
        return Ok(HashMap::new());
    }
    let found = query(client, "SELECT hash, raw, data FROM body WHERE hash = ANY($1)", &[&hashes]).await?;
    let read = |row: &Row| Ok((get(row, 0)?, (usize::try_from(unsigned(row, 1)?).unwrap_or_default(), get(row, 2)?)));
    found.iter().map(read).collect()
}

fn line(base: &Base, unpacker: &mut Unpacker, row: &Stored, bodies: &Bodies) -> Result<String> {
    let mut body = |hash: &Vec<u8>| {
        let (raw, data) = bodies.get(hash).ok_or_else(|| damaged("a large body is missing"))?;
        unpacker.body(*raw, data)
    };
    let bodies: Vec<Vec<u8>> = row.bodies.iter().map(&mut body).collect::<Result<_>>()?;
    let find = |id| base.dictionaries.get(id).ok_or_else(|| damaged("a dictionary is missing"));
    let rest = unpacker.decompress(row.dictionary, row.raw, &row.data, find)?;
    row.written.given(join(rest, &bodies)?)
}

/// How many bytes of lines are read at once, about.
const PAGE: u64 = 1 << 19;

/// The ranges of a journal to read after `after`, each of about one page.
pub(super) async fn pages(client: &impl GenericClient, session: &SessionId, after: Seq) -> Result<Vec<Segment>> {
    let session_row = must_find(client, session).await?;
    check_length(session_row.last, session_row.bytes)?;
    let step = (PAGE / (session_row.bytes / session_row.last.0.max(1)).max(1)).max(16);
    let mut pages = Vec::new();
    for mut segment in segments(client, &session_row).await?.into_iter().filter(|segment| segment.until > after) {
        // The batch that holds the record after `after` may begin before it.
        if after > segment.after {
            let row = row_with(client, segment.sid, after.next()).await?;
            segment.after = row.map_or(after, |row| Seq(row.first.0.saturating_sub(1)));
        }
        pages.extend(segment.pieces(step));
    }
    Ok(pages)
}
