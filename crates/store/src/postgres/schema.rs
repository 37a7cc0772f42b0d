//! The tables, their versions, and how a database gets them: by itself, and once, however many processes open it.

use deadpool_postgres::{Client, GenericClient, Transaction};

use super::fault::failed;
use super::sql::{execute, get, query_one, query_opt};
use crate::error::{Error, ErrorKind, Result};

/// Every version of the schema: what it brought, and how to get there from the one before.
const VERSIONS: &[(&str, &str)] = &[
    ("The first: sessions, batches, bodies, heads and the search index.", V1),
    ("An append changes no index of the session's row, and checks no key of it again.", V2),
    (
        "What forks were given by their parents is kept, so that listings can be made anew; heads have sums; whoever changes \
         a session's row tells its hour.",
        V3,
    ),
];

// Ids are compared byte by byte, whatever the database's own order. What is compressed already is not compressed again.
const V1: &str = r#"
CREATE TABLE session (
    sid bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id text COLLATE "C" UNIQUE,
    past bigint REFERENCES session (sid),
    until bigint NOT NULL DEFAULT 0,
    origin text COLLATE "C",
    last bigint NOT NULL,
    before bigint NOT NULL DEFAULT 0,
    turns bigint NOT NULL,
    blocks bigint NOT NULL,
    bytes bigint NOT NULL,
    created bigint NOT NULL,
    updated bigint NOT NULL,
    title text,
    status text,
    tag_keys text[] NOT NULL DEFAULT '{}',
    tag_values text[] NOT NULL DEFAULT '{}',
    indexed bigint NOT NULL DEFAULT 0,
    epoch bigint NOT NULL DEFAULT 0,
    lease_token bigint,
    lease_until bigint,
    lease_worker text
) WITH (fillfactor = 80);
CREATE INDEX session_updated ON session (updated DESC, id);
CREATE INDEX session_waiting ON session (updated, sid) WHERE status IN ('pending', 'in_progress', 'waiting_for_tools');
CREATE INDEX session_past ON session (past) WHERE past IS NOT NULL;
CREATE INDEX session_origin ON session (origin) WHERE origin IS NOT NULL;
CREATE TABLE batch (
    sid bigint NOT NULL REFERENCES session (sid),
    first bigint NOT NULL,
    last bigint NOT NULL,
    turns_before bigint NOT NULL,
    turns bigint NOT NULL,
    blocks bigint NOT NULL,
    bytes bigint NOT NULL,
    spelling smallint NOT NULL,
    dictionary bigint NOT NULL,
    raw bigint NOT NULL,
    mark bigint NOT NULL,
    bodies bytea[],
    data bytea NOT NULL,
    PRIMARY KEY (sid, first)
);
ALTER TABLE batch ALTER data SET STORAGE EXTERNAL;
CREATE TABLE body (hash bytea PRIMARY KEY, refs bigint NOT NULL, raw bigint NOT NULL, data bytea NOT NULL);
ALTER TABLE body ALTER data SET STORAGE EXTERNAL;
CREATE TABLE head (sid bigint PRIMARY KEY REFERENCES session (sid) ON DELETE CASCADE,
    seq bigint NOT NULL, raw bigint NOT NULL, data bytea NOT NULL);
ALTER TABLE head ALTER data SET STORAGE EXTERNAL;
CREATE TABLE words (sid bigint NOT NULL REFERENCES session (sid) ON DELETE CASCADE,
    seq bigint NOT NULL, part integer NOT NULL, lexemes tsvector NOT NULL, PRIMARY KEY (sid, seq, part));
CREATE INDEX words_lexemes ON words USING gin (lexemes);
"#;

// An update that changes no indexed column stays in its page and touches no index. So listings and workers find sessions
// by the hour of their last change, and sort within it. That the session of a batch is there is sure without a key: the
// batch hangs from the update of its row, in one statement.
const V2: &str = "
ALTER TABLE session ADD COLUMN hour bigint NOT NULL GENERATED ALWAYS AS (updated / 3600000) STORED;
DROP INDEX session_updated;
DROP INDEX session_waiting;
CREATE INDEX session_hour ON session (hour);
CREATE INDEX session_waiting ON session (hour) WHERE status IN ('pending', 'in_progress', 'waiting_for_tools');
ALTER TABLE batch DROP CONSTRAINT batch_sid_fkey;
";

// What a fork's own batches have changed since is said by them: it does not matter here.
const V3: &str = r#"
CREATE TABLE fork (
    sid bigint PRIMARY KEY REFERENCES session (sid) ON DELETE CASCADE,
    past bigint NOT NULL,
    until bigint NOT NULL,
    origin text COLLATE "C" NOT NULL,
    created bigint NOT NULL,
    updated bigint NOT NULL,
    title text,
    status text,
    tag_keys text[] NOT NULL,
    tag_values text[] NOT NULL
);
INSERT INTO fork SELECT sid, past, until, origin, created, updated, title, status, tag_keys, tag_values FROM session
    WHERE past IS NOT NULL AND origin IS NOT NULL;
