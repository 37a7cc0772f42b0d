//! What holds for PostgreSQL beyond the laws.

use std::process::Command;
use std::thread;

use pollster::block_on;
use turnkeep_model::Seq;
use turnkeep_model::event::SessionChanged;
use turnkeep_store::{ErrorKind, Query, Store, StoreExt, open};
use turnkeep_testkit::laws::store::{answer, batch, found, id, said, talk, tell};
use turnkeep_testkit::{Home, postgres_server};

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
    let output = Command::new(postgres_server::programs().unwrap().join("psql"))
        .args(["-qAtX", "-v", "ON_ERROR_STOP=1", server, "-c", statement])
        .env("PGOPTIONS", format!("-c search_path={schema}"))
        .output()
        .unwrap();
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    Ok(String::from_utf8(output.stdout).unwrap().trim().to_owned())
}

#[test]
fn large_bodies_are_stored_once_and_go_with_their_last_use() {
    let Some(home) = home() else { return };
    let store = home.open();
    let large: String = (0..9000).map(|n| format!("{n} ")).collect();
    let twice = format!("{large}\", \"{large}");
    for name in ["a", "b"] {
        block_on(tell(&*store, &id(name), Seq::START, &large));
    }
    block_on(tell(&*store, &id("c"), Seq::START, &twice));
    block_on(store.fork(&id("c"), Seq(1), &id("fork"))).unwrap();
    assert_eq!(block_on(found(&*store, "8999")).len(), 3);
    assert_eq!(psql(&home, "SELECT count(*) FROM body"), "2");

    block_on(store.delete(&id("a"))).unwrap();
    assert_eq!(block_on(store.repair().unwrap().check(None)).unwrap(), []);
    assert_eq!(block_on(store.load(&id("b"))).unwrap().session.turns[0].blocks[0].body.as_text(), Some(large.as_str()));
    for name in ["b", "c", "fork"] {
        block_on(store.delete(&id(name))).unwrap();
    }

    for table in ["body", "batch", "session", "head", "words"] {
        assert_eq!(psql(&home, &format!("SELECT count(*) FROM {table}")), "0", "{table}");
    }
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
    let at = block_on(tell(&*store, &id("a"), Seq::START, "my password is hunter2secret!"));
    let at = block_on(answer(&*store, &id("a"), at, &format!("{} hunter2secret", "x ".repeat(9000))));
    let titled = SessionChanged { title: Some("about hunter2secret".to_owned()), ..SessionChanged::default() };
    block_on(store.append(&id("a"), at, &batch(at, vec![titled.into()]))).unwrap();
    block_on(store.load_window(&id("a"), 1)).unwrap();
    assert_eq!(block_on(found(&*store, "hunter2secret")).len(), 2);
    assert_ne!(relations_with(&home, "hunter2secret"), "", "it could be seen");

    block_on(store.maintenance().unwrap().erase(&id("a"), None, "hunter2secret")).unwrap();

    assert_eq!(block_on(found(&*store, "password")).len(), 1);
    // Rows that a transaction of another test may still see are kept until it ends.
    let mut left = relations_with(&home, "hunter2secret");
    for _ in 0..100 {
        if left.is_empty() {
            break;
        }
        psql(&home, "VACUUM (FULL) batch, body, head, words, session, fork");
        left = relations_with(&home, "hunter2secret");
    }
    assert_eq!(left, "");
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
    let remedy =
        "the server only takes reads: name the primary, or a user whose `default_transaction_read_only` is off";
    assert_eq!(refused.remedy(), Some(remedy));
    assert_eq!(block_on(store.load(&id("s"))).unwrap().seq, last);
    assert_eq!(block_on(home.open().append(&id("s"), last, &said(last, "on"))).unwrap(), last.next());
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
