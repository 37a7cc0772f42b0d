//! geppetto's turn store: what pinocchio wrote is read, its log included, and what we write is what it would have.

use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use turnkeep_codec::format::{self, geppetto};
use turnkeep_codec::{Confidence, DecodeOptions, Decoded, EncodeOptions, Encoded, Input, sniff};
use turnkeep_model::json::{self, Json, Object};
use turnkeep_model::{Archive, Author, Block, Error, ErrorKind, Loss, LossKind, Session, Turn};

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures")
}

fn fixture(case: &str, file: &str) -> Vec<u8> {
    let path = fixtures().join("geppetto.store").join(case).join(file);
    fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn turns() -> Vec<u8> {
    fixture("turns", "input.sqlite")
}

fn try_decode(bytes: &[u8], files: &[(String, Vec<u8>)]) -> Result<Decoded, Error> {
    let codec = format::by_id("geppetto.store").unwrap();
    codec.decode(Input::new(bytes).with_files(files), &DecodeOptions::default())
}

fn decode(bytes: &[u8]) -> Decoded {
    try_decode(bytes, &[]).unwrap_or_else(|error| panic!("{error}"))
}

fn encode(archive: &Archive) -> Encoded {
    format::by_id("geppetto.store").unwrap().encode(archive, &EncodeOptions::default()).unwrap()
}

fn noted<'s>(session: &'s Session, key: &str) -> Option<&'s Json> {
    session.extra.fields("geppetto.store").and_then(|fields| fields.get(key))
}

/// The bytes of a database that some statements make.
fn database(statements: &str) -> Vec<u8> {
    let mut connection = Connection::open_in_memory().unwrap();
    connection.execute_batch(statements).unwrap();
    connection.serialize("main").unwrap().to_vec()
}

/// The store of the real program after some statements.
fn changed(statements: &str) -> Vec<u8> {
    let bytes = turns();
    let mut connection = Connection::open_in_memory().unwrap();
    connection.deserialize_read_exact("main", bytes.as_slice(), bytes.len(), false).unwrap();
    connection.execute_batch(statements).unwrap();
    connection.serialize("main").unwrap().to_vec()
}

/// Every row of the three tables, as text.
fn dump(bytes: &[u8]) -> Vec<String> {
    let mut connection = Connection::open_in_memory().unwrap();
    connection.deserialize_read_exact("main", bytes, bytes.len(), true).unwrap();
    let mut lines = Vec::new();
    for table in ["turns", "blocks", "turn_block_membership"] {
        let mut statement = connection.prepare(&format!("SELECT * FROM {table} ORDER BY rowid")).unwrap();
        let width = statement.column_count();
        let mut rows = statement.query([]).unwrap();
        while let Some(row) = rows.next().unwrap() {
            let values: Vec<_> = (0..width).map(|index| format!("{:?}", row.get_ref(index).unwrap())).collect();
            lines.push(format!("{table}: {}", values.join(", ")));
        }
    }
    lines
}

#[test]
fn the_real_store_is_recognised_and_read() {
    let bytes = turns();
    let found = sniff(&Input::new(&bytes)).unwrap();
    assert_eq!((found.codec.spec().id, found.guess.confidence), ("geppetto.store", Confidence::Certain));

    let Decoded { archive, losses } = decode(&bytes);

    assert_eq!(losses, []);
    let phases: Vec<_> = archive
        .sessions
        .iter()
        .map(|session| {
            let turn = session.turns.last().unwrap().id.as_ref().unwrap().to_string();
            (turn, noted(session, "phase").and_then(Json::as_str).map(std::borrow::Cow::into_owned))
        })
        .collect();
    assert_eq!(phases.len(), 20, "six turns in three phases, and two without blocks");
    assert_eq!(phases.iter().filter(|(_, phase)| phase.is_none()).count(), 2);
    assert!(phases.contains(&("turn-7".to_owned(), None)));
    let main = archive.main_session().unwrap();
    assert_eq!(main.turns.last().unwrap().id.as_ref().unwrap().as_str(), "t1");
    assert_eq!(noted(main, "phase").unwrap().as_str().as_deref(), Some("final"));
    assert_eq!(noted(main, "snapshot_created_at_ms").unwrap().to_text(), "1780000013002");
    assert_eq!(noted(main, "conv_id").unwrap().as_str().as_deref(), Some("conv-1"));
    assert_eq!(main.id.as_ref().unwrap().as_str(), "sess-1");
}

