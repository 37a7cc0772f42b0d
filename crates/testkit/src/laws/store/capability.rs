//! What only some stores can do: each law holds for those that can.

use turnkeep_model::event::SessionChanged;
use turnkeep_model::{Batch, Seq, SessionId};
use turnkeep_store::{ErrorKind, Store, StoreExt};

use super::append::read;
use super::script::{answer, batch, block_with, found, id, said, talk, tell, turn_with};

const SECRET: &str = "hunter2 \"quoted\" \u{e9}\n";

fn titled(at: Seq, title: &str) -> Batch {
    let tags = Some(vec![("about".to_owned(), title.to_owned())]);
    batch(at, vec![SessionChanged { title: Some(title.to_owned()), tags, ..SessionChanged::default() }.into()])
}

/// Appends a session whose first four records hold the secret: a turn, a large body, a title, and one that a fork brings.
async fn secretive(store: &dyn Store, session: &SessionId, fork: &SessionId) {
    let large = format!("{}{SECRET}", "0123456789 ".repeat(9000));
    let batches = [turn_with(Seq(0), SECRET), block_with(Seq(1), &large), titled(Seq(2), SECRET)];
    for (batch, at) in batches.iter().zip(0..) {
        store.append(session, Seq(at), batch).await.expect("append");
    }
    store.fork(session, Seq(3), fork).await.expect("fork");
    store.append(session, Seq(3), &said(Seq(3), "own")).await.expect("append");
    store.append(fork, Seq(3), &block_with(Seq(3), &format!("fork {SECRET}"))).await.expect("append");
}

async fn lines(store: &dyn Store, session: &SessionId) -> String {
    read(store, session, Seq::START).await.iter().map(Batch::to_line).collect()
}

/// The secret as it stands in JSON text.
fn spelled() -> String {
    turnkeep_model::Json::from(SECRET).to_text().trim_matches('"').to_owned()
}

/// An erased text is gone from the journal of a session and of those that share its past, from listings, heads and the
/// index; every record stays at its place and says that it was changed; what only a fork has is the fork's.
pub async fn erased_texts_are_gone_and_leave_a_mark(store: &dyn Store) {
    let Some(maintenance) = store.maintenance() else {
        return;
    };
    let (session, fork, other) = (id("s"), id("fork"), id("other"));
    secretive(store, &session, &fork).await;
    talk(store, &other, 2).await;
    let untouched = read(store, &other, Seq::START).await;

    let erased = maintenance.erase(&session, None, SECRET).await.expect("erase");

    assert_eq!((erased.records, erased.shared_with), (vec![Seq(1), Seq(2), Seq(3)], vec![fork.clone()]));
    let text = lines(store, &session).await;
    assert!(!text.contains(&spelled()) && text.matches("[erased]").count() >= 3, "the secret is still there");
    assert_eq!(text.matches("\"erased\":true").count(), 3);
    assert_eq!(lines(store, &fork).await.matches(&spelled()).count(), 1, "what only the fork has is the fork's");
    assert_eq!(read(store, &other, Seq::START).await, untouched);
    for (name, last) in [(&session, Seq(4)), (&fork, Seq(4))] {
        let summary = store.summary(name).await.expect("summary");
        assert_eq!((summary.last, summary.title.as_deref()), (last, Some("[erased]")));
        assert_eq!(summary.tags, [("about".to_owned(), "[erased]".to_owned())]);
        assert_eq!(store.verify(name).await.expect("verify").findings, []);
        let window = store.load_window(name, 1).await.expect("window");
        assert_eq!(window.head.session.title.as_deref(), Some("[erased]"));
        store.append(name, last, &said(last, "on")).await.expect("append");
    }
    if store.search().is_some() {
        assert_eq!(found(store, "hunter2").await, [("fork".to_owned(), 4)]);
    }
}

/// What stands around an erased text stays, wherever it stood: in a turn, in a large body, in a title. Forks that share all
/// of it have it no more, either.
pub async fn erasing_leaves_what_stands_around(store: &dyn Store) {
    let Some(maintenance) = store.maintenance() else {
        return;
    };
    let (session, fork, secret) = (id("a"), id("fork"), "hunter2secret");
    let last = tell(store, &session, Seq::START, &format!("my password is {secret}!")).await;
    let last = answer(store, &session, last, &format!("{} {secret}", "x ".repeat(9000))).await;
    let last = store.append(&session, last, &titled(last, &format!("about {secret}"))).await.expect("append");
    let last = answer(store, &session, last, "harmless").await;
    store.fork(&session, last, &fork).await.expect("fork");
    if store.search().is_some() {
        assert_eq!(found(store, secret).await, [("a".to_owned(), 1), ("a".to_owned(), 2)]);
    }

    let erased = maintenance.erase(&session, None, secret).await.expect("erase");

    assert_eq!((erased.records, erased.shared_with), (vec![Seq(1), Seq(2), Seq(3)], vec![fork.clone()]));
    for name in [&session, &fork] {
        let text = lines(store, name).await;
        assert!(!text.contains(secret) && text.contains("my password is [erased]!"), "{name}");
        assert_eq!(text.matches("\"erased\":true").count(), 3, "{name}");
        assert_eq!(store.summary(name).await.expect("summary").title.as_deref(), Some("about [erased]"));
        let head = store.load_window(name, 1).await.expect("window").head;
        assert_eq!(head.session.title.as_deref(), Some("about [erased]"));
        assert_eq!(store.verify(name).await.expect("verify").findings, []);
    }
    if store.search().is_some() {
        assert_eq!(found(store, secret).await, []);
        assert_eq!(found(store, "password").await, [("a".to_owned(), 1)]);
        assert_eq!(found(store, "harmless").await, [("a".to_owned(), 4)]);
    }
    if let Some(repair) = store.repair() {
        assert_eq!(repair.check(None).await.expect("check"), []);
    }
}

