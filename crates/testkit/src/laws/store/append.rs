//! Appending and reading.

use std::sync::Arc;
use std::thread;

use turnkeep_model::event::LogAdded;
use turnkeep_model::{Batch, Seq, SessionId};
use turnkeep_store::url::Keeps;
use turnkeep_store::{ErrorKind, Store, StoreExt};

use super::script::{batch, id, said, talk};
use crate::home::Home;

/// What was appended is read, as it was, and from any place on.
pub async fn read_your_append(store: &dyn Store) {
    let session = id("s");
    let (first, second) = (said(Seq(0), "a"), said(Seq(1), "b"));

    let one = store.append(&session, Seq::START, &first).await.expect("append");
    let two = store.append(&session, one, &second).await.expect("append");

    assert_eq!((one, two), (Seq(1), Seq(2)));
    assert_eq!(read(store, &session, Seq::START).await, [first, second.clone()]);
    assert_eq!(read(store, &session, Seq(1)).await, [second]);
    assert_eq!(read(store, &session, Seq(2)).await, []);
}

/// Every batch after a place.
pub(super) async fn read(store: &dyn Store, session: &SessionId, after: Seq) -> Vec<Batch> {
    use futures_util::TryStreamExt;
    store.read(session, after).try_collect().await.expect("the journal is read")
}

/// An append at another place than the end writes nothing, and says so.
pub async fn stale_append_is_refused(store: &dyn Store) {
    let session = id("s");
    let last = talk(store, &session, 2).await;
    let before = read(store, &session, Seq::START).await;

    for at in [Seq::START, Seq(1), Seq(last.0 - 1), Seq(last.0 + 1)] {
        let refused = store.append(&session, at, &said(at, "late")).await.expect_err("a stale append");
        assert_eq!(refused.kind(), ErrorKind::Conflict, "{refused}");
    }
    let absent = store.append(&id("absent"), Seq(3), &said(Seq(3), "late")).await.expect_err("no such session");

    assert_eq!(absent.kind(), ErrorKind::NotFound);
    assert_eq!(read(store, &session, Seq::START).await, before);
    assert_eq!(store.last(&session).await.expect("last"), last);
}

/// Records are numbered from 1 without gaps, whatever the sizes of batches.
pub async fn journals_are_gapless(store: &dyn Store) {
    let session = id("s");
    let mut at = Seq::START;
    for size in [1, 3, 2, 1, 7] {
        let events = (0..size).map(|n| LogAdded { line: format!("{n}") }.into()).collect();
        at = store.append(&session, at, &batch(at, events)).await.expect("append");
    }

    let journal = store.journal(&session).await.expect("the journal");
    let numbers: Vec<u64> = journal.records().map(|record| record.seq.0).collect();

    assert_eq!(numbers, (1..=14).collect::<Vec<u64>>());
    assert_eq!(journal.check().map_err(|error| error.to_string()), Ok(()));
    for after in 0..14 {
        let rest = read(store, &session, Seq(after)).await;
        assert!(rest.iter().all(|batch| batch.last() > Seq(after)), "after {after}");
        assert_eq!(rest.last().map(Batch::last), Some(Seq(14)), "after {after}");
        assert!(rest.first().is_some_and(|batch| batch.seq <= Seq(after + 1)), "after {after}");
    }
}

/// Whoever reads while others append sees whole batches.
pub async fn batches_are_atomic(store: &dyn Store) {
    let session = id("s");
    store.append(&session, Seq::START, &said(Seq(0), "first")).await.expect("append");
    thread::scope(|scope| {
        let writer = scope.spawn(|| {
            pollster::block_on(async {
                let mut at = Seq(1);
                for _ in 0..40 {
                    let events = (0..5).map(|n| LogAdded { line: format!("{n}") }.into()).collect();
                    at = store.append(&session, at, &batch(at, events)).await.expect("append");
                }
            });
        });
        while !writer.is_finished() {
            let seen = pollster::block_on(read(store, &session, Seq(1)));
            assert!(seen.iter().all(|batch| batch.events.len() == 5));
        }
    });
    assert_eq!(store.last(&session).await.expect("last"), Seq(201));
}

