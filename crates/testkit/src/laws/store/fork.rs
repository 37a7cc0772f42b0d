//! Forks and copies.

use turnkeep_model::Seq;
use turnkeep_store::{ErrorKind, MemoryStore, Options, Origin, Store, StoreExt};

use super::append::read;
use super::script::{id, said, talk};

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
