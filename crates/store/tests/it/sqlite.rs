//! What holds for SQLite files beyond the laws.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use pollster::block_on;
use rusqlite::Connection;
use turnkeep_model::event::{BlockAdded, SessionChanged, TurnOpened};
use turnkeep_model::{Author, Block, RunId, Seq, SessionId, Status, Turn};
use turnkeep_store::{
    Claim, Clock, ErrorKind, Finding, Options, Retention, SearchQuery, SqliteStore, Store, StoreExt, open,
};
use turnkeep_testkit::Home;
use turnkeep_testkit::laws::store::{batch, id, said, talk};

fn home() -> (Home, Arc<dyn Store>) {
    let home = Home::new("sqlite");
    let store = home.open();
    (home, store)
}

/// Appends one turn with this text.
fn tell(store: &dyn Store, session: &SessionId, at: Seq, text: &str) -> Seq {
    let mut turn = Turn::default();
    turn.blocks.push(Block::text(Author::User, text));
    let told = batch(at, vec![TurnOpened { turn: Box::new(turn) }.into()]);
    block_on(store.append(session, at, &told)).unwrap()
}

fn add(store: &dyn Store, session: &SessionId, at: Seq, text: &str) -> Seq {
    let added = BlockAdded { turn: 0, block: Block::text(Author::Assistant, text) };
    block_on(store.append(session, at, &batch(at, vec![added.into()]))).unwrap()
}

fn find(store: &dyn Store, text: &str) -> Vec<(String, u64)> {
    let query = SearchQuery { text: text.to_owned(), ..SearchQuery::default() };
    let hits = block_on(store.search().unwrap().search(&query)).unwrap();
    let mut hits: Vec<_> = hits.into_iter().map(|hit| (hit.session.to_string(), hit.seq.0)).collect();
    hits.sort();
    hits
}

#[test]
fn what_was_said_is_found_at_once() {
    let (_home, store) = home();
    let at = tell(&*store, &id("a"), Seq::START, "The quick brown Fox, naïvely");
    add(&*store, &id("a"), at, "jumps over the lazy dog");
    tell(&*store, &id("b"), Seq::START, "A slow fox");

    assert_eq!(find(&*store, "fox"), [("a".to_owned(), 1), ("b".to_owned(), 1)]);
    assert_eq!(find(&*store, "FOX quick"), [("a".to_owned(), 1)]);
    assert_eq!(find(&*store, "naive"), [("a".to_owned(), 1)]);
    assert_eq!(find(&*store, "la"), [("a".to_owned(), 2)]);
    assert_eq!(find(&*store, "\" OR *"), []);
    assert_eq!(find(&*store, "wolf"), []);
}

#[test]
fn a_hit_shows_the_words_where_they_stand() {
    let (_home, store) = home();
    tell(&*store, &id("a"), Seq::START, &format!("{} needle {}", "before ".repeat(50), "after ".repeat(50)));
    let query = SearchQuery { text: "needle".to_owned(), session: Some(id("a")), limit: 1 };

    let hits = block_on(store.search().unwrap().search(&query)).unwrap();

    let marked: Vec<&str> = hits[0].marks.iter().map(|mark| &hits[0].snippet[mark.clone()]).collect();
    assert_eq!(marked, ["needle"]);
    assert!(hits[0].snippet.starts_with('…') && hits[0].snippet.ends_with('…'), "{}", hits[0].snippet);
}

#[test]
fn what_is_deleted_is_found_no_more_and_what_forks_share_is_found_under_them() {
    let (_home, store) = home();
    let at = tell(&*store, &id("a"), Seq::START, "shared word");
    add(&*store, &id("a"), at, "own word");
    block_on(store.fork(&id("a"), Seq(1), &id("fork"))).unwrap();
    assert_eq!(find(&*store, "word").len(), 2);

    block_on(store.delete(&id("a"))).unwrap();

    assert_eq!(find(&*store, "word"), [("fork".to_owned(), 1)]);
    block_on(store.delete(&id("fork"))).unwrap();
    assert_eq!(find(&*store, "word"), []);
}

fn count(home: &Home, query: &str) -> i64 {
    Connection::open(home.path()).unwrap().query_row(query, [], |row| row.get(0)).unwrap()
}

