//! What is kept, and what goes.

use std::collections::HashSet;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use pollster::block_on;
use turnkeep_model::{Seq, SessionId, Time};
use turnkeep_store::url::Keeps;
use turnkeep_store::{Clock, Options, Query, Retention, Sort, Store, StoreExt};

use super::append::read;
use super::lease::{claim, timed};
use super::script::{block_with, id, said, talk, turn_with};
use crate::home::Home;

/// What a live fork can reach survives retention, whatever goes with its parent.
pub async fn retention_keeps_what_forks_reach(store: &dyn Store) {
    let Some(maintenance) = store.maintenance() else {
        return;
    };
    let (session, fork) = (id("s"), id("fork"));
    let large: String = (0..9000).map(|n| format!("{n} ")).collect();
    let last = talk(store, &session, 3).await;
    let last = store.append(&session, last, &block_with(last, &large)).await.expect("append");
    // A stranger that goes has the same large text.
    store.append(&id("stranger"), Seq::START, &turn_with(Seq(0), &large)).await.expect("append");
    store.fork(&session, last, &fork).await.expect("fork");
    let past = read(store, &fork, Seq::START).await;
    // The fork is the last changed.
    let mut on = said(last, "on");
    on.time = Some(turnkeep_model::Time::new("2030-01-01T00:00:00.000Z"));
    store.append(&fork, last, &on).await.expect("append");
    let retention = Retention { count: Some(1), ..Retention::default() };

    let rehearsed = maintenance.gc(&Retention { rehearse: true, ..retention }).await.expect("rehearse");
    let freed = maintenance.gc(&retention).await.expect("gc");
    let again = maintenance.gc(&Retention::default()).await.expect("gc");

    assert_eq!(rehearsed.sessions, freed.sessions);
    assert_eq!(freed.sessions.iter().collect::<HashSet<_>>(), HashSet::from([&session, &id("stranger")]));
    assert_eq!((again.sessions, again.batches), (vec![], 0));
    let kept = read(store, &fork, Seq::START).await;
    assert_eq!(kept.split_last().map(|(_, before)| before), Some(past.as_slice()));
    assert_eq!(store.verify(&fork).await.expect("verify").findings, []);
}

/// A store in which `a` to `d` were last changed a minute after each other, each with about as many bytes; its clock stands
/// ten seconds after the last of them.
async fn aged(home: &Home) -> Arc<dyn Store> {
    let now = (1_767_225_600 + 190) * 1000;
    let store = home.open_with(Options { clock: Clock::new(move || now), ..Options::default() });
    for (name, minute) in ["a", "b", "c", "d"].into_iter().zip(0..) {
        let mut first = said(Seq(0), name);
        first.time = Some(Time::new(format!("2026-01-01T00:{minute:02}:00.000Z")));
        store.append(&id(name), Seq::START, &first).await.expect("append");
    }
    store
}

/// What is kept goes by age, by count and by bytes, each alone and together; nothing else goes.
pub async fn retention_goes_by_age_count_and_bytes(home: &Home) {
    let store = aged(home).await;
    let Some(maintenance) = store.maintenance() else {
        return;
    };
    let bytes = store.summary(&id("d")).await.expect("summary").bytes;
    let age = |seconds| Retention { age: Some(Duration::from_secs(seconds)), ..Retention::default() };
    let table = [
        (Retention::default(), vec![]),
        (age(1000), vec![]),
        (age(100), vec!["b", "a"]),
        (age(0), vec!["d", "c", "b", "a"]),
        (Retention { count: Some(3), ..Retention::default() }, vec!["a"]),
        (Retention { bytes: Some(2 * bytes), ..Retention::default() }, vec!["b", "a"]),
        (Retention { bytes: Some(2 * bytes - 1), ..Retention::default() }, vec!["c", "b", "a"]),
        (Retention { count: Some(3), bytes: Some(2 * bytes), ..age(1000) }, vec!["b", "a"]),
    ];

    for (retention, gone) in table {
        let rehearsed = maintenance.gc(&Retention { rehearse: true, ..retention }).await.expect("rehearse");
        assert_eq!(rehearsed.sessions, gone.iter().map(|name| id(name)).collect::<Vec<_>>(), "{retention:?}");
    }
    maintenance.gc(&age(100)).await.expect("gc");

    assert_eq!(left(&*store).await, ["c", "d"]);
}

/// What someone holds is kept, however long ago it was changed, and counts as none of those that are kept beside it.
pub async fn retention_keeps_what_is_held(home: &Home) {
    let store = home.open_with(timed().0);
    let (Some(maintenance), Some(leases)) = (store.maintenance(), store.leases()) else {
        return;
    };
    for (name, n) in ["a", "b", "c", "d"].into_iter().zip(0..) {
        let mut first = said(Seq(0), name);
        first.time = said(Seq(n), "").time;
        store.append(&id(name), Seq::START, &first).await.expect("append");
    }
    leases.claim(&id("a"), &claim("one", Duration::from_secs(10))).await.expect("claim");
    let retention = Retention { count: Some(2), rehearse: true, ..Retention::default() };

    let rehearsed = maintenance.gc(&retention).await.expect("rehearse");
    let freed = maintenance.gc(&Retention { rehearse: false, ..retention }).await.expect("gc");

    assert_eq!(rehearsed.sessions, freed.sessions);
    assert_eq!((freed.sessions, freed.batches), (vec![id("b")], 1));
    assert_eq!(left(&*store).await, ["a", "c", "d"]);
}

async fn left(store: &dyn Store) -> Vec<String> {
    let left = store.list(&Query { sort: Sort::Id, ..Query::default() }).await.expect("list").sessions;
    left.into_iter().map(|summary| summary.id.to_string()).collect()
}

/// A session that is changed while others are removed is kept, and what was appended with it.
pub async fn retention_keeps_what_is_changed_meanwhile(home: &Home) {
    const SESSIONS: u64 = 60;
    let (store, other) = (home.open(), home.open());
    let Some(maintenance) = store.maintenance().filter(|_| home.keeps() == Keeps::Forever) else {
        return;
    };
    for n in 0..SESSIONS {
        let mut first = said(Seq(0), "a");
        first.time = said(Seq(n), "").time;
        store.append(&id(&format!("s{n}")), Seq::START, &first).await.expect("append");
    }
    let retention = Retention { count: Some(0), ..Retention::default() };

    let appended: Vec<SessionId> = thread::scope(|scope| {
        let removing = scope.spawn(|| block_on(maintenance.gc(&retention)).expect("gc"));
        // The first is removed after all were chosen. What is changed from then on is another session than was chosen.
        while block_on(other.last(&id("s59"))).is_ok() && !removing.is_finished() {
            thread::yield_now();
        }
        let append = |n: u64| {
            let session = id(&format!("s{n}"));
            block_on(other.append(&session, Seq(1), &said(Seq(1), "on"))).is_ok().then_some(session)
        };
        let appended = (0..SESSIONS).filter_map(append).collect();
        removing.join().expect("gc ends well");
        appended
    });

    for session in appended {
        assert_eq!(other.last(&session).await.expect("it was changed"), Seq(2), "{session}");
    }
}