/// Many who append to one session take turns: nothing is lost, nothing doubled, and everyone's own order is kept.
pub async fn concurrent_appenders_serialise(store: &dyn Store) {
    const EACH: usize = 25;
    let session = id("s");
    store.append(&session, Seq::START, &said(Seq(0), "first")).await.expect("append");
    thread::scope(|scope| {
        for name in ["a", "b", "c", "d"] {
            let session = &session;
            scope.spawn(move || pollster::block_on(insist(store, session, name, EACH)));
        }
    });

    let logs = store.load(&session).await.expect("load").session.logs;

    assert_eq!(logs.len(), 4 * EACH + 1);
    for name in ["a", "b", "c", "d"] {
        let own: Vec<&String> = logs.iter().filter(|line| line.starts_with(name)).collect();
        let wanted: Vec<String> = (0..EACH).map(|n| format!("{name}{n}")).collect();
        assert_eq!(own, wanted.iter().collect::<Vec<_>>());
    }
}

async fn insist(store: &dyn Store, session: &SessionId, name: &str, count: usize) {
    let mut at = Seq(1);
    for n in 0..count {
        loop {
            match store.append(session, at, &said(at, &format!("{name}{n}"))).await {
                Ok(last) => {
                    at = last;
                    break;
                }
                Err(error) => assert_eq!(error.kind(), ErrorKind::Conflict, "{error}"),
            }
            at = store.last(session).await.expect("last");
        }
    }
}

/// Ids that look like paths, patterns or nothing at all name their own sessions and nothing else.
pub async fn hostile_ids_are_kept_apart(store: &dyn Store) {
    let long = "x".repeat(255);
    let longer = format!("{}y", "x".repeat(1023));
    let ids = [
        "../x",
        "..",
        ".",
        "/etc/passwd",
        "a/b",
        "a\\b",
        "A",
        "a",
        "CON",
        "x.gone",
        "a+1",
        "%2e",
        "é🙂",
        " ",
        "'; --",
        "\u{202e}",
        "\n",
        &long,
        &longer,
    ];

    for text in ids {
        store.append(&id(text), Seq::START, &said(Seq(0), text)).await.expect("append");
    }

    for text in ids {
        assert_eq!(store.load(&id(text)).await.expect("load").session.logs, [text], "{text:?}");
    }
    let page = store.list(&turnkeep_store::Query::default()).await.expect("list");
    assert_eq!(page.sessions.len(), ids.len());
}

/// What no store can hold is refused before anything is written.
pub async fn unusable_input_is_refused(store: &dyn Store) {
    let long = "x".repeat(2000);
    for text in ["", "a\0b", &long] {
        let refused = store.append(&id(text), Seq::START, &said(Seq(0), "a")).await.expect_err("an unusable id");
        assert_eq!(refused.kind(), ErrorKind::Unsupported, "{refused}");
    }
    let empty = store.append(&id("s"), Seq::START, &Batch::new(Seq(1), Vec::new())).await;
    assert_eq!(empty.expect_err("an empty batch").kind(), ErrorKind::Unsupported);
    let misplaced = store.append(&id("s"), Seq::START, &said(Seq(1), "a")).await;
    assert_eq!(misplaced.expect_err("a misnumbered batch").kind(), ErrorKind::Unsupported);

    let page = store.list(&turnkeep_store::Query::default()).await.expect("list");
    assert_eq!(page.sessions, []);
}

/// A record of 5 MB is stored and read.
pub async fn five_megabytes_are_stored(store: &dyn Store) {
    let session = id("s");
    let line: String = (0..700_000).map(|n| format!("{n:07x} ")).collect();
    let large = said(Seq(0), &line);

    store.append(&session, Seq::START, &large).await.expect("append");
    store.append(&session, Seq(1), &said(Seq(1), "small")).await.expect("append");

    assert!(line.len() > 5_000_000);
    assert!(read(store, &session, Seq::START).await.first() == Some(&large), "the large record came back otherwise");
}

/// What was acknowledged is there when the store is opened again.
pub async fn survives_reopen(home: &Home) {
    if home.keeps() == Keeps::WhileOpen {
        return;
    }
    let session = id("s");
    let store = home.open();
    let last = talk(&*store, &session, 5).await;
    store.fork(&session, last, &id("fork")).await.expect("fork");
    let before = (store.journal(&session).await.expect("journal"), store.summary(&session).await.expect("summary"));
    drop(store);

    let store: Arc<dyn Store> = home.open();

    let after = (store.journal(&session).await.expect("journal"), store.summary(&session).await.expect("summary"));
    assert_eq!(after, before);
    assert_eq!(store.last(&id("fork")).await.expect("last"), last);
    let next = store.append(&session, last, &said(last, "on")).await.expect("append");
    assert_eq!(next, last.next());
}