#[test]
fn large_bodies_are_stored_once_and_go_with_their_last_use() {
    let (home, store) = home();
    let large: String = (0..9000).map(|n| format!("{n} ")).collect();
    for name in ["a", "b"] {
        tell(&*store, &id(name), Seq::START, &large);
    }
    assert_eq!(count(&home, "SELECT count(*) FROM body"), 1);

    block_on(store.delete(&id("a"))).unwrap();
    assert_eq!(count(&home, "SELECT refs FROM body"), 1);
    assert_eq!(block_on(store.load(&id("b"))).unwrap().session.turns[0].blocks[0].body.as_text(), Some(large.as_str()));
    block_on(store.delete(&id("b"))).unwrap();

    for table in ["body", "batch", "session", "head", "tag"] {
        assert_eq!(count(&home, &format!("SELECT count(*) FROM {table}")), 0, "{table}");
    }
}

/// The files of a store, its log among them, that hold these bytes anywhere.
fn files_with(home: &Home, bytes: &[u8]) -> Vec<PathBuf> {
    let files = fs::read_dir(home.folder()).unwrap().map(|entry| entry.unwrap().path());
    files.filter(|file| fs::read(file).unwrap().windows(bytes.len()).any(|window| window == bytes)).collect()
}

#[test]
fn an_erased_secret_is_in_no_file_any_more() {
    let (home, store) = home();
    let secret = "hunter2secret";
    let large = format!("{} {secret}", "x ".repeat(9000));
    let at = tell(&*store, &id("a"), Seq::START, &format!("my password is {secret}!"));
    let at = add(&*store, &id("a"), at, &large);
    add(&*store, &id("a"), at, "harmless");
    block_on(store.fork(&id("a"), Seq(3), &id("fork"))).unwrap();
    assert_eq!(find(&*store, secret).len(), 2);
    assert!(!files_with(&home, b"hunter2").is_empty(), "it could be seen");

    let erased = block_on(store.maintenance().unwrap().erase(&id("a"), None, secret)).unwrap();

    assert_eq!((erased.records, erased.shared_with), (vec![Seq(1), Seq(2)], vec![id("fork")]));
    assert_eq!(files_with(&home, b"hunter2"), Vec::<PathBuf>::new());
    assert_eq!(find(&*store, secret), []);
    assert_eq!(find(&*store, "harmless").len(), 1);
    for name in ["a", "fork"] {
        let journal = block_on(store.journal(&id(name))).unwrap();
        let lines: String = journal.batches.iter().map(turnkeep_model::Batch::to_line).collect();
        assert!(!lines.contains(secret) && lines.contains("my password is [erased]!"), "{name}");
        assert_eq!(lines.matches("\"erased\":true").count(), 2);
        assert_eq!(block_on(store.verify(&id(name))).unwrap().findings, []);
    }
    assert_eq!(files_with(&home, b"hunter2"), Vec::<PathBuf>::new());
}

fn claim(worker: &str, seconds: u64) -> Claim {
    Claim { worker: worker.to_owned(), run: RunId::new(format!("run-{worker}")), time: Duration::from_secs(seconds) }
}

/// A store whose clock the test moves.
fn timed() -> (Home, Arc<dyn Store>, Arc<AtomicI64>) {
    let (home, now) = (Home::new("sqlite"), Arc::new(AtomicI64::new(1_000_000)));
    let clock = Arc::clone(&now);
    let options = Options { clock: Clock::new(move || clock.load(Ordering::SeqCst)), ..Options::default() };
    let store = home.open_with(options);
    (home, store, now)
}

fn waiting(store: &dyn Store, name: &str) -> Seq {
    let status = Some(Status::InProgress(Default::default()));
    let changed = SessionChanged { status, ..SessionChanged::default() };
    block_on(store.append(&id(name), Seq::START, &batch(Seq::START, vec![changed.into()]))).unwrap()
}

