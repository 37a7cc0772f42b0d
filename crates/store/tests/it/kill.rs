//! Processes that are killed, and processes that share a store.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::thread;

use pollster::block_on;
use turnkeep_model::event::LogAdded;
use turnkeep_model::{Batch, Seq, SessionId};
use turnkeep_store::{ErrorKind, Store, StoreExt, open};
use turnkeep_testkit::Home;
use turnkeep_testkit::laws::store::{batch, id, said};

const URL: &str = "TURNKEEP_CHILD_URL";
const NAME: &str = "TURNKEEP_CHILD_NAME";
const COUNT: &str = "TURNKEEP_CHILD_COUNT";

/// How often a process is killed on every store.
const KILLS: u32 = 200;

/// The batch that every writer appends after `at`: one to four records, now and then a large one.
fn expected(session: &SessionId, at: Seq) -> Batch {
    let filler = if at.0.is_multiple_of(5) { "large ".repeat(3000) } else { "small ".repeat(20) };
    let events = (0..=at.0 % 4).map(|n| LogAdded { line: format!("{session} {at} {n} {filler}") }.into());
    batch(at, events.collect())
}

fn child(url: &str, name: &str, count: u32) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "kill::the_child", "--ignored", "--nocapture"])
        .envs([(URL, url), (NAME, name), (COUNT, &count.to_string())])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

#[test]
#[ignore = "the other tests of this file start it"]
fn the_child() {
    let (url, name) = (std::env::var(URL).unwrap(), std::env::var(NAME).unwrap());
    let count: u32 = std::env::var(COUNT).unwrap().parse().unwrap();
    let store = open(&url).unwrap();
    thread::scope(|scope| {
        for writer in 0..4 {
            let (store, session) = (&*store, SessionId::new(format!("{name}{writer}")));
            scope.spawn(move || block_on(write(store, &session, count)));
        }
    });
}

async fn write(store: &dyn Store, session: &SessionId, count: u32) {
    let mut at = store.last(session).await.unwrap_or_default();
    for _ in 0..count {
        at = store.append(session, at, &expected(session, at)).await.unwrap();
        let mut out = std::io::stdout().lock();
        writeln!(out, "ack {session} {at}").unwrap();
        out.flush().unwrap();
    }
    insist(store, &SessionId::new("common"), &format!("{session}")).await;
}

/// Appends to a session that all others append to as well.
async fn insist(store: &dyn Store, session: &SessionId, line: &str) {
    loop {
        let at = match store.last(session).await {
            Ok(last) => last,
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::NotFound, "{error}");
                Seq::START
            }
        };
        match store.append(session, at, &said(at, line)).await {
            Ok(_) => return,
            Err(error) => assert_eq!(error.kind(), ErrorKind::Conflict, "{error}"),
        }
    }
}

/// Starts a child, kills it after it has acknowledged `acks` appends, and gives the last place of every session that
/// it acknowledged.
fn killed_after(url: &str, acks: u64) -> HashMap<String, Seq> {
    let mut child = child(url, "w", u32::MAX);
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut last = HashMap::new();
    let mut seen = 0;
    let mut note = |line: String| {
        if let Some((session, seq)) = line.strip_prefix("ack ").and_then(|ack| ack.split_once(' ')) {
            last.insert(session.to_owned(), Seq(seq.parse().unwrap()));
            return 1;
        }
        0
    };
    while seen < acks {
        seen += note(lines.next().unwrap().unwrap());
    }
    child.kill().unwrap();
    // What it acknowledged before it died is still in the pipe; its last line may be torn.
    lines.map_while(Result::ok).filter(|line| line.split(' ').count() == 3).for_each(|line| {
        note(line);
    });
    child.wait().unwrap();
    last
}

fn survives_being_killed(scheme: &str) {
    let mut home = Home::new(scheme);
    let mut random = 0x9E37_79B9_7F4A_7C15_u64 ^ u64::from(turnkeep_testkit::seed());
    for kill in 0..turnkeep_testkit::kills(KILLS) {
        // Some kills hit a store that was killed before; a long history only costs time.
        if kill.is_multiple_of(4) {
            home = Home::new(scheme);
        }
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let acknowledged = killed_after(&home.url(), 1 + (random >> 33) % 40);

        let store = open(&home.url()).unwrap();

        for (session, last) in acknowledged {
            let session = SessionId::new(session);
            let journal = block_on(store.journal(&session)).unwrap();
            assert!(journal.last() >= last, "kill {kill}: {session} lost records after {}", journal.last());
            assert_eq!(journal.check().map_err(|error| error.to_string()), Ok(()));
            for stored in &journal.batches {
                let at = Seq(stored.seq.0 - 1);
                assert!(*stored == expected(&session, at), "kill {kill}: the batch after {at} is another one");
            }
            let verified = block_on(store.verify(&session)).unwrap();
            let torn =
                verified.findings.iter().all(|finding| matches!(finding, turnkeep_store::Finding::TornTail { .. }));
            assert!(torn, "kill {kill}: {:?}", verified.findings);
        }
    }
}

#[test]
fn file_survives_being_killed() {
    survives_being_killed("file");
}

#[cfg(feature = "sqlite")]
#[test]
fn sqlite_survives_being_killed() {
    survives_being_killed("sqlite");
}

fn two_processes_and_eight_writers(scheme: &str) {
    const EACH: u32 = 40;
    let home = Home::new(scheme);
    let mut children = ["x", "y"].map(|name| child(&home.url(), name, EACH));
    for child in &mut children {
        BufReader::new(child.stdout.take().unwrap()).lines().for_each(drop);
        assert!(child.wait().unwrap().success());
    }

    let store = open(&home.url()).unwrap();

    for name in ["x0", "x1", "x2", "x3", "y0", "y1", "y2", "y3"] {
        let journal = block_on(store.journal(&id(name))).unwrap();
        assert_eq!(journal.batches.len(), EACH as usize, "{name}");
        assert!(journal.batches.iter().all(|stored| *stored == expected(&id(name), Seq(stored.seq.0 - 1))));
    }
    let mut common = block_on(store.load(&id("common"))).unwrap().session.logs;
    common.sort();
    assert_eq!(common, ["x0", "x1", "x2", "x3", "y0", "y1", "y2", "y3"]);
}

#[test]
fn file_serves_two_processes_and_eight_writers() {
    two_processes_and_eight_writers("file");
}

/// Nothing but the first opening of a new file, where two processes are closest to each other.
#[cfg(feature = "sqlite")]
#[test]
fn sqlite_is_opened_new_by_many_at_once() {
    for _ in 0..20 {
        let home = Home::new("sqlite");
        let children: Vec<Child> = (0..4).map(|n| child(&home.url(), &format!("p{n}-"), 0)).collect();
        for child in children {
            let output = child.wait_with_output().unwrap();
            assert!(output.status.success());
        }
    }
}

#[cfg(feature = "sqlite")]
#[test]
fn sqlite_serves_two_processes_and_eight_writers() {
    two_processes_and_eight_writers("sqlite");
}

#[cfg(all(unix, feature = "postgres"))]
#[test]
fn postgres_survives_being_killed() {
    if crate::postgres::home().is_some() {
        survives_being_killed("postgres");
    }
}

#[cfg(all(unix, feature = "postgres"))]
#[test]
fn postgres_serves_two_processes_and_eight_writers() {
    if crate::postgres::home().is_some() {
        two_processes_and_eight_writers("postgres");
    }
}
