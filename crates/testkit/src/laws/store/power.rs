//! What only some stores can do: each law holds for those that can.

use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use pollster::block_on;
use turnkeep_model::event::{BlockAdded, SessionChanged, TurnOpened};
use turnkeep_model::{Author, Batch, Block, Event, RunId, Seq, SessionId, Status, Turn};
use turnkeep_store::{Claim, ErrorKind, Lease, Leases, SearchQuery, Store, StoreExt};

use super::append::read;
use super::script::{batch, id, said, talk};
use crate::home::Home;

const SECRET: &str = "hunter2 \"quoted\" \u{e9}\n";

pub(super) fn turn_with(at: Seq, text: &str) -> Batch {
    let mut turn = Turn::default();
    turn.blocks.push(Block::text(Author::User, text));
    batch(at, vec![TurnOpened { turn: Box::new(turn) }.into()])
}

pub(super) fn block_with(at: Seq, text: &str) -> Batch {
    batch(at, vec![BlockAdded { turn: 0, block: Block::text(Author::Assistant, text) }.into()])
}

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
    if let Some(search) = store.search() {
        let asked = SearchQuery { text: "hunter2".to_owned(), ..SearchQuery::default() };
        let hits = search.search(&asked).await.expect("search");
        assert_eq!(hits.iter().map(|hit| hit.session.as_str()).collect::<Vec<_>>(), ["fork"]);
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

fn claim(worker: &str, time: Duration) -> Claim {
    Claim { worker: worker.to_owned(), run: RunId::new(format!("run-{worker}")), time }
}

async fn claimed(store: &dyn Store, leases: &dyn Leases, time: Duration) -> Lease {
    let status = Some(Status::InProgress(Default::default()));
    let waiting = batch(Seq::START, vec![SessionChanged { status, ..SessionChanged::default() }.into()]);
    store.append(&id("s"), Seq::START, &waiting).await.expect("append");
    leases.claim_next(&claim("one", time)).await.expect("claim").expect("a session that waits")
}

/// Whoever let go holds nothing: it cannot hold on, and letting go again changes nothing.
pub async fn released_leases_are_not_renewed(store: &dyn Store) {
    let Some(leases) = store.leases() else {
        return;
    };
    let minute = Duration::from_secs(60);
    let lease = claimed(store, leases, minute).await;

    leases.release(&lease).await.expect("release");

    assert_eq!(leases.renew(&lease, minute).await.expect_err("a lease that was let go").kind(), ErrorKind::Conflict);
    leases.release(&lease).await.expect("release");
    let next = leases.claim_next(&claim("two", minute)).await.expect("claim").expect("it waits again");
    leases.release(&lease).await.expect("release");
    assert_eq!(leases.renew(&lease, minute).await.expect_err("it is another's").kind(), ErrorKind::Conflict);
    assert_eq!(leases.renew(&next, minute).await.expect("renew").token, next.token);
}

/// A lease that has run out, and that nobody took, can be held on to.
pub async fn leases_that_nobody_took_are_renewed(store: &dyn Store) {
    let Some(leases) = store.leases() else {
        return;
    };
    let lease = claimed(store, leases, Duration::ZERO).await;

    let renewed = leases.renew(&lease, Duration::from_secs(60)).await.expect("renew");

    assert_eq!((renewed.token, renewed.until > lease.until), (lease.token, true));
    assert_eq!(leases.claim_next(&claim("two", Duration::ZERO)).await.expect("claim"), None);
}

/// Any text is a query: signs mean nothing, and a query without words finds nothing.
pub async fn any_text_can_be_searched_for(store: &dyn Store) {
    let Some(search) = store.search() else {
        return;
    };
    let text = "Ünïcode don't \"AND\" near(x) 50% naïve 日本語 emoji\u{1F600} C++ a_b tab\there";
    store.append(&id("s"), Seq::START, &turn_with(Seq(0), text)).await.expect("append");
    let found = async |text: &str| {
        let asked = SearchQuery { text: text.to_owned(), ..SearchQuery::default() };
        search.search(&asked).await.expect("any text is a query").len()
    };

    for text in
        ["unicode", "ÜNÏCODE", "don't", "\"and\"", "AND", "NEAR(x)", "near", "naive", "日本語", "c++", "a_b", "50%"]
    {
        assert_eq!(found(text).await, 1, "{text:?}");
    }
    for text in ["", " ", "\"", "'", "*", "^", "-", "()", "\0", "\u{1F600}", "wolf", "and OR wolf", "NOT unicode2"] {
        assert_eq!(found(text).await, 0, "{text:?}");
    }
    // Whatever they mean, they are no errors.
    for text in
        ["\"unicode", "unicode*", "unicode -naive", "text:unicode", "{x y}:z", "a\0b", "(unicode", "&|!<->", "\\"]
    {
        found(text).await;
    }
    found(&"word ".repeat(20_000)).await;
    found(&"x".repeat(1_000_000)).await;
}

/// A fleet shares out what waits, each session to one worker; what the dead held is taken up once by others, and
/// whoever only seemed dead is refused.
pub async fn claims_go_to_one_worker_each(home: &Home) {
    const SESSIONS: usize = 12;
    let store = home.open();
    if store.leases().is_none() {
        return;
    }
    for n in 0..SESSIONS {
        let status = Some(Status::InProgress(Default::default()));
        let waiting = batch(Seq::START, vec![SessionChanged { status, ..SessionChanged::default() }.into()]);
        store.append(&id(&format!("s{n}")), Seq::START, &waiting).await.expect("append");
    }

    let dead = fleet(home, Duration::ZERO, SESSIONS);
    let living = fleet(home, Duration::from_secs(600), SESSIONS);

    assert_eq!((dead.len(), living.len()), (SESSIONS, SESSIONS));
    let held: HashSet<&SessionId> = living.iter().map(|lease| &lease.session).collect();
    assert_eq!(held.len(), SESSIONS, "each is held by one");
    for lease in &dead {
        let at = lease.token.next();
        let late = store.append(&lease.session, at, &said(at, "late")).await.expect_err("a stale holder");
        assert_eq!(late.kind(), ErrorKind::Conflict, "{late}");
    }
    for lease in &living {
        let journal = store.journal(&lease.session).await.expect("journal");
        let record = journal.records().find(|record| record.seq == lease.token).expect("the record of the claim");
        assert!(matches!(record.event, Event::RunStarted(_)), "claiming appends run.started");
    }
}

/// Workers, each with a store of its own, that claim until `count` claims were granted, and append once to each.
fn fleet(home: &Home, time: Duration, count: usize) -> Vec<Lease> {
    let granted = AtomicUsize::new(0);
    let work = |name: usize| {
        let (store, mut own) = (home.open(), Vec::new());
        while granted.fetch_add(1, Ordering::SeqCst) < count {
            let worker = claim(&format!("w{name}"), time);
            let leases = store.leases().expect("leases");
            let lease = block_on(leases.claim_next(&worker)).expect("claim").expect("a session that waits");
            // A lease that ran out at once may have passed on already.
            match block_on(store.append(&lease.session, lease.token, &said(lease.token, "worked"))) {
                Err(error) => assert_eq!((error.kind(), time), (ErrorKind::Conflict, Duration::ZERO), "{error}"),
                Ok(last) => assert_eq!(last, lease.token.next()),
            }
            own.push(lease);
        }
        own
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..4).map(|name| scope.spawn(move || work(name))).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("a worker ends well")).collect()
    })
}
