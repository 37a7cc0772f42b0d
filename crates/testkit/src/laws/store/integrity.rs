//! What is left behind by everything a store does passes every check.

use std::time::Duration;

use turnkeep_model::event::{BlockAdded, SessionChanged};
use turnkeep_model::{Author, Batch, Block, Journal, RunId, Seq, SessionId, Status, Time};
use turnkeep_store::{Claim, Imported, Query, Retention, SearchQuery, Sort, Store, StoreExt, Summary};

use super::append::read;
use super::script::{batch, id, said, talk};

const SECRET: &str = "hunter2";

/// Nothing is wrong with any session, nor with the store around them.
async fn is_intact(store: &dyn Store, after: &str) {
    for summary in listed(store).await {
        let verified = store.verify(&summary.id).await.expect("verify");
        assert_eq!((verified.last, verified.findings), (summary.last, vec![]), "{} after {after}", summary.id);
    }
    if let Some(repair) = store.repair() {
        assert_eq!(repair.check(None).await.expect("check"), [], "after {after}");
    }
}

async fn listed(store: &dyn Store) -> Vec<Summary> {
    store.list(&Query { sort: Sort::Id, ..Query::default() }).await.expect("list").sessions
}

fn renamed(at: Seq, title: &str) -> Batch {
    let changed = SessionChanged {
        title: Some(title.to_owned()),
        status: Some(Status::InProgress(Default::default())),
        tags: Some(vec![("about".to_owned(), title.to_owned())]),
        ..SessionChanged::default()
    };
    batch(at, vec![changed.into()])
}

fn untimed(mut batch: Batch) -> Batch {
    batch.time = None;
    batch
}

/// A parent with a long past, a large body, names that change, and forks everywhere; one session that tells no times.
async fn family(store: &dyn Store) {
    let (root, early) = (id("root"), id("early"));
    let last = talk(store, &root, 24).await;
    let large = Block::text(Author::Assistant, format!("{}{SECRET}", "0123456789 ".repeat(2000)));
    let large = batch(last, vec![BlockAdded { turn: 0, block: large }.into()]);
    let last = store.append(&root, last, &large).await.expect("append");
    store.fork(&root, Seq(7), &early).await.expect("fork");
    is_intact(store, "an early fork").await;
    let last = store.append(&root, last, &renamed(last, &format!("all about {SECRET}"))).await.expect("append");
    for (parent, at, child) in [("root", last, "late"), ("root", Seq(13), "middle"), ("late", Seq(13), "of-late")] {
        store.fork(&id(parent), at, &id(child)).await.expect("fork");
    }
    is_intact(store, "forks").await;
    for (name, at) in [("early", Seq(7)), ("late", last), ("of-late", Seq(13))] {
        store.append(&id(name), at, &said(at, "on")).await.expect("append");
    }
    let early_last = store.append(&early, Seq(8), &renamed(Seq(8), "early bird")).await.expect("append");
    store.fork(&early, early_last, &id("of-early")).await.expect("fork");
    let plain = id("untimed");
    store.append(&plain, Seq::START, &untimed(said(Seq::START, SECRET))).await.expect("append");
    store.append(&plain, Seq(1), &untimed(renamed(Seq(1), "no times"))).await.expect("append");
    store.fork(&plain, Seq(2), &id("of-untimed")).await.expect("fork");
    is_intact(store, "appends to forks").await;
}

/// Whatever a store did, it finds nothing wrong with itself afterwards, and a repair changes nothing.
pub async fn every_operation_leaves_an_intact_store(store: &dyn Store) {
    family(store).await;
    if let Some(search) = store.search() {
        let asked = SearchQuery { text: "question".to_owned(), ..SearchQuery::default() };
        assert!(!search.search(&asked).await.expect("search").is_empty());
        is_intact(store, "a search").await;
    }
    for name in ["root", "early", "of-late"] {
        store.load_window(&id(name), 2).await.expect("window");
    }
    is_intact(store, "windows").await;
    if let Some(leases) = store.leases() {
        let run = RunId::new("run");
        let claim = Claim::new("one", run, Duration::from_secs(60));
        let lease = leases.claim(&id("of-early"), &claim).await.expect("claim");
        leases.release(&lease).await.expect("release");
        is_intact(store, "a lease").await;
    }
    erase_and_remove(store).await;
    let before = listed(store).await;
    if let Some(repair) = store.repair() {
        assert_eq!(repair.repair().await.expect("repair"), []);
        is_intact(store, "a repair").await;
    }
    assert_eq!(listed(store).await, before);
}

async fn erase_and_remove(store: &dyn Store) {
    if let Some(maintenance) = store.maintenance() {
        let erased = maintenance.erase(&id("root"), Some(Seq(146)), SECRET).await.expect("erase");
        assert_eq!(erased.records, [Seq(146)]);
        is_intact(store, "the erasure of one record").await;
        let erased = maintenance.erase(&id("late"), None, "question").await.expect("erase");
        assert_eq!(erased.records.len(), 24);
        is_intact(store, "an erasure in a fork").await;
        maintenance.erase(&id("untimed"), None, SECRET).await.expect("erase");
        is_intact(store, "an erasure where no times are told").await;
    }
    for name in ["root", "of-late", "late"] {
        store.delete(&id(name)).await.expect("delete");
        is_intact(store, &format!("the deletion of {name}")).await;
    }
    if let Some(maintenance) = store.maintenance() {
        maintenance.erase(&id("middle"), None, "result").await.expect("erase");
        is_intact(store, "an erasure in what a deleted session left").await;
        let retention = Retention { count: Some(3), ..Retention::default() };
        assert!(!maintenance.gc(&retention).await.expect("gc").sessions.is_empty());
        is_intact(store, "retention").await;
    }
}

/// A line that another program wrote without a sum comes back as it was, and is the same journal when it comes again.
pub async fn lines_without_a_checksum_come_back(store: &dyn Store) {
    let line = |seq: u64| {
        let time = Time::new("2026-01-01T00:00:00Z");
        format!(r#"{{ "seq": {seq}, "time": "{}", "events": [{{"type": "log.added", "line": "a"}}] }}"#, time.as_str())
    };
    let lines = [line(1), line(2)];
    let batches = lines.iter().map(|line| Batch::from_line(line).expect("a batch").0).collect();
    let journal = Journal { session: Some(id("s")), batches, ..Journal::default() };

    let (first, again) = (store.import(&journal).await.expect("import"), store.import(&journal).await.expect("import"));

    assert_eq!((first, again), (Imported::New(id("s")), Imported::Known(id("s"))));
    let session: SessionId = id("s");
    assert_eq!(read(store, &session, Seq::START).await.iter().map(Batch::to_line).collect::<Vec<_>>(), lines);
    let bytes: usize = lines.iter().map(String::len).sum();
    assert_eq!(store.summary(&session).await.expect("summary").bytes, bytes as u64);
    is_intact(store, "an import").await;
}