/// Erasing one record leaves the others alone; erasing what is not there, or from a session that is not, changes nothing.
pub async fn erasing_takes_what_is_named(store: &dyn Store) {
    let Some(maintenance) = store.maintenance() else {
        return;
    };
    let session = id("s");
    for (at, text) in ["one secret", "two secret", "three"].into_iter().enumerate() {
        let at = Seq(at as u64);
        store.append(&session, at, &said(at, text)).await.expect("append");
    }

    let absent = maintenance.erase(&session, None, "absent").await.expect("erase");
    let erased = maintenance.erase(&session, Some(Seq(2)), "secret").await.expect("erase");
    let unknown = maintenance.erase(&id("unknown"), None, "secret").await.expect_err("an unknown session");
    let empty = maintenance.erase(&session, None, "").await.expect_err("nothing to erase");

    assert_eq!((absent.records, erased.records), (vec![], vec![Seq(2)]));
    assert_eq!((unknown.kind(), empty.kind()), (ErrorKind::NotFound, ErrorKind::Unsupported));
    let logs = store.load(&session).await.expect("load").session.logs;
    assert_eq!(logs, ["one secret", "two [erased]", "three"]);
}

/// A deleted session whose past a fork shares is erased with the fork.
pub async fn erasing_reaches_the_past_of_deleted_sessions(store: &dyn Store) {
    let Some(maintenance) = store.maintenance() else {
        return;
    };
    let (session, fork) = (id("s"), id("fork"));
    store.append(&session, Seq(0), &said(Seq(0), "a secret")).await.expect("append");
    store.fork(&session, Seq(1), &fork).await.expect("fork");
    store.delete(&session).await.expect("delete");

    let erased = maintenance.erase(&fork, None, "secret").await.expect("erase");

    assert_eq!((erased.records, erased.shared_with), (vec![Seq(1)], vec![]));
    assert_eq!(store.load(&fork).await.expect("load").session.logs, ["a [erased]"]);
}

/// An account names every session with its lines, counts what forks share once, and is the sum of its parts.
pub async fn accounts_add_up(store: &dyn Store) {
    let Some(accounting) = store.accounting() else {
        return;
    };
    let last = talk(store, &id("s"), 20).await;
    store.fork(&id("s"), Seq(7), &id("fork")).await.expect("fork");
    store.append(&id("fork"), Seq(7), &said(Seq(7), "own")).await.expect("append");
    store.fork(&id("s"), last, &id("gone")).await.expect("fork");
    store.delete(&id("gone")).await.expect("delete");

    let usage = accounting.usage().await.expect("usage");

    let of = |name: &str| usage.sessions.iter().find(|one| one.session == id(name)).expect("it is in the account");
    let past: u64 =
        read(store, &id("s"), Seq::START).await.iter().take(3).map(|batch| batch.to_line().len() as u64).sum();
    for name in ["s", "fork"] {
        assert_eq!(of(name).raw, store.summary(&id(name)).await.expect("summary").bytes, "{name}");
    }
    assert_eq!((usage.sessions.len(), of("s").shared, of("fork").shared), (2, 0, past));
    assert_eq!(usage.raw, of("s").raw + of("fork").raw - past);
    assert!(of("s").own > of("fork").own, "{usage:?}");
    let parts = [usage.journals, usage.bodies, usage.listing, usage.search, usage.dictionaries, usage.free];
    assert_eq!(usage.total, parts.iter().sum::<u64>());
    assert!(usage.amplification() > 0.0);
}

/// A fork costs next to nothing, however long the past is that it shares, and none of its lines.
pub async fn forks_cost_next_to_nothing(store: &dyn Store) {
    const FORKS: u64 = 40;
    let Some(accounting) = store.accounting() else {
        return;
    };
    let last = talk(store, &id("s"), 300).await;
    let before = accounting.usage().await.expect("usage");
    for n in 0..FORKS {
        store.fork(&id("s"), last, &id(&format!("fork{n}"))).await.expect("fork");
    }

    let after = accounting.usage().await.expect("usage");

    assert_eq!(after.raw, before.raw);
    assert!(after.total - before.total <= FORKS * 4096, "{} bytes", after.total - before.total);
    let forks: Vec<_> = after.sessions.iter().filter(|usage| usage.session != id("s")).collect();
    assert_eq!(forks.len() as u64, FORKS);
    assert!(forks.iter().all(|fork| (fork.shared, fork.raw) == (before.raw, before.raw)), "{forks:?}");
    assert_eq!(forks.iter().map(|fork| fork.own).sum::<u64>(), after.journals - before.journals, "{forks:?}");
}
