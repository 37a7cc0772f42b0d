//! Forks and copies.

use std::thread;

use pollster::block_on;
use turnkeep_model::event::SessionChanged;
use turnkeep_model::{Batch, Seq, SessionId, Status, Time};
use turnkeep_store::{Copying, ErrorKind, MemoryStore, Options, Origin, Query, Sort, Store, StoreExt, Summary};

use super::append::read;
use super::script::{batch, id, said, talk};

/// A fork has the past of its parent, and neither sees what the other does afterwards.
pub async fn forks_are_isolated(store: &dyn Store) {
    let (session, fork) = (id("s"), id("fork"));
    let last = talk(store, &session, 3).await;
    let past = read(store, &session, Seq::START).await;

    store.fork(&session, Seq(7), &fork).await.expect("fork");
    store.append(&fork, Seq(7), &said(Seq(7), "fork")).await.expect("append");
    store.append(&session, last, &said(last, "parent")).await.expect("append");

    let (ours, theirs) = (read(store, &fork, Seq::START).await, read(store, &session, Seq::START).await);
    assert_eq!(ours.get(..3), past.get(..3));
    assert_eq!(ours.get(3..), Some(&[said(Seq(7), "fork")][..]));
    assert_eq!(theirs.get(..7), past.get(..7));
    assert_eq!(theirs.get(7..), Some(&[said(last, "parent")][..]));
    assert_eq!(read(store, &fork, Seq(7)).await, [said(Seq(7), "fork")]);
    let summary = store.summary(&fork).await.expect("summary");
    assert_eq!(summary.origin, Some(Origin { session, seq: Seq(7) }));
    assert_eq!((summary.last, summary.turns, summary.blocks), (Seq(8), 1, 3));
}

/// Forks of forks share all of it.
pub async fn forks_of_forks_share(store: &dyn Store) {
    let (root, child, grandchild) = (id("root"), id("child"), id("grandchild"));
    talk(store, &root, 2).await;
    store.fork(&root, Seq(7), &child).await.expect("fork");
    store.append(&child, Seq(7), &said(Seq(7), "child")).await.expect("append");

    store.fork(&child, Seq(8), &grandchild).await.expect("fork");
    store.fork(&child, Seq(5), &id("early")).await.expect("fork in the shared past");
    store.append(&grandchild, Seq(8), &said(Seq(8), "grandchild")).await.expect("append");

    let journal = store.journal(&grandchild).await.expect("journal");
    assert_eq!(journal.last(), Seq(9));
    assert_eq!(journal.check().map_err(|error| error.to_string()), Ok(()));
    assert_eq!(store.load(&grandchild).await.expect("load").session.logs, ["child", "grandchild"]);
    assert_eq!(store.last(&id("early")).await.expect("last"), Seq(5));
    assert_eq!(store.load(&id("early")).await.expect("load").session.turns.len(), 1);
}

/// Half of a batch is no place to go on from.
pub async fn forks_need_the_end_of_a_batch(store: &dyn Store) {
    let session = id("s");
    let last = talk(store, &session, 1).await;

    for at in [Seq(3), Seq(last.0 + 1), Seq::START] {
        let refused = store.fork(&session, at, &id("fork")).await.expect_err("no batch ends there");
        assert_eq!(refused.kind(), ErrorKind::NotFound, "{at}");
    }
    let absent = store.fork(&id("absent"), Seq(1), &id("fork")).await.expect_err("no such session");
    assert_eq!(absent.kind(), ErrorKind::NotFound);
    let taken = store.fork(&session, last, &session).await.expect_err("the id is taken");
    assert_eq!(taken.kind(), ErrorKind::Conflict);
}

/// A copy in another store has the same digest, there and back; forks are copied too.
pub async fn copies_verify_equal(store: &dyn Store) {
    let (session, fork) = (id("s"), id("fork"));
    talk(store, &session, 4).await;
    store.fork(&session, Seq(7), &fork).await.expect("fork");
    store.append(&fork, Seq(7), &said(Seq(7), "fork")).await.expect("append");
    let other = MemoryStore::new(Options::default());

    for id in [&session, &fork] {
        let copied = store.copy_to(id, &other).await.expect("copy");
        let original = store.verify(id).await.expect("verify");
        assert_eq!(copied, original);
        assert_eq!(original.findings, []);
    }
    assert_eq!(other.summary(&fork).await.expect("summary").origin, Some(Origin { session, seq: Seq(7) }));
    store.delete(&fork).await.expect("delete");
    let back = other.copy_to(&fork, store).await.expect("copy back");
    assert_eq!(back.last, Seq(8));
}

