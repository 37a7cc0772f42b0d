//! PostgreSQL servers that do not answer, and such as have other defaults.

use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use pollster::block_on;
use turnkeep_model::{RunId, Seq};
use turnkeep_store::{Claim, ErrorKind, Query, Result, SearchQuery, Store, StoreExt, open};
use turnkeep_testkit::laws::store::{self as laws, id, said, talk};
use turnkeep_testkit::postgres_server::{self, Fsync, PostgresServer};

use crate::postgres::home;

/// What a user may ask of a store, by name.
type Asked = (&'static str, fn(&dyn Store, &str) -> Result<()>);

const EVERYTHING: &[Asked] = &[
    ("append", |store, _| block_on(store.append(&id("s"), Seq(7), &said(Seq(7), "on"))).map(drop)),
    ("append to a new session", |store, _| block_on(store.append(&id("new"), Seq(0), &said(Seq(0), "on"))).map(drop)),
    ("load", |store, _| block_on(store.load(&id("s"))).map(drop)),
    ("window", |store, _| block_on(store.load_window(&id("s"), 1)).map(drop)),
    ("list", |store, _| block_on(store.list(&Query::default())).map(drop)),
    ("fork", |store, _| block_on(store.fork(&id("s"), Seq(7), &id("fork")))),
    ("delete", |store, _| block_on(store.delete(&id("other"))).map(drop)),
    ("claim", |store, _| {
        let claim = Claim::new("w", RunId::new("r"), Duration::from_secs(60));
        block_on(store.leases().unwrap().claim(&id("other"), &claim)).map(drop)
    }),
    ("search", |store, _| {
        let query = SearchQuery { text: "question".to_owned(), ..SearchQuery::default() };
        block_on(store.search().unwrap().search(&query)).map(drop)
    }),
    ("verify", |store, _| block_on(store.repair().unwrap().check(None)).map(drop)),
    ("gc", |store, _| block_on(store.maintenance().unwrap().gc(&Default::default())).map(drop)),
    ("open", |_, url| open(url).map(drop)),
];

#[test]
fn whatever_a_frozen_server_is_asked_ends_in_time_with_a_remedy() {
    if home().is_none() {
        return;
    }
    let server = PostgresServer::start(Fsync::Off).unwrap();
    let store = open(&server.url()).unwrap();
    for name in ["s", "other"] {
        assert_eq!(block_on(talk(&*store, &id(name), 1)), Seq(7));
    }
    server.freeze().unwrap();

    let ended: Vec<_> = thread::scope(|scope| {
        let ask = |(what, ask): &Asked| {
            let (what, ask, store, url) = (*what, *ask, &*store, server.url());
            scope.spawn(move || {
                let start = Instant::now();
                (what, ask(store, &url), start.elapsed())
            })
        };
        let asked: Vec<_> = EVERYTHING.iter().map(ask).collect();
        asked.into_iter().map(|asked| asked.join().unwrap()).collect()
    });
    server.thaw().unwrap();

    for (what, result, time) in ended {
        let error = result.expect_err(what);
        assert_eq!(error.kind(), ErrorKind::Unavailable, "{what}: {error}");
        assert!(error.remedy().is_some(), "{what}: {error}");
        assert!((25..34).contains(&time.as_secs()), "{what} took {time:?}");
    }
    // What was given up may have been recorded; nothing is recorded twice.
    let last = block_on(store.last(&id("s"))).unwrap();
    assert!([Seq(7), Seq(8)].contains(&last), "{last}");
    block_on(store.append(&id("s"), last, &said(last, "after"))).unwrap();
    assert_eq!(block_on(store.verify(&id("s"))).unwrap().findings, []);
}

/// A database with a default of its own, gone when it is dropped.
struct Database {
    server: String,
    name: String,
}

impl Database {
    fn with(name: &str, setting: &str) -> Database {
        let server = std::env::var(turnkeep_testkit::POSTGRES).unwrap();
        let database = Database { server, name: format!("turnkeep_{name}_{}", std::process::id()) };
        database.psql(&format!("CREATE DATABASE {} ENCODING 'UTF8' TEMPLATE template0", database.name));
        database.psql(&format!("ALTER DATABASE {} SET {setting}", database.name));
        database
    }

    fn psql(&self, statement: &str) {
        let psql = postgres_server::programs().unwrap().join("psql");
        let output = Command::new(psql).args(["-qX", "-v", "ON_ERROR_STOP=1", &self.server, "-c", statement]).output();
        let output = output.unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    fn url(&self, schema: &str) -> String {
        let (server, _) = self.server.rsplit_once('/').unwrap();
        format!("{server}/{}?schema={schema}", self.name)
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        self.psql(&format!("DROP DATABASE {} WITH (FORCE)", self.name));
    }
}

/// Laws that depend on what transactions see of each other, by the schema they are checked in.
type Law = (&'static str, fn(&dyn Store));

const LAWS: &[Law] = &[
    ("appenders", |store| block_on(laws::concurrent_appenders_serialise(store))),
    ("stale", |store| block_on(laws::stale_append_is_refused(store))),
    ("imports", |store| block_on(laws::imports_at_once_are_one(store))),
    ("copies", |store| block_on(laws::copies_at_once_are_one(store))),
    ("pasts", |store| block_on(laws::shared_past_outlives_its_owner(store))),
    ("searches", |store| block_on(laws::what_was_said_is_found(store))),
    ("integrity", |store| block_on(laws::every_operation_leaves_an_intact_store(store))),
];

fn holds_under(isolation: &str) {
    if home().is_none() {
        return;
    }
    let name = isolation.replace(' ', "_");
    let database = Database::with(&name, &format!("default_transaction_isolation = '{isolation}'"));
    for (schema, law) in LAWS {
        law(&*open(&database.url(schema)).unwrap());
    }
}

#[test]
fn laws_hold_where_transactions_are_serializable_by_default() {
    holds_under("serializable");
}

#[test]
fn laws_hold_where_reads_are_repeatable_by_default() {
    holds_under("repeatable read");
}

#[test]
fn a_new_store_where_transactions_only_read_by_default_is_refused_with_a_remedy() {
    if home().is_none() {
        return;
    }
    let database = Database::with("read_only", "default_transaction_read_only = on");

    let Err(error) = open(&database.url("mine")) else { panic!("it was opened") };

    assert_eq!(error.kind(), ErrorKind::Io, "{error}");
    assert!(error.remedy().unwrap().contains("default_transaction_read_only"), "{:?}", error.remedy());
}
