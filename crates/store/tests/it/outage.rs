//! A PostgreSQL server that goes away: what was appended is there once, acknowledged or refused.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;

use pollster::block_on;
use turnkeep_model::event::LogAdded;
use turnkeep_model::{Batch, Seq, SessionId};
use turnkeep_store::{ErrorKind, Store, StoreExt, open};
use turnkeep_testkit::laws::store::{batch, id, said};
use turnkeep_testkit::postgres_server::{Fsync, PostgresServer, StopMode};

use crate::postgres::home;

const PASS: u8 = 0;
const SWALLOW_REQUEST: u8 = 1;
const SWALLOW_REPLY: u8 = 2;

/// A relay to the server that loses a connection on demand: in the middle of the next request, or of the answer.
struct Relay {
    url: String,
    mood: Arc<Mood>,
}

/// In which direction the connection is lost, and after how many bytes.
#[derive(Default)]
struct Mood {
    loses: AtomicU8,
    after: AtomicUsize,
}

impl Mood {
    /// How many of these bytes still pass before the connection is lost.
    fn passes(&self, direction: u8, count: usize) -> Option<usize> {
        if self.loses.load(Ordering::SeqCst) != direction {
            return None;
        }
        let left = self.after.load(Ordering::SeqCst);
        if left > count {
            self.after.store(left - count, Ordering::SeqCst);
            return None;
        }
        self.loses.store(PASS, Ordering::SeqCst);
        Some(left)
    }
}

impl Relay {
    fn before(url: &str) -> Relay {
        let (scheme, rest) = url.split_once("://").unwrap();
        let (authority, path) = rest.split_once('/').unwrap();
        let (user, server) = authority.rsplit_once('@').unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("{scheme}://{user}@{}/{path}", listener.local_addr().unwrap());
        let (mood, server) = (Arc::new(Mood::default()), server.to_owned());
        let shared = Arc::clone(&mood);
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let server = TcpStream::connect(&server).unwrap();
                pump(&client, &server, &shared, SWALLOW_REQUEST);
                pump(&server, &client, &shared, SWALLOW_REPLY);
            }
        });
        Relay { url, mood }
    }

    /// Loses the connection in this direction after so many more bytes.
    fn lose(&self, direction: u8, after: usize) {
        self.mood.after.store(after, Ordering::SeqCst);
        self.mood.loses.store(direction, Ordering::SeqCst);
    }

    fn has_lost(&self) -> bool {
        self.mood.loses.swap(PASS, Ordering::SeqCst) == PASS
    }
}

/// Carries bytes from one side to the other, until it is told to lose them.
fn pump(from: &TcpStream, to: &TcpStream, mood: &Arc<Mood>, direction: u8) {
    let (mut from, mut to, mood) = (from.try_clone().unwrap(), to.try_clone().unwrap(), Arc::clone(mood));
    thread::spawn(move || {
        let mut bytes = vec![0; 1 << 16];
        while let Ok(count @ 1..) = from.read(&mut bytes) {
            let passes = mood.passes(direction, count);
            let sent = to.write_all(bytes.get(..passes.unwrap_or(count)).unwrap());
            if passes.is_some() || sent.is_err() {
                break;
            }
        }
        let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
    });
}

#[test]
fn an_append_whose_connection_is_lost_is_recorded_once() {
    let Some(home) = home() else { return };
    let relay = Relay::before(&home.url());
    let store = open(&relay.url).unwrap();
    let mut at = Seq::START;

    for mood in [PASS, SWALLOW_REPLY, SWALLOW_REQUEST, SWALLOW_REPLY, PASS] {
        relay.lose(mood, 0);
        at = block_on(store.append(&id("s"), at, &said(at, &format!("after {at}")))).unwrap();
    }

    assert!(relay.has_lost(), "every loss happened");
    let logs = block_on(store.load(&id("s"))).unwrap().session.logs;
    assert_eq!(logs, ["after 0", "after 1", "after 2", "after 3", "after 4"]);
}

