//! Schemas of PostgreSQL as every released version left them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use pollster::block_on;
use turnkeep_model::Seq;
use turnkeep_store::{Query, Sort, StoreExt};
use turnkeep_testkit::laws::store::{found, id, said, talk};
use turnkeep_testkit::{Home, postgres_server};

use crate::postgres::{home, psql};

/// Every version of the schema that was released.
const VERSIONS: [u32; 3] = [1, 2, 3];

/// The name of the schema in the frozen files.
const NAME: &str = "frozen_schema";

fn fixture(version: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../fixtures/store/postgres-v{version}.sql"))
}

fn parts(home: &Home) -> (String, String) {
    let url = home.url();
    let (server, schema) = url.split_once("?schema=").unwrap();
    (server.to_owned(), schema.to_owned())
}

/// Puts a frozen schema into the database of a home.
fn restore(home: &Home, version: u32) {
    let schema = parts(home).1;
    let statements = fs::read_to_string(fixture(&version.to_string())).unwrap().replace(NAME, &schema);
    psql(home, &statements);
}

#[test]
fn schemas_of_every_version_open() {
    let Some(newest) = VERSIONS.last() else { return };
    for version in VERSIONS {
        let Some(home) = home() else { return };
        restore(&home, version);
        assert_eq!(psql(&home, "SELECT max(version) FROM version"), version.to_string());

        let store = home.open();

        assert_eq!(block_on(store.load(&id("kept"))).unwrap().session.turns.len(), 3);
        assert_eq!(block_on(store.load(&id("fork"))).unwrap().session.logs, ["on"]);
        assert_eq!(block_on(store.verify(&id("fork"))).unwrap().findings, []);
        assert_eq!(block_on(found(&*store, "question")).len(), 3);
        assert_eq!(block_on(store.append(&id("kept"), Seq(19), &said(Seq(19), "on"))).unwrap(), Seq(20));
        let listed = block_on(store.list(&Query { sort: Sort::Updated, ..Query::default() })).unwrap().sessions;
        assert_eq!(listed.iter().map(|summary| summary.id.as_str()).collect::<Vec<_>>(), ["kept", "fork"]);
        assert_eq!(psql(&home, "SELECT max(version) FROM version"), newest.to_string());
    }
}

#[test]
#[ignore = "run once for every version of the schema that is released; frozen files are never written again"]
fn freezes_a_schema_of_this_version() {
    let Some(home) = home() else { return };
    let store = home.open();
    let last = block_on(talk(&*store, &id("kept"), 3));
    block_on(store.fork(&id("kept"), Seq(7), &id("fork"))).unwrap();
    block_on(store.append(&id("fork"), Seq(7), &said(Seq(7), "on"))).unwrap();
    assert_eq!((last, block_on(found(&*store, "question")).len()), (Seq(19), 3));
    drop(store);
    let frozen = fixture(&psql(&home, "SELECT max(version) FROM version"));
    assert!(!frozen.exists(), "{} is frozen already", frozen.display());
    fs::write(frozen, dump(&home)).unwrap();
}

/// The statements that make the schema as it is, without what speaks of this server or of the program that wrote them.
fn dump(home: &Home) -> String {
    let (server, schema) = parts(home);
    let output = Command::new(postgres_server::programs().unwrap().join("pg_dump"))
        .args(["--inserts", "--no-owner", "--no-comments", "--schema", &schema, &server])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap().replace(&schema, NAME);
    let kept = text.lines().filter(|line| {
        !["--", "\\", "SET ", "SELECT pg_catalog.set_config("].iter().any(|start| line.starts_with(start))
    });
    let kept: Vec<&str> = kept.filter(|line| !line.is_empty()).collect();
    kept.join("\n") + "\n"
}