#[test]
fn a_session_is_run_by_one_worker_until_it_lets_go_or_dies() {
    let (_home, store, now) = timed();
    let last = waiting(&*store, "s");
    let leases = store.leases().unwrap();

    let first = block_on(leases.claim_next(&claim("one", 10))).unwrap().unwrap();
    assert_eq!((first.session.clone(), first.token), (id("s"), last.next()));
    assert_eq!(block_on(leases.claim_next(&claim("two", 10))).unwrap(), None);
    assert_eq!(block_on(leases.claim(&id("s"), &claim("two", 10))).unwrap_err().kind(), ErrorKind::Conflict);
    now.fetch_add(9_000, Ordering::SeqCst);
    block_on(leases.renew(&first, Duration::from_secs(10))).unwrap();
    now.fetch_add(9_000, Ordering::SeqCst);
    assert_eq!(block_on(leases.claim_next(&claim("two", 10))).unwrap(), None);
    now.fetch_add(1_000, Ordering::SeqCst);

    let second = block_on(leases.claim_next(&claim("two", 10))).unwrap().unwrap();

    assert!(second.token > first.token);
    assert_eq!(block_on(leases.renew(&first, Duration::from_secs(10))).unwrap_err().kind(), ErrorKind::Conflict);
    let stale = block_on(store.append(&id("s"), first.token, &said(first.token, "late"))).unwrap_err();
    assert_eq!(stale.kind(), ErrorKind::Conflict);
    block_on(leases.release(&first)).unwrap();
    assert_eq!(block_on(leases.claim_next(&claim("three", 10))).unwrap(), None, "a lost lease lets nothing go");
    block_on(leases.release(&second)).unwrap();
    assert!(block_on(leases.claim_next(&claim("three", 10))).unwrap().is_some());
    let runs = block_on(store.load(&id("s"))).unwrap().session.runs;
    let runs: Vec<String> = runs.into_iter().map(|run| run.id.unwrap().to_string()).collect();
    assert_eq!(runs, ["run-one", "run-two", "run-three"]);
}

#[test]
fn retention_keeps_the_last_changed_and_those_that_are_held() {
    let (_home, store, _) = timed();
    for (n, name) in ["a", "b", "c", "d"].iter().enumerate() {
        let mut first = said(Seq(0), name);
        first.time = said(Seq(n as u64), "").time;
        block_on(store.append(&id(name), Seq::START, &first)).unwrap();
    }
    block_on(store.leases().unwrap().claim(&id("a"), &claim("one", 10))).unwrap();
    let maintenance = store.maintenance().unwrap();
    let retention = Retention { count: Some(2), rehearse: true, ..Retention::default() };

    let rehearsed = block_on(maintenance.gc(&retention)).unwrap();
    let freed = block_on(maintenance.gc(&Retention { rehearse: false, ..retention })).unwrap();

    assert_eq!(rehearsed.sessions, freed.sessions);
    assert_eq!(freed.sessions, [id("b")]);
    let left: Vec<String> = ["a", "b", "c", "d"]
        .into_iter()
        .filter(|name| block_on(store.last(&id(name))).is_ok())
        .map(str::to_owned)
        .collect();
    assert_eq!(left, ["a", "c", "d"]);
}

#[test]
fn the_account_adds_up_and_forks_cost_nothing_much() {
    let (_home, store) = home();
    let last = talk(&*store, &id("s"), 300).into_seq();
    let before = block_on(store.accounting().unwrap().usage()).unwrap();
    for n in 0..10 {
        block_on(store.fork(&id("s"), last, &id(&format!("fork{n}")))).unwrap();
    }

    let after = block_on(store.accounting().unwrap().usage()).unwrap();

    assert_eq!(after.raw, before.raw);
    assert!(after.total - before.total <= 10 * 4096, "{} bytes", after.total - before.total);
    let fork = after.sessions.iter().find(|usage| usage.session == id("fork0")).unwrap();
    assert_eq!((fork.own, fork.shared), (0, fork.raw));
    assert_eq!(fork.raw, before.raw);
    assert!(after.journals < after.raw, "{after:?}");
}

trait IntoSeq {
    fn into_seq(self) -> Seq;
}

impl<F: Future<Output = Seq>> IntoSeq for F {
    fn into_seq(self) -> Seq {
        block_on(self)
    }
}

#[test]
fn a_damaged_row_is_found_and_what_comes_before_it_is_saved() {
    let (home, store) = home();
    talk(&*store, &id("s"), 3).into_seq();
    let breaking = Connection::open(home.path()).unwrap();
    breaking.execute("UPDATE batch SET data = zeroblob(length(data)) WHERE at & 4294967295 = 8", []).unwrap();

    let verified = block_on(store.verify(&id("s"))).unwrap();
    let repaired = block_on(store.repair().unwrap().repair()).unwrap();

    assert!(matches!(verified.findings[..], [Finding::Damaged { seq: Some(Seq(8)), .. }]), "{verified:?}");
    assert_eq!(repaired.iter().map(|repaired| repaired.last).collect::<Vec<_>>(), [Seq(7)]);
    assert_eq!(block_on(store.verify(&id("s"))).unwrap().findings, []);
    assert_eq!(block_on(store.load(&id("s"))).unwrap().session.turns.len(), 1);
    block_on(store.append(&id("s"), Seq(7), &said(Seq(7), "on"))).unwrap();
}

