//! Claims on sessions, in stores that have leases.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use pollster::block_on;
use turnkeep_model::event::SessionChanged;
use turnkeep_model::{Event, RunId, Seq, SessionId, Status};
use turnkeep_store::{Claim, Clock, ErrorKind, Lease, Leases, Options, Store, StoreExt};

use super::script::{batch, id, said};
use crate::home::Home;

pub(super) fn claim(worker: &str, time: Duration) -> Claim {
    Claim::new(worker, RunId::new(format!("run-{worker}")), time)
}

/// Appends the beginning of a session that waits for someone to run it.
async fn waiting(store: &dyn Store, name: &str) -> Seq {
    let status = Some(Status::InProgress(Default::default()));
    let waiting = batch(Seq::START, vec![SessionChanged { status, ..SessionChanged::default() }.into()]);
    store.append(&id(name), Seq::START, &waiting).await.expect("append")
}

async fn claimed(store: &dyn Store, leases: &dyn Leases, time: Duration) -> Lease {
    waiting(store, "s").await;
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

/// A worker that names labels gets only sessions that carry all of them.
pub async fn claims_follow_labels(store: &dyn Store) {
    let Some(leases) = store.leases() else {
        return;
    };
    for (name, tags) in
        [("plain", &[][..]), ("mail", &[("queue", "mail")]), ("urgent", &[("queue", "mail"), ("now", "")])]
    {
        let tags = tags.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        let status = Some(Status::InProgress(Default::default()));
        let waiting = SessionChanged { status, tags: Some(tags), ..SessionChanged::default() };
        store.append(&id(name), Seq::START, &batch(Seq::START, vec![waiting.into()])).await.expect("append");
    }
    let minute = Duration::from_secs(60);
    let next = async |claim: Claim| leases.claim_next(&claim).await.expect("claim").map(|lease| lease.session);
    let mail = || claim("one", minute).with_tag("queue", Some("mail"));

    assert_eq!(next(claim("one", minute).with_tag("queue", Some("bills"))).await, None);
    assert_eq!(next(mail().with_tag("now", None)).await, Some(id("urgent")));
    assert_eq!(next(mail()).await, Some(id("mail")));
    assert_eq!(next(mail()).await, None);
    assert_eq!(next(claim("two", minute)).await, Some(id("plain")));
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

/// A clock that a law moves, and options with it.
pub(super) fn timed() -> (Options, Arc<AtomicI64>) {
    let now = Arc::new(AtomicI64::new(1_000_000));
    let clock = Arc::clone(&now);
    (Options { clock: Clock::new(move || clock.load(Ordering::SeqCst)), ..Options::default() }, now)
}

/// One worker runs a session until it lets go, or shows no sign of life for as long as it said; then another does, and
/// whatever the first one still tries is refused.
pub async fn a_session_has_one_worker_at_a_time(home: &Home) {
    let (options, now) = timed();
    let store = home.open_with(options);
    let Some(leases) = store.leases() else {
        return;
    };
    let last = waiting(&*store, "s").await;
    let time = Duration::from_secs(10);
    let next = async |worker| leases.claim_next(&claim(worker, time)).await.expect("claim");

    let first = next("one").await.expect("a session that waits");
    assert_eq!((&first.session, first.token), (&id("s"), last.next()));
    assert_eq!(next("two").await, None);
    let held = leases.claim(&id("s"), &claim("two", time)).await.expect_err("it is another's");
    assert_eq!(held.kind(), ErrorKind::Conflict);
    now.fetch_add(9_000, Ordering::SeqCst);
    leases.renew(&first, time).await.expect("renew");
    now.fetch_add(9_000, Ordering::SeqCst);
    assert_eq!(next("two").await, None);
    now.fetch_add(1_000, Ordering::SeqCst);

    let second = next("two").await.expect("a lease that ran out");

    assert!(second.token > first.token);
    assert_eq!(leases.renew(&first, time).await.expect_err("it is another's").kind(), ErrorKind::Conflict);
    let late = store.append(&id("s"), first.token, &said(first.token, "late")).await.expect_err("a stale holder");
    assert_eq!(late.kind(), ErrorKind::Conflict);
    leases.release(&first).await.expect("release");
    assert_eq!(next("three").await, None, "a lost lease lets nothing go");
    leases.release(&second).await.expect("release");
    next("three").await.expect("it waits again");
    let runs = store.load(&id("s")).await.expect("load").session.runs;
    let runs: Vec<String> = runs.into_iter().filter_map(|run| run.id).map(|run| run.to_string()).collect();
    assert_eq!(runs, ["run-one", "run-two", "run-three"]);
}

/// Workers, each with a store of its own, that claim until nothing waits, and append once to each session.
fn crew(home: &Home, options: &Options) -> Vec<Lease> {
    let work = |name: usize| {
        let (store, mut own) = (home.open_with(options.clone()), Vec::new());
        let worker = claim(&format!("w{name}"), Duration::from_secs(60));
        let leases = store.leases().expect("leases");
        while let Some(lease) = block_on(leases.claim_next(&worker)).expect("claim") {
            block_on(store.append(&lease.session, lease.token, &said(lease.token, "worked"))).expect("append");
            own.push(lease);
        }
        own
    };
    crowd(work)
}

fn crowd(work: impl Fn(usize) -> Vec<Lease> + Copy + Send) -> Vec<Lease> {
    thread::scope(|scope| {
        let workers: Vec<_> = (0..4).map(|name| scope.spawn(move || work(name))).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("a worker ends well")).collect()
    })
}

/// A fleet runs everything that waits, each session once and by one; while they live nothing is left to others, and when
/// they died others run all of it, once again.
pub async fn a_fleet_resumes_what_the_dead_left(home: &Home) {
    const SESSIONS: usize = 24;
    let (options, now) = timed();
    let store = home.open_with(options.clone());
    if store.leases().is_none() {
        return;
    }
    for n in 0..SESSIONS {
        waiting(&*store, &format!("s{n}")).await;
    }

    let first = crew(home, &options);
    let nothing = crew(home, &options);
    // All of them die; their leases run out.
    now.fetch_add(61_000, Ordering::SeqCst);
    let second = crew(home, &options);

    let sessions = |leases: &[Lease]| leases.iter().map(|lease| lease.session.clone()).collect::<HashSet<_>>();
    assert_eq!((first.len(), sessions(&first).len()), (SESSIONS, SESSIONS), "each was claimed once");
    assert_eq!(nothing, []);
    assert_eq!((second.len(), sessions(&second).len()), (SESSIONS, SESSIONS));
    for lease in first {
        let at = lease.token.next();
        let late = store.append(&lease.session, at, &said(at, "late")).await.expect_err("a stale holder");
        assert_eq!(late.kind(), ErrorKind::Conflict);
        assert_eq!(store.load(&lease.session).await.expect("load").session.logs, ["worked", "worked"]);
    }
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
        waiting(&*store, &format!("s{n}")).await;
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
    crowd(work)
}
