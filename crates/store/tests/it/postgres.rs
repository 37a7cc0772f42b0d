//! What holds for PostgreSQL beyond the laws.

use std::collections::HashSet;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::thread;
use std::time::Duration;

use pollster::block_on;
use turnkeep_model::event::{BlockAdded, SessionChanged, TurnOpened};
use turnkeep_model::{Author, Batch, Block, RunId, Seq, SessionId, Status, Turn};
use turnkeep_store::{
    Claim, Clock, ErrorKind, Finding, Lease, Options, Query, Retention, SearchQuery, Store, StoreExt, open,
};
use turnkeep_testkit::laws::store::{batch, id, said, talk};
use turnkeep_testkit::{Home, server};

/// A home, unless there is no server.
pub(crate) fn home() -> Option<Home> {
    match Home::missing("postgres") {
        Some(reason) => {
            eprintln!("skipped: postgres ({reason})");
            None
        }
        None => Some(Home::new("postgres")),
    }
}

/// Runs a statement behind the store's back, and gives what it prints.
pub(crate) fn psql(home: &Home, statement: &str) -> String {
    try_psql(home, statement).unwrap()
}

/// Runs a statement behind the store's back; gives what it prints, or why it is refused.
pub(crate) fn try_psql(home: &Home, statement: &str) -> Result<String, String> {
    let url = home.url();
    let (server, schema) = url.split_once("?schema=").unwrap();
    let output = Command::new(server::programs().unwrap().join("psql"))
        .args(["-qAtX", "-v", "ON_ERROR_STOP=1", server, "-c", statement])
        .env("PGOPTIONS", format!("-c search_path={schema}"))
        .output()
        .unwrap();
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    Ok(String::from_utf8(output.stdout).unwrap().trim().to_owned())
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

pub(crate) fn find(store: &dyn Store, text: &str) -> Vec<(String, u64)> {
    let query = SearchQuery { text: text.to_owned(), ..SearchQuery::default() };
    let hits = block_on(store.search().unwrap().search(&query)).unwrap();
    let mut hits: Vec<_> = hits.into_iter().map(|hit| (hit.session.to_string(), hit.seq.0)).collect();
    hits.sort();
    hits
}

#[test]
fn what_was_said_is_found_at_once() {
    let Some(home) = home() else { return };
    let store = home.open();
    let at = tell(&*store, &id("a"), Seq::START, "The quick brown Fox, naïvely");
    add(&*store, &id("a"), at, "jumps over the lazy dog\0");
    tell(&*store, &id("b"), Seq::START, "A slow fox");

    assert_eq!(find(&*store, "fox"), [("a".to_owned(), 1), ("b".to_owned(), 1)]);
    assert_eq!(find(&*store, "FOX quick"), [("a".to_owned(), 1)]);
    assert_eq!(find(&*store, "naive"), [("a".to_owned(), 1)]);
    assert_eq!(find(&*store, "la"), [("a".to_owned(), 2)]);
    assert_eq!(find(&*store, "' | 'fox' <-> \\"), [("a".to_owned(), 1), ("b".to_owned(), 1)]);
    assert_eq!(find(&*store, "wolf"), []);
    let query = SearchQuery { text: "lazy".to_owned(), session: Some(id("a")), limit: 1 };
    let hits = block_on(store.search().unwrap().search(&query)).unwrap();
    assert_eq!(hits[0].marks.iter().map(|mark| &hits[0].snippet[mark.clone()]).collect::<Vec<_>>(), ["lazy"]);
}

#[test]
fn what_is_deleted_is_found_no_more_and_what_forks_share_is_found_under_them() {
    let Some(home) = home() else { return };
    let store = home.open();
    let at = tell(&*store, &id("a"), Seq::START, "shared word");
    add(&*store, &id("a"), at, "own word");
    block_on(store.fork(&id("a"), Seq(1), &id("fork"))).unwrap();
    assert_eq!(find(&*store, "word").len(), 2);

    block_on(store.delete(&id("a"))).unwrap();

    assert_eq!(find(&*store, "word"), [("fork".to_owned(), 1)]);
    block_on(store.delete(&id("fork"))).unwrap();
    assert_eq!(find(&*store, "word"), []);
    assert_eq!(psql(&home, "SELECT (SELECT count(*) FROM session) + (SELECT count(*) FROM words)"), "0");
}

#[test]
fn large_bodies_are_stored_once_and_go_with_their_last_use() {
    let Some(home) = home() else { return };
    let store = home.open();
    let large: String = (0..9000).map(|n| format!("{n} ")).collect();
    let twice = format!("{large}\", \"{large}");
    for name in ["a", "b"] {
        tell(&*store, &id(name), Seq::START, &large);
    }
    tell(&*store, &id("c"), Seq::START, &twice);
    assert_eq!(psql(&home, "SELECT count(*) FROM body"), "2");

    block_on(store.delete(&id("a"))).unwrap();
    assert_eq!(block_on(store.repair().unwrap().check(None)).unwrap(), []);
    assert_eq!(block_on(store.load(&id("b"))).unwrap().session.turns[0].blocks[0].body.as_text(), Some(large.as_str()));
    for name in ["b", "c"] {
        block_on(store.delete(&id(name))).unwrap();
    }

    for table in ["body", "batch", "session", "head", "words"] {
        assert_eq!(psql(&home, &format!("SELECT count(*) FROM {table}")), "0", "{table}");
    }
}

#[test]
fn an_erased_secret_is_gone_from_journals_listings_index_and_heads() {
    let Some(home) = home() else { return };
    let store = home.open();
    let secret = "hunter2secret";
    let large = format!("{} {secret}", "x ".repeat(9000));
    let at = tell(&*store, &id("a"), Seq::START, &format!("my password is {secret}!"));
    let at = add(&*store, &id("a"), at, &large);
    let titled = SessionChanged { title: Some(format!("about {secret}")), ..SessionChanged::default() };
    block_on(store.append(&id("a"), at, &batch(at, vec![titled.into()]))).unwrap();
    block_on(store.fork(&id("a"), Seq(3), &id("fork"))).unwrap();
    assert_eq!(find(&*store, secret).len(), 2);

    let erased = block_on(store.maintenance().unwrap().erase(&id("a"), None, secret)).unwrap();

    assert_eq!((erased.records, erased.shared_with), (vec![Seq(1), Seq(2), Seq(3)], vec![id("fork")]));
    assert_eq!(find(&*store, secret), []);
    assert_eq!(find(&*store, "password").len(), 1);
    for name in ["a", "fork"] {
        let lines: String = block_on(store.journal(&id(name))).unwrap().batches.iter().map(Batch::to_line).collect();
        assert!(!lines.contains(secret) && lines.contains("my password is [erased]!"), "{name}");
        assert_eq!(block_on(store.summary(&id(name))).unwrap().title.as_deref(), Some("about [erased]"));
        assert_eq!(
            block_on(store.load_window(&id(name), 1)).unwrap().head.session.title.as_deref(),
            Some("about [erased]")
        );
        assert_eq!(block_on(store.verify(&id(name))).unwrap().findings, []);
    }
    assert_eq!(block_on(store.repair().unwrap().check(None)).unwrap(), []);
}

/// The relations of a schema, tables of long values and indexes among them, whose files hold these bytes anywhere.
fn relations_with(home: &Home, text: &str) -> String {
    psql(home, "CHECKPOINT");
    let statement = format!(
        "WITH own AS (SELECT c.oid, c.reltoastrelid FROM pg_class c WHERE c.relnamespace = current_schema()::regnamespace), \
         kin AS (SELECT oid FROM own UNION SELECT reltoastrelid FROM own \
         UNION SELECT i.indexrelid FROM pg_index i JOIN own ON i.indrelid IN (own.oid, own.reltoastrelid)) \
         SELECT string_agg(oid::regclass::text, ' ' ORDER BY oid) FROM kin WHERE pg_relation_filenode(oid) IS NOT NULL \
         AND position('{text}'::bytea IN pg_read_binary_file(pg_relation_filepath(oid))) > 0"
    );
    psql(home, &statement)
}

#[test]
fn an_erased_secret_is_in_no_file_of_a_table_any_more() {
    let Some(home) = home() else { return };
    let store = home.open();
    let at = tell(&*store, &id("a"), Seq::START, "my password is hunter2secret!");
    let at = add(&*store, &id("a"), at, &format!("{} hunter2secret", "x ".repeat(9000)));
    let titled = SessionChanged { title: Some("about hunter2secret".to_owned()), ..SessionChanged::default() };
    block_on(store.append(&id("a"), at, &batch(at, vec![titled.into()]))).unwrap();
    block_on(store.load_window(&id("a"), 1)).unwrap();
    assert_eq!(find(&*store, "hunter2secret").len(), 2);
    assert_ne!(relations_with(&home, "hunter2secret"), "", "it could be seen");

    block_on(store.maintenance().unwrap().erase(&id("a"), None, "hunter2secret")).unwrap();

    assert_eq!(find(&*store, "password").len(), 1);
    assert_eq!(relations_with(&home, "hunter2secret"), "");
}

/// What an append is told when the server has no room for a row of a table, and what it left behind.
fn without_room(home: &Home, store: &dyn Store, table: &str, moment: &str) {
    let large = format!("{table} {moment} {}", (0..9000).map(|n| n.to_string()).collect::<String>());
    let before = block_on(store.journal(&id("s"))).unwrap();
    psql(home, &format!("CREATE TRIGGER full_now {moment} INSERT OR UPDATE ON {table} EXECUTE FUNCTION full_now()"));

    let refused = block_on(store.append(&id("s"), before.last(), &said(before.last(), &large))).unwrap_err();

    psql(home, &format!("DROP TRIGGER full_now ON {table}"));
    assert_eq!(refused.kind(), ErrorKind::Io, "{table} {moment}: {refused}");
    assert_eq!(refused.remedy(), Some("nothing was recorded; make room and try again"));
    assert_eq!(block_on(store.journal(&id("s"))).unwrap(), before);
    block_on(store.append(&id("s"), before.last(), &said(before.last(), &large))).unwrap();
}

#[test]
fn a_server_without_room_at_any_write_records_nothing_and_goes_on() {
    let Some(home) = home() else { return };
    let store = home.open();
    block_on(talk(&*store, &id("s"), 1));
    psql(
        &home,
        "CREATE FUNCTION full_now() RETURNS trigger LANGUAGE plpgsql AS \
         $$ BEGIN RAISE EXCEPTION 'no room' USING ERRCODE = 'disk_full'; END $$",
    );

    for table in ["session", "batch", "body"] {
        for moment in ["BEFORE", "AFTER"] {
            without_room(&home, &*store, table, moment);
        }
    }

    assert_eq!(block_on(store.verify(&id("s"))).unwrap().findings, []);
    assert_eq!(block_on(store.repair().unwrap().check(None)).unwrap(), []);
}

#[test]
fn a_server_that_only_takes_reads_is_read_and_refuses_appends() {
    let Some(home) = home() else { return };
    let last = block_on(talk(&*home.open(), &id("s"), 2));
    let url = format!("{}&options=-c%20default_transaction_read_only%3Don", home.url());

    let store = open(&url).unwrap();
    let refused = block_on(store.append(&id("s"), last, &said(last, "on"))).unwrap_err();
    let forked = block_on(store.fork(&id("s"), last, &id("fork"))).unwrap_err();

    assert_eq!((refused.kind(), forked.kind()), (ErrorKind::Io, ErrorKind::Io));
    assert_eq!(refused.remedy(), Some("the server only takes reads; name the primary one"));
    assert_eq!(block_on(store.load(&id("s"))).unwrap().seq, last);
    assert_eq!(block_on(home.open().append(&id("s"), last, &said(last, "on"))).unwrap(), last.next());
}

fn claim(worker: &str, seconds: u64) -> Claim {
    Claim { worker: worker.to_owned(), run: RunId::new(format!("run-{worker}")), time: Duration::from_secs(seconds) }
}

/// Options with a clock that the test moves.
fn timed() -> (Options, Arc<AtomicI64>) {
    let now = Arc::new(AtomicI64::new(1_000_000));
    let clock = Arc::clone(&now);
    (Options { clock: Clock::new(move || clock.load(Ordering::SeqCst)), ..Options::default() }, now)
}

fn waiting(store: &dyn Store, name: &str) -> Seq {
    let status = Some(Status::InProgress(Default::default()));
    let changed = SessionChanged { status, ..SessionChanged::default() };
    block_on(store.append(&id(name), Seq::START, &batch(Seq::START, vec![changed.into()]))).unwrap()
}

#[test]
fn a_session_is_run_by_one_worker_until_it_lets_go_or_dies() {
    let Some(home) = home() else { return };
    let (options, now) = timed();
    let store = home.open_with(options);
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

/// Every worker has a store of its own, claims what it gets, and appends once to it.
fn fleet(home: &Home, options: &Options) -> Vec<Lease> {
    thread::scope(|scope| {
        let worker = |name: usize| {
            let options = options.clone();
            scope.spawn(move || {
                let (store, mut leases) = (home.open_with(options), Vec::new());
                while let Some(lease) =
                    block_on(store.leases().unwrap().claim_next(&claim(&format!("w{name}"), 60))).unwrap()
                {
                    block_on(store.append(&lease.session, lease.token, &said(lease.token, "worked"))).unwrap();
                    leases.push(lease);
                }
                leases
            })
        };
        let workers: Vec<_> = (0..4).map(worker).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    })
}

#[test]
fn a_fleet_shares_the_work_and_resumes_what_the_dead_left() {
    const SESSIONS: usize = 24;
    let Some(home) = home() else { return };
    let (options, now) = timed();
    let store = home.open_with(options.clone());
    for n in 0..SESSIONS {
        waiting(&*store, &format!("s{n}"));
    }

    let first = fleet(&home, &options);
    let nothing = fleet(&home, &options);
    // All of them die; their leases run out.
    now.fetch_add(61_000, Ordering::SeqCst);
    let second = fleet(&home, &options);

    let sessions = |leases: &[Lease]| leases.iter().map(|lease| lease.session.clone()).collect::<HashSet<_>>();
    assert_eq!((first.len(), sessions(&first).len()), (SESSIONS, SESSIONS), "each was claimed once");
    assert_eq!(nothing, []);
    assert_eq!((second.len(), sessions(&second).len()), (SESSIONS, SESSIONS));
    for lease in first {
        let late = block_on(store.append(&lease.session, lease.token.next(), &said(lease.token.next(), "late")));
        assert_eq!(late.unwrap_err().kind(), ErrorKind::Conflict);
        let logs = block_on(store.load(&lease.session)).unwrap().session.logs;
        assert_eq!(logs, ["worked", "worked"]);
    }
}

#[test]
fn retention_keeps_the_last_changed_and_those_that_are_held() {
    let Some(home) = home() else { return };
    let store = home.open_with(timed().0);
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
    assert_eq!((freed.sessions, freed.batches), (vec![id("b")], 1));
    let left = block_on(store.list(&Query { sort: turnkeep_store::Sort::Id, ..Query::default() })).unwrap().sessions;
    assert_eq!(left.iter().map(|summary| summary.id.as_str()).collect::<Vec<_>>(), ["a", "c", "d"]);
}

#[test]
fn the_account_adds_up_and_forks_cost_nothing_much() {
    let Some(home) = home() else { return };
    let store = home.open();
    let last = block_on(talk(&*store, &id("s"), 300));
    let before = block_on(store.accounting().unwrap().usage()).unwrap();
    for n in 0..10 {
        block_on(store.fork(&id("s"), last, &id(&format!("fork{n}")))).unwrap();
    }

    let after = block_on(store.accounting().unwrap().usage()).unwrap();

    assert_eq!((after.raw, after.journals), (before.raw, before.journals));
    let fork = after.sessions.iter().find(|usage| usage.session == id("fork0")).unwrap();
    assert_eq!((fork.own, fork.shared, fork.raw), (0, before.raw, before.raw));
    assert_eq!(after.total, after.journals + after.bodies + after.listing + after.search + after.dictionaries);
}

#[test]
fn a_damaged_row_is_found_and_what_comes_before_it_is_saved() {
    let Some(home) = home() else { return };
    let store = home.open();
    block_on(talk(&*store, &id("s"), 3));
    psql(&home, "UPDATE batch SET data = overlay(data placing '\\x0000000000000000' from 1) WHERE first = 8");

    let verified = block_on(store.verify(&id("s"))).unwrap();
    let repaired = block_on(store.repair().unwrap().repair()).unwrap();

    assert!(matches!(verified.findings[..], [Finding::Damaged { seq: Some(Seq(8)), .. }]), "{verified:?}");
    assert_eq!(repaired.iter().map(|repaired| repaired.last).collect::<Vec<_>>(), [Seq(7)]);
    assert_eq!(block_on(store.verify(&id("s"))).unwrap().findings, []);
    assert_eq!(block_on(store.load(&id("s"))).unwrap().session.turns.len(), 1);
    block_on(store.append(&id("s"), Seq(7), &said(Seq(7), "on"))).unwrap();
    assert_eq!(block_on(store.load_window(&id("s"), 1)).unwrap().head.session.logs, ["on"]);
}

#[test]
fn texts_that_postgres_cannot_hold_come_back_in_listings() {
    let Some(home) = home() else { return };
    let store = home.open();
    let title = "nul \0 and \u{F8FF}".to_owned();
    let tags = vec![("k\0".to_owned(), "\0".to_owned())];
    let changed = SessionChanged { title: Some(title.clone()), tags: Some(tags.clone()), ..SessionChanged::default() };
    block_on(store.append(&id("s"), Seq::START, &batch(Seq::START, vec![changed.into()]))).unwrap();

    let found = Query { text: Some("L \0".to_owned()), tags: vec![("k\0".to_owned(), None)], ..Query::default() };
    let page = block_on(store.list(&found)).unwrap();

    assert_eq!((page.sessions[0].title.as_ref(), &page.sessions[0].tags), (Some(&title), &tags));
}

#[test]
fn a_new_database_is_opened_by_many_at_once() {
    let Some(home) = home() else { return };

    thread::scope(|scope| {
        for n in 0..8 {
            let url = home.url();
            scope.spawn(move || {
                let store = open(&url).unwrap();
                block_on(store.append(&id(&format!("s{n}")), Seq::START, &said(Seq(0), "a"))).unwrap();
            });
        }
    });

    assert_eq!(psql(&home, "SELECT count(*) || ' ' || max(version) FROM version"), "3 3");
    assert_eq!(psql(&home, "SELECT count(*) FROM session"), "8");
}

#[test]
fn schemas_of_others_and_of_newer_versions_are_refused() {
    let Some(home) = home() else { return };
    let refused = || {
        let Err(error) = open(&home.url()) else { panic!("it was opened") };
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        error.to_string()
    };
    let schema = home.url().split_once("schema=").unwrap().1.to_owned();

    psql(&home, &format!("CREATE SCHEMA {schema}; CREATE TABLE {schema}.theirs (x int)"));
    assert!(refused().contains("another program"));
    psql(&home, &format!("DROP TABLE {schema}.theirs"));
    drop(home.open());
    psql(&home, "INSERT INTO version VALUES (99, 'of a newer program')");
    assert!(refused().contains("version 99"));
}

#[test]
fn it_works_inside_of_other_runtimes_and_without_any() {
    let Some(home) = home() else { return };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();

    let last = runtime.block_on(async {
        let store = home.open();
        store.append(&id("s"), Seq::START, &said(Seq(0), "inside")).await.unwrap();
        store.last(&id("s")).await.unwrap()
    });

    assert_eq!(last, Seq(1));
    assert_eq!(block_on(home.open().load(&id("s"))).unwrap().session.logs, ["inside"]);
}

#[test]
fn a_password_is_never_shown() {
    for url in
        ["postgres://me:hunter2@127.0.0.1:1/db", "postgresql://me:hunter2@[bad/db", "postgres://me:hunter2@h/d?x=1"]
    {
        let Err(error) = open(url) else { panic!("it was opened") };

        let shown = format!("{error} {error:?} {:?} {:?}", error.remedy(), std::error::Error::source(&error));
        assert!(!shown.contains("hunter2"), "{shown}");
        assert!(error.remedy().is_some(), "{shown}");
    }
}