#[test]
fn the_turns_of_the_real_store_are_their_documents() {
    let Decoded { archive, .. } = decode(&turns());
    let reasoning = archive.sessions.iter().rfind(|session| {
        session.turns.last().and_then(|turn| turn.id.as_ref()).is_some_and(|id| id.as_str() == "turn_reasoning")
    });
    let session = reasoning.unwrap();

    assert_eq!(session.id.as_ref().unwrap().as_str(), "s1");
    assert_eq!(noted(session, "session_id").unwrap().as_str().as_deref(), Some("sess-1"));
    let kinds: Vec<_> = session.blocks().map(|(_, block)| block.body.kind()).collect();
    assert_eq!(kinds, ["reasoning", "text", "tool_call", "tool_result", "tool_call"]);
    assert_eq!(session.turns[0].blocks[0].id.as_ref().unwrap().as_str(), "rs_123");
    assert_eq!(session.turns[0].blocks[1].id, None, "an id that only the store made up is none");
}

#[test]
fn loading_and_saving_gives_the_same_rows() {
    for bytes in [turns(), store_with_log().0] {
        let Decoded { archive, .. } = decode(&bytes);

        let Encoded { bytes: saved, losses, .. } = encode(&archive);

        assert_eq!(losses, []);
        let (mut before, mut after) = (dump(&bytes), dump(&saved));
        before.sort();
        after.sort();
        assert_eq!(before, after);
        assert_eq!(decode(&saved).archive, archive);
        assert_eq!(encode(&archive).bytes, saved, "writing is deterministic");
    }
}

#[test]
fn what_is_written_is_a_sound_database() {
    let Encoded { bytes, .. } = encode(&decode(&turns()).archive);
    let mut connection = Connection::open_in_memory().unwrap();
    connection.deserialize_read_exact("main", bytes.as_slice(), bytes.len(), false).unwrap();

    let verdict: String = connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    let broken = connection.prepare("PRAGMA foreign_key_check").unwrap().query([]).unwrap().next().unwrap().is_some();
    let journal: String = connection.query_row("PRAGMA journal_mode", [], |row| row.get(0)).unwrap();

    assert_eq!((verdict.as_str(), broken), ("ok", false));
    assert_ne!(journal, "wal");
    let names = |connection: &Connection| -> Vec<String> {
        let mut statement = connection.prepare("SELECT type || ' ' || name FROM sqlite_master ORDER BY name").unwrap();
        statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    };
    let mut real = Connection::open_in_memory().unwrap();
    real.deserialize_read_exact("main", turns().as_slice(), turns().len(), true).unwrap();
    assert_eq!(names(&connection), names(&real));
}

/// A block document of the parts that were hashed.
fn block_of(material: &Object) -> geppetto::Block {
    let map = |key: &str| material.get(key).and_then(Json::as_object).cloned();
    let role = material.get_str("role").filter(|role| !role.is_empty());
    geppetto::Block {
        kind: geppetto::Kind::from_word(&material.get_str("kind").unwrap()),
        role: role.map(std::borrow::Cow::into_owned),
        payload: map("payload"),
        metadata: map("metadata"),
        ..geppetto::Block::default()
    }
}