/// A copy that was begun goes on; one that meets another history, or one that has gone on, changes nothing there.
pub async fn copies_leave_other_histories_alone(store: &dyn Store) {
    let session = id("s");
    let mut at = Seq::START;
    let other = MemoryStore::new(Options::default());
    for line in ["one", "two", "three"] {
        at = other.append(&session, at, &said(at, line)).await.expect("append");
    }
    let begun = [said(Seq(0), "one")];
    let another = [said(Seq(0), "another")];
    let odd =
        [batch(Seq(0), vec![said(Seq(0), "one").events.remove(0).event, said(Seq(1), "2").events.remove(0).event])];
    let longer = ["one", "two", "three", "four"].into_iter().zip(0..);
    let longer: Vec<Batch> = longer.map(|(line, at)| said(Seq(at), line)).collect();

    for there in [&another[..], &odd, &longer] {
        fill(store, &session, there).await;
        let refused = other.copy_to(&session, store).await.expect_err("another history");
        assert_eq!((refused.kind(), refused.remedy().is_some()), (ErrorKind::Conflict, true), "{refused}");
        assert_eq!(read(store, &session, Seq::START).await, there);
        store.delete(&session).await.expect("delete");
    }
    fill(store, &session, &begun).await;
    let copied = other.copy_to(&session, store).await.expect("a copy that was begun");
    assert_eq!(copied, other.verify(&session).await.expect("verify"));
}

async fn fill(store: &dyn Store, session: &SessionId, batches: &[Batch]) {
    let mut at = Seq::START;
    for batch in batches {
        at = store.append(session, at, batch).await.expect("append");
    }
}

fn named(at: Seq, title: &str, status: Status) -> Batch {
    let tags = Some(vec![("about".to_owned(), title.to_owned())]);
    let changed =
        SessionChanged { title: Some(title.to_owned()), status: Some(status), tags, ..SessionChanged::default() };
    let mut batch = batch(at, vec![changed.into()]);
    batch.time = Some(Time::new(format!("2026-02-01T00:00:{:02}.000Z", at.0)));
    batch
}

async fn listed(store: &dyn Store) -> Vec<Summary> {
    store.list(&Query { sort: Sort::Id, ..Query::default() }).await.expect("list").sessions
}

async fn copy_all(from: &dyn Store, to: &dyn Store) {
    let copying = Copying::all(from).await.expect("what there is to copy");
    for summary in copying.sessions() {
        copying.copy(from, &summary.id, to, &mut |_| {}).await.expect("copy");
    }
}

/// Copies of forks are listed as the originals are, though their parents have since become others; again and back.
pub async fn copies_are_listed_alike(store: &dyn Store) {
    let (session, fork, twig) = (id("s"), id("fork"), id("a-twig"));
    store
        .append(&session, Seq::START, &named(Seq(0), "first", Status::InProgress(Default::default())))
        .await
        .expect("append");
    store.fork(&session, Seq(1), &fork).await.expect("fork");
    store
        .append(&session, Seq(1), &named(Seq(1), "second", Status::Completed(Default::default())))
        .await
        .expect("append");
    store.append(&fork, Seq(1), &said(Seq(1), "own")).await.expect("append");
    store.fork(&fork, Seq(2), &twig).await.expect("fork");
    store.append(&fork, Seq(2), &named(Seq(2), "third", Status::Completed(Default::default()))).await.expect("append");
    let (before, other) = (listed(store).await, MemoryStore::new(Options::default()));
    assert_eq!(
        before.iter().map(|one| one.status.as_deref()).collect::<Vec<_>>(),
        [Some("in_progress"), Some("completed"), Some("completed")]
    );

    copy_all(store, &other).await;
    copy_all(store, &other).await;
    assert_eq!(listed(&other).await, before);
    for one in [&session, &fork, &twig] {
        store.delete(one).await.expect("delete");
    }
    copy_all(&other, store).await;

    assert_eq!(listed(store).await, before);
}

/// Several who copy the same sessions at once make one copy.
pub async fn copies_at_once_are_one(store: &dyn Store) {
    let (session, fork) = (id("s"), id("fork"));
    let other = MemoryStore::new(Options::default());
    talk(&other, &session, 10).await;
    other.fork(&session, Seq(7), &fork).await.expect("fork");
    other.append(&fork, Seq(7), &said(Seq(7), "fork")).await.expect("append");

    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| block_on(copy_all(&other, store)));
        }
    });

    for one in [&session, &fork] {
        assert_eq!(store.verify(one).await.expect("verify"), other.verify(one).await.expect("verify"));
    }
    assert_eq!(store.summary(&fork).await.expect("summary").origin, Some(Origin { session, seq: Seq(7) }));
}