#[cfg(unix)]
#[test]
fn only_the_owner_may_read_the_files() {
    use std::os::unix::fs::PermissionsExt;
    let (home, store) = home();
    block_on(store.append(&id("s"), Seq::START, &said(Seq(0), "a"))).unwrap();

    let modes: Vec<u32> = fs::read_dir(home.folder())
        .unwrap()
        .map(|entry| entry.unwrap().metadata().unwrap().permissions().mode() & 0o777)
        .collect();

    assert!(modes.len() >= 2 && modes.iter().all(|mode| *mode == 0o600), "{modes:?}");
}

#[cfg(unix)]
#[test]
fn folders_that_a_store_makes_are_its_owners() {
    use std::os::unix::fs::PermissionsExt;
    let home = Home::new("sqlite");
    let file = home.folder().join("made/for/it.db");

    drop(SqliteStore::open(&file, Options::default()).unwrap());

    for folder in ["made", "made/for"] {
        let mode = fs::metadata(home.folder().join(folder)).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o700, "{folder}");
    }
}

#[test]
fn a_closed_store_is_one_file() {
    let (home, store) = home();
    let last = talk(&*store, &id("s"), 30).into_seq();
    assert_eq!(block_on(store.last(&id("s"))).unwrap(), last);

    drop(store);

    assert_eq!(fs::read_dir(home.folder()).unwrap().count(), 1);
}

#[test]
fn files_of_others_and_of_newer_versions_are_refused_unchanged() {
    let home = Home::new("sqlite");
    let refused = |statement: &str| {
        Connection::open(home.path()).unwrap().execute_batch(statement).unwrap();
        let before = fs::read(home.path()).unwrap();
        let Err(error) = open(&home.url()) else { panic!("it was opened") };
        assert_eq!(fs::read(home.path()).unwrap(), before);
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        error.to_string()
    };

    assert!(refused("CREATE TABLE theirs (x)").contains("another program"));
    fs::remove_file(home.path()).unwrap();
    drop(home.open());
    assert!(refused("PRAGMA user_version = 99").contains("version 99"));
}

/// Every version of the schema that was released.
const VERSIONS: [u32; 3] = [1, 2, 3];

fn fixture(version: u32) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/store");
    root.join(format!("v{version}.db"))
}

#[test]
fn stores_of_every_version_open() {
    for version in VERSIONS {
        let home = Home::new("sqlite");
        fs::copy(fixture(version), home.path()).unwrap();
        assert_eq!(count(&home, "PRAGMA user_version"), i64::from(version));

        let store = SqliteStore::open(&home.path(), Options::default()).unwrap();

        assert_eq!(block_on(store.load(&id("kept"))).unwrap().session.turns.len(), 3);
        assert_eq!(block_on(store.load(&id("fork"))).unwrap().session.logs, ["on"]);
        assert_eq!(block_on(store.verify(&id("fork"))).unwrap().findings, []);
        assert_eq!(find(&store, "question").len(), 3);
        assert_eq!(block_on(store.append(&id("kept"), Seq(19), &said(Seq(19), "on"))).unwrap(), Seq(20));
        assert_eq!(count(&home, "PRAGMA user_version"), i64::from(VERSIONS[VERSIONS.len() - 1]));
    }
}

#[test]
fn what_an_older_version_had_not_indexed_is_found_in_a_newer_one() {
    let home = Home::new("sqlite");
    fs::copy(fixture(1), home.path()).unwrap();
    let statements = "INSERT INTO words (words) VALUES ('delete-all'); UPDATE session SET indexed = 0;";
    Connection::open(home.path()).unwrap().execute_batch(statements).unwrap();

    let store = home.open();

    assert_eq!(find(&*store, "question").len(), 3);
}

#[test]
#[ignore = "run once for every version of the schema that is released; frozen files are never written again"]
fn freezes_a_store_of_this_version() {
    let (home, store) = home();
    let last = talk(&*store, &id("kept"), 3).into_seq();
    block_on(store.fork(&id("kept"), Seq(7), &id("fork"))).unwrap();
    block_on(store.append(&id("fork"), Seq(7), &said(Seq(7), "on"))).unwrap();
    assert_eq!((last, find(&*store, "question").len()), (Seq(19), 3));
    drop(store);
    let frozen = fixture(u32::try_from(count(&home, "PRAGMA user_version")).unwrap());
    assert!(!frozen.exists(), "{} is frozen already", frozen.display());
    Connection::open(home.path())
        .unwrap()
        .execute_batch("PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode = DELETE")
        .unwrap();
    fs::copy(home.path(), frozen).unwrap();
}