DELETE FROM head;
ALTER TABLE session ALTER hour DROP EXPRESSION;
"#;

/// The hour of a time in milliseconds, as the session's row has it.
pub(super) fn hour(time: i64) -> i64 {
    time / 3_600_000
}

/// Locks that only this program knows: one for changing the schema, one for the search index and what it must not see.
const MIGRATION: i32 = 0x5475_726e;
const INDEX: i32 = 0x5475_726f;

/// Brings the schema to the newest version. Whoever comes second waits, and finds it done.
pub(super) async fn migrate(client: &mut Client, schema: &str) -> Result<()> {
    check_encoding(client).await?;
    if version(client, schema).await? == Some(newest()) {
        return Ok(());
    }
    let transaction = client.transaction().await.map_err(failed)?;
    lock(&transaction, MIGRATION, schema).await?;
    let from = match version(&transaction, schema).await? {
        Some(version) => version,
        None => begin(&transaction, schema).await?,
    };
    if from > newest() {
        let what = format!("the store has version {from}; this program knows up to {}", newest());
        return Err(Error::new(ErrorKind::Unsupported, what).hint("use a newer turnkeep"));
    }
    for (number, (what, statements)) in (1..).zip(VERSIONS).skip(usize::try_from(from).unwrap_or_default()) {
        transaction.batch_execute(statements).await.map_err(failed)?;
        let number: i32 = number;
        execute(&transaction, "INSERT INTO version VALUES ($1, $2)", &[&number, what]).await?;
    }
    transaction.commit().await.map_err(failed)
}

fn newest() -> i32 {
    i32::try_from(VERSIONS.len()).unwrap_or(i32::MAX)
}

async fn check_encoding(client: &impl GenericClient) -> Result<()> {
    let encoding: String = get(&query_one(client, "SELECT current_setting('server_encoding')", &[]).await?, 0)?;
    if encoding == "UTF8" {
        return Ok(());
    }
    let what = format!("the database has the encoding {encoding}, which cannot hold every id");
    Err(Error::new(ErrorKind::Unsupported, what).hint("create one with ENCODING 'UTF8' TEMPLATE template0"))
}

/// The version of the tables, if they are there.
async fn version(client: &impl GenericClient, schema: &str) -> Result<Option<i32>> {
    // The tables of the catalogue tell what is there now; functions that look names up may remember what was there.
    let there = "SELECT EXISTS (SELECT 1 FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
         WHERE n.nspname = $1 AND c.relname = 'version' AND c.relkind = 'r')";
    if !get::<bool>(&query_one(client, there, &[&schema]).await?, 0)? {
        return Ok(None);
    }
    let row = query_opt(client, "SELECT max(version) FROM version", &[]).await?;
    row.map_or(Ok(None), |row| get(&row, 0))
}

/// Makes the schema and its table of versions, unless someone else lives there.
async fn begin(transaction: &Transaction<'_>, schema: &str) -> Result<i32> {
    let row = query_opt(transaction, "SELECT oid FROM pg_namespace WHERE nspname = $1", &[&schema]).await?;
    if row.is_none() {
        transaction.batch_execute(&format!("CREATE SCHEMA {schema}")).await.map_err(failed)?;
    }
    let theirs = "SELECT EXISTS (SELECT 1 FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
         WHERE n.nspname = $1 AND c.relkind = 'r')";
    if get(&query_one(transaction, theirs, &[&schema]).await?, 0)? {
        let what = format!("the schema `{schema}` has tables of another program");
        return Err(Error::new(ErrorKind::Unsupported, what).hint("name another one with `?schema=NAME`"));
    }
    let table = "CREATE TABLE version (version integer PRIMARY KEY, what text NOT NULL)";
    transaction.batch_execute(table).await.map_err(failed)?;
    Ok(0)
}

/// Removes the schema with everything in it.
pub(super) async fn destroy(client: &Client, schema: &str) -> Result<()> {
    client.batch_execute(&format!("DROP SCHEMA IF EXISTS {schema} CASCADE")).await.map_err(failed)
}

async fn lock(transaction: &Transaction<'_>, which: i32, schema: &str) -> Result<()> {
    execute(transaction, "SELECT pg_advisory_xact_lock($1, hashtext($2))", &[&which, &schema]).await.map(drop)
}

/// Keeps everyone else from indexing or removing until the transaction ends. It is taken before any row, so that nobody
/// waits in a circle.
pub(super) async fn alone(transaction: &Transaction<'_>) -> Result<()> {
    let text = "SELECT pg_advisory_xact_lock($1, hashtext(current_schema()))";
    execute(transaction, text, &[&INDEX]).await.map(drop)
}
