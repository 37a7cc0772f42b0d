//! Deleting.

use turnkeep_model::Seq;
use turnkeep_store::{Deleted, ErrorKind, Query, Store, StoreExt};

use super::append::read;
use super::script::{id, said, talk};

/// A deleted session is gone: from reading, from listings, from loading.
pub async fn delete_is_complete(store: &dyn Store) {
    let (gone, kept) = (id("gone"), id("kept"));
    talk(store, &gone, 3).await;
    let last = talk(store, &kept, 3).await;

    let deleted = store.delete(&gone).await.expect("delete");

    assert_eq!(deleted, Deleted::default());
    assert_eq!(store.load(&gone).await.expect_err("a deleted session").kind(), ErrorKind::NotFound);
    assert_eq!(store.delete(&gone).await.expect_err("a deleted session").kind(), ErrorKind::NotFound);
    let listed = store.list(&Query::default()).await.expect("list").sessions;
    assert_eq!(listed.iter().map(|summary| summary.id.as_str()).collect::<Vec<_>>(), ["kept"]);
    assert_eq!(store.last(&kept).await.expect("last"), last);
}

/// The id of a deleted session can be used again, and nothing of the old one is there.
pub async fn deleted_ids_begin_anew(store: &dyn Store) {
    let (session, fork) = (id("s"), id("fork"));
    let last = talk(store, &session, 2).await;
    store.fork(&session, last, &fork).await.expect("fork");
    store.delete(&session).await.expect("delete");

    store.append(&session, Seq::START, &said(Seq(0), "new")).await.expect("append");

    assert_eq!(store.load(&session).await.expect("load").session.logs, ["new"]);
    assert_eq!(store.load(&session).await.expect("load").session.turns.len(), 0);
    assert_eq!(store.load(&fork).await.expect("load").session.turns.len(), 2);
}

/// What a fork shares lives until the last fork goes, and deleting says so.
pub async fn shared_past_outlives_its_owner(store: &dyn Store) {
    let (session, early, late, of_early) = (id("s"), id("early"), id("late"), id("of-early"));
    let last = talk(store, &session, 3).await;
    store.fork(&session, Seq(7), &early).await.expect("fork");
    store.fork(&session, Seq(13), &late).await.expect("fork");
    let past = read(store, &late, Seq::START).await;
    store.append(&early, Seq(7), &said(Seq(7), "early")).await.expect("append");
    store.fork(&early, Seq(8), &of_early).await.expect("fork");

    assert_eq!(store.delete(&session).await.expect("delete"), Deleted { shared: Seq(13) });
    assert_eq!(read(store, &late, Seq::START).await, past);
    assert_eq!(store.delete(&late).await.expect("delete"), Deleted::default());
    assert_eq!(store.delete(&early).await.expect("delete"), Deleted { shared: Seq(8) });

    let kept = store.load(&of_early).await.expect("load").session;
    assert_eq!((kept.turns.len(), kept.logs), (1, vec!["early".to_owned()]));
    store.delete(&of_early).await.expect("delete");
    assert_eq!(store.list(&Query::default()).await.expect("list").sessions, []);
    assert_eq!(last, Seq(19));
}