#[test]
fn an_append_whose_connection_is_lost_at_any_byte_is_recorded_once() {
    let Some(home) = home() else { return };
    let relay = Relay::before(&home.url());
    let store = open(&relay.url).unwrap();
    let session = SessionId::new("s");
    let mut at = block_on(store.append(&session, Seq::START, &expected(&session, Seq::START))).unwrap();

    for direction in [SWALLOW_REQUEST, SWALLOW_REPLY] {
        // The step shares no divisor with the sizes of messages; it ends when an append came through whole.
        for after in (0..).step_by(13) {
            relay.lose(direction, after);
            at = block_on(store.append(&session, at, &expected(&session, at))).unwrap();
            if !relay.has_lost() {
                assert!(after > 26, "an append has more than {after} bytes");
                break;
            }
        }
    }

    let journal = block_on(home.open().journal(&session)).unwrap();
    assert_eq!((journal.last(), journal.check().is_ok()), (at, true));
    let whole = |stored: &Batch| *stored == expected(&session, Seq(stored.seq.0 - 1));
    assert!(journal.batches.iter().all(whole), "every batch is there once, and whole");
}

#[test]
fn of_two_equal_appends_at_one_place_a_lost_connection_makes_no_two_winners() {
    let Some(home) = home() else { return };
    let relay = Relay::before(&home.url());
    let (behind, direct) = (open(&relay.url).unwrap(), home.open());
    block_on(behind.append(&id("s"), Seq::START, &said(Seq(0), "first"))).unwrap();

    // The other one is faster with the very same batch.
    block_on(direct.append(&id("s"), Seq(1), &said(Seq(1), "same"))).unwrap();
    relay.lose(SWALLOW_REPLY, 0);
    let late = block_on(behind.append(&id("s"), Seq(1), &said(Seq(1), "same")));

    assert_eq!(late.unwrap_err().kind(), ErrorKind::Conflict);
    assert_eq!(block_on(direct.last(&id("s"))).unwrap(), Seq(2));
}

/// The batch that is appended after `at`; no other place has an equal one.
fn expected(session: &SessionId, at: Seq) -> Batch {
    let filler = if at.0.is_multiple_of(7) { "large ".repeat(3000) } else { String::new() };
    let events = (0..=at.0 % 3).map(|n| LogAdded { line: format!("{session} {at} {n} {filler}") }.into());
    batch(at, events.collect())
}

/// Appends until it has been told of `count` appends that they are durable; gives the last place.
fn insist(store: &dyn Store, session: &SessionId, count: u32, told: &mpsc::Sender<()>) -> Seq {
    let (mut at, mut acknowledged) = (Seq::START, 0);
    while acknowledged < count {
        match block_on(store.append(session, at, &expected(session, at))) {
            Ok(last) => {
                (at, acknowledged) = (last, acknowledged + 1);
                let _ = told.send(());
            }
            // Refused: whether it was recorded is for the appender to find out.
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
                let last = block_on(store.last(session)).unwrap_or(at);
                assert!(last == at || last == expected(session, at).last(), "{session} is at {last} after {at}");
                at = last;
            }
        }
    }
    at
}

#[test]
fn a_restart_under_load_loses_and_doubles_nothing() {
    if home().is_none() {
        return;
    }
    const WRITERS: u32 = 4;
    const EACH: u32 = 80;
    let mut server = PostgresServer::start(Fsync::Off).unwrap();
    let store = open(&server.url()).unwrap();
    let (told, heard) = mpsc::channel();

    let ends: Vec<(SessionId, Seq)> = thread::scope(|scope| {
        let writers: Vec<_> = (0..WRITERS)
            .map(|n| {
                let (store, told, session) = (&*store, told.clone(), SessionId::new(format!("w{n}")));
                scope.spawn(move || (session.clone(), insist(store, &session, EACH, &told)))
            })
            .collect();
        for stop in [StopMode::Fast, StopMode::Crash, StopMode::Crash, StopMode::Fast] {
            // In the middle of things: a sixth of all appends after the last time.
            (0..WRITERS * EACH / 6).for_each(|_| heard.recv().unwrap());
            server.stop(stop).unwrap();
            server.resume().unwrap();
        }
        writers.into_iter().map(|writer| writer.join().unwrap()).collect()
    });

    let store = open(&server.url()).unwrap();
    for (session, end) in ends {
        let journal = block_on(store.journal(&session)).unwrap();
        assert_eq!(journal.last(), end, "{session}");
        assert_eq!(journal.check().map_err(|error| error.to_string()), Ok(()));
        for stored in &journal.batches {
            let at = Seq(stored.seq.0 - 1);
            assert!(*stored == expected(&session, at), "{session}: the batch after {at} is another one");
        }
    }
    assert_eq!(block_on(store.repair().unwrap().check(None)).unwrap(), []);
}
