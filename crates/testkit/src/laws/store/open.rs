//! A store that is opened more than once.

use turnkeep_model::Seq;
use turnkeep_store::url::Keeps;
use turnkeep_store::{ErrorKind, StoreExt};

use super::script::{id, said};
use crate::home::Home;

/// What is appended through one opening of a store is there for every other, and stays when that one is closed.
pub async fn openings_are_one_store(home: &Home) {
    if home.keeps() == Keeps::WhileOpen {
        return;
    }
    let (session, fork) = (id("s"), id("fork"));
    let (first, second) = (home.open(), home.open());
    for (at, store) in (0..).map(Seq).zip([&first, &second, &first, &second]) {
        store.append(&session, at, &said(at, &at.to_string())).await.expect("append");
    }
    let stale = first.append(&session, Seq(3), &said(Seq(3), "late")).await.expect_err("a stale append");
    second.fork(&session, Seq(2), &fork).await.expect("fork");

    drop(second);
    first.append(&fork, Seq(2), &said(Seq(2), "on")).await.expect("append");
    let third = home.open();
    drop(first);
    third.append(&session, Seq(4), &said(Seq(4), "4")).await.expect("append");

    assert_eq!(stale.kind(), ErrorKind::Conflict, "{stale}");
    assert_eq!(third.load(&session).await.expect("load").session.logs, ["0", "1", "2", "3", "4"]);
    assert_eq!(third.load(&fork).await.expect("load").session.logs, ["0", "1", "on"]);
    for session in [session, fork] {
        assert_eq!(third.verify(&session).await.expect("verify").findings, []);
    }
}