/// Every line of a file of hashes gives the hash it names.
macro_rules! hashes_agree {
    ($($name:ident: $file:literal, $count:literal;)*) => {$(
        #[test]
        fn $name() {
            let lines = String::from_utf8(fixture("hashes", $file)).unwrap();
            let mut checked = 0;
            for line in lines.lines() {
                let line = json::parse(line).unwrap().into_json();
                let line = line.as_object().unwrap();
                let material = match line.get("material").unwrap() {
                    Json::String(text) => json::parse(&text.to_str_lossy()).unwrap().into_json(),
                    material => material.clone(),
                };
                let hash = geppetto::block_hash(&block_of(material.as_object().unwrap()));
                assert_eq!(hash, line.get_str("sha256").unwrap(), "{}", line.get("material").unwrap());
                checked += 1;
            }
            assert_eq!(checked, $count);
        }
    )*};
}

hashes_agree! {
    hash_vectors: "vectors.ndjson", 6;
    hashes_of_edge_cases: "edge.ndjson", 16;
    hashes_of_the_specification: "spec.ndjson", 11;
    hashes_of_recorded_turns: "recorded.ndjson", 45;
}

#[test]
fn a_block_that_was_tampered_with_is_told() {
    let bytes = changed(r#"UPDATE blocks SET payload_json = '{"text":"bye"}' WHERE block_id = 'a#0'"#);

    let Decoded { archive, losses } = decode(&bytes);

    assert_eq!(losses.iter().map(|loss| loss.kind).collect::<Vec<_>>(), [LossKind::Repaired]);
    assert!(losses[0].what.contains("a#0"));
    assert_eq!(archive.sessions[0].turns[0].blocks[0].body.as_text(), Some("bye"));
}

#[test]
fn json_laid_out_anew_still_matches_its_hash() {
    let bytes = changed(r#"UPDATE blocks SET payload_json = '{ "text" : "hi" }' WHERE block_id LIKE 'a#%'"#);

    assert_eq!(decode(&bytes).losses, []);
}

#[test]
fn rows_that_do_not_fit_together_are_told() {
    let bytes = changed(
        "PRAGMA foreign_keys = OFF; DELETE FROM blocks WHERE block_id = 'b1'; DELETE FROM turns WHERE turn_id = 'a';
         UPDATE blocks SET payload_json = 'not json' WHERE block_id = '7'; UPDATE blocks SET hash_algorithm = 'md5' WHERE block_id = 'rs_123';
         CREATE TABLE sessionstream_events (x); ALTER TABLE turns ADD COLUMN mood TEXT",
    );

    let Decoded { archive, losses } = decode(&bytes);

    assert_eq!(archive.sessions.len(), 17);
    let what: Vec<_> = losses.iter().map(|loss| loss.what.as_str()).collect();
    for part in
        ["is named but not there", "has no turn", "not a JSON object", "unknown kind", "sessionstream_events", "`mood`"]
    {
        assert!(what.iter().any(|what| what.contains(part)), "{part}: {what:#?}");
    }
}

#[test]
fn the_original_lists_no_turn_without_blocks() {
    let codec = format::by_id("geppetto.store").unwrap();

    let decoded = codec.decode(Input::new(&turns()), &DecodeOptions::compat()).unwrap();

    assert_eq!(decoded.archive.sessions.len(), 18);
    let first = &decoded.archive.sessions[0].turns[0].blocks[0];
    assert_eq!(first.id.as_ref().unwrap().as_str(), "a#0");
}

#[test]
fn older_schemas_are_read() {
    let bytes = database(
        r#"CREATE TABLE turns (conv_id TEXT, session_id TEXT, turn_id TEXT, created_at_ms INTEGER);
           CREATE TABLE blocks (block_id TEXT, content_hash TEXT, kind TEXT, role TEXT, payload_json TEXT);
           CREATE TABLE turn_block_membership (conv_id, session_id, turn_id, phase, snapshot_created_at_ms, ordinal, block_id, content_hash);
           INSERT INTO turns VALUES ('c', 's', 't', 7);
           INSERT INTO blocks VALUES ('b', 'd86e040856fcffaa74ec697f4fce22967ef3cc8a9dc094c09609242b07ee46ef', 'llm_text', 'assistant', '{"text":"no role"}');
           INSERT INTO turn_block_membership SELECT 'c', 's', 't', 'final', 8, 0, block_id, content_hash FROM blocks"#,
    );

    let Decoded { archive, losses } = decode(&bytes);

    assert_eq!(losses, []);
    let session = &archive.sessions[0];
    assert_eq!(session.turns[0].blocks[0].body.as_text(), Some("no role"));
    assert_eq!(noted(session, "turn_created_at_ms").unwrap().to_text(), "7");
}

/// A store whose newest turns stand only in its log: the merged bytes, the database, and the log.
fn store_with_log() -> (Vec<u8>, Vec<u8>, Vec<u8>) {
    let (database, log) = (fixture("wal", "input.sqlite"), fixture("wal", "log.sqlite-wal"));
    let decoded = try_decode(&database, &[("input.sqlite-wal".to_owned(), log.clone())]).unwrap();
    (encode(&decoded.archive).bytes, database, log)
}

fn with_log(database: &[u8], log: &[u8]) -> Result<Decoded, Error> {
    try_decode(database, &[("input.sqlite-wal".to_owned(), log.to_vec())])
}

#[test]
fn the_log_is_part_of_the_store() {
    let (_, database, log) = store_with_log();

    let without = decode(&database);
    let with = with_log(&database, &log).unwrap();

    assert_eq!((without.archive.sessions.len(), with.archive.sessions.len()), (1, 4));
    assert_eq!(with.losses, []);
    let main = with.archive.main_session().unwrap();
    assert_eq!(main.turns.last().unwrap().id.as_ref().unwrap().as_str(), "t2");
}

#[test]
fn a_log_cut_anywhere_gives_whole_transactions() {
    let (_, database, log) = store_with_log();
    let mut seen = Vec::new();
    for length in (0..=log.len()).step_by(97).chain([log.len() - 1, log.len()]) {
        let decoded = with_log(&database, &log[..length]).unwrap_or_else(|error| panic!("{length}: {error}"));
        let sessions = decoded.archive.sessions.len();
        let broken = |loss: &&Loss| !loss.what.contains("log beside");
        assert_eq!(decoded.losses.iter().filter(broken).count(), 0, "{length}: {:?}", decoded.losses);
        if seen.last() != Some(&sessions) {
            seen.push(sessions);
        }
    }
    assert_eq!(seen, [1, 2, 3, 4]);
}

#[test]
fn a_damaged_log_is_read_up_to_the_damage_and_told() {
    let (_, database, mut log) = store_with_log();
    let middle = log.len() / 2;
    log[middle] ^= 0xff;

    let decoded = with_log(&database, &log).unwrap();

    assert!(decoded.archive.sessions.len() < 4);
    assert_eq!(decoded.losses.len(), 1, "{:?}", decoded.losses);
    log[0] = 0;
    assert_eq!(with_log(&database, &log).unwrap().losses.len(), 1);
}

#[test]
fn a_log_of_another_database_is_refused_or_left_out() {
    let (_, _, log) = store_with_log();

    let error = with_log(&turns(), &log).unwrap_err();

    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert!(error.remedy().is_some());
}

const TABLES: &str = "CREATE TABLE turns (conv_id, session_id, turn_id); CREATE TABLE blocks (block_id, content_hash, kind);
    CREATE TABLE turn_block_membership (conv_id, session_id, turn_id, phase, snapshot_created_at_ms, ordinal, block_id, content_hash);";

#[test]
fn malicious_schemas_are_refused() {
    let view = TABLES.replace(
        "CREATE TABLE turns (conv_id, session_id, turn_id);",
        "CREATE VIEW turns AS SELECT 1 AS conv_id, 2 AS session_id, 3 AS turn_id;",
    );
    let endless = TABLES.replace(
        "CREATE TABLE blocks (block_id, content_hash, kind);",
        "CREATE VIEW blocks AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS block_id, i AS content_hash, i AS kind FROM n;",
    );
    let computed = TABLES.replace(
        "blocks (block_id, content_hash, kind)",
        "blocks (block_id, content_hash, kind AS (zeroblob(1000000000)))",
    );
    for statements in [view, endless, computed] {
        let error = try_decode(&database(&statements), &[]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{statements}: {error}");
        assert!(error.remedy().is_some());
    }
}

#[test]
fn triggers_are_never_run_and_are_told() {
    let bytes = database(&format!("{TABLES} CREATE TRIGGER t AFTER INSERT ON turns BEGIN SELECT 1; END;"));

    let Decoded { archive, losses } = decode(&bytes);

    assert_eq!(archive.sessions.len(), 0);
    assert!(losses.iter().any(|loss| loss.what.contains("trigger")), "{losses:?}");
}

#[test]
fn another_database_is_not_a_store() {
    let bytes = database("CREATE TABLE other (x)");

    assert_eq!(try_decode(&bytes, &[]).unwrap_err().kind(), ErrorKind::NotThisFormat);
    assert!(sniff(&Input::new(&bytes)).is_err());
    assert_eq!(try_decode(b"SQLite format 3\0", &[]).unwrap_err().kind(), ErrorKind::Corrupt);
    assert_eq!(try_decode(b"", &[]).unwrap_err().kind(), ErrorKind::NotThisFormat);
}

#[test]
fn damaged_pages_are_errors_or_losses_never_crashes() {
    let bytes = turns();
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    for _ in 0..300 {
        let mut damaged = bytes.clone();
        for _ in 0..8 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let at = 100 + (state >> 33) as usize % (damaged.len() - 100);
            damaged[at] = (state >> 25) as u8;
        }
        if let Err(error) = try_decode(&damaged, &[]) {
            assert_ne!(error.to_string(), "");
        }
    }
    for length in (0..bytes.len()).step_by(1013) {
        let _ = try_decode(&bytes[..length], &[]);
    }
}

fn chat() -> Session {
    Session {
        turns: vec![Turn {
            blocks: vec![
                Block::text(Author::User, "<Say> & \u{2028}").in_message(0),
                Block::text(Author::Assistant, "Hi!").in_message(1),
            ],
            ..Turn::default()
        }],
        ..Session::default()
    }
}

#[test]
fn any_session_becomes_a_final_snapshot() {
    let archive = Archive { sessions: vec![chat(), chat(), Session::default()], main: 1, ..Archive::default() };

    let Encoded { bytes, losses, .. } = encode(&archive);

    let Decoded { archive: back, losses: found } = decode(&bytes);
    assert_eq!(found, []);
    assert_eq!((back.sessions.len(), back.main), (3, 1));
    assert_eq!(back.sessions[1].turns[0].blocks[0].body, archive.sessions[1].turns[0].blocks[0].body);
    assert_eq!(noted(&back.sessions[1], "phase").unwrap().as_str().as_deref(), Some("final"));
    assert!(losses.iter().all(|loss| loss.kind == LossKind::Synthesised), "{losses:#?}");
    assert_eq!(encode(&back).bytes, bytes);
}

#[test]
fn every_format_can_be_stored() {
    for (format, case, file) in [
        ("geppetto.turn", "reasoning", "input.yaml"),
        ("geppetto.turn", "unknown_kind", "input.yaml"),
        ("lucee.session", "multipart", "input.json"),
    ] {
        let bytes = fs::read(fixtures().join(format).join(case).join(file)).unwrap();
        let archive =
            format::by_id(format).unwrap().decode(Input::new(&bytes), &DecodeOptions::default()).unwrap().archive;

        let Encoded { bytes, losses, .. } = encode(&archive);

        let back = decode(&bytes).archive;
        for change in turnkeep_model::diff(archive.main_session().unwrap(), back.main_session().unwrap()) {
            assert!(losses.iter().any(|loss| loss.covers(&change.at)), "{case}: not told: {}", change.at);
        }
        assert_eq!(encode(&back).bytes, bytes, "{case}");
    }
}
