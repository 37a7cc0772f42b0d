//! A PostgreSQL server that goes away: what was appended is there once, acknowledged or refused.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;

use pollster::block_on;
use turnkeep_model::event::LogAdded;
use turnkeep_model::{Batch, Seq, SessionId};
use turnkeep_store::{ErrorKind, Store, StoreExt, open};
use turnkeep_testkit::laws::store::{batch, id, said};
use turnkeep_testkit::server::{Server, Stop, Sync};

use crate::postgres::home;

const PASS: u8 = 0;
const SWALLOW_REQUEST: u8 = 1;
const SWALLOW_REPLY: u8 = 2;

/// A relay to the server that loses a connection on demand: before the server hears of the next request, or after it
/// has answered it.
struct Relay {
    url: String,
    mood: Arc<AtomicU8>,
}

impl Relay {
    fn before(url: &str) -> Relay {
        let (scheme, rest) = url.split_once("://").unwrap();
        let (authority, path) = rest.split_once('/').unwrap();
        let (user, server) = authority.rsplit_once('@').unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("{scheme}://{user}@{}/{path}", listener.local_addr().unwrap());
        let (mood, server) = (Arc::new(AtomicU8::new(PASS)), server.to_owned());
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
}

/// Carries bytes from one side to the other, until it is told to lose them.
fn pump(from: &TcpStream, to: &TcpStream, mood: &Arc<AtomicU8>, loses: u8) {
    let (mut from, mut to, mood) = (from.try_clone().unwrap(), to.try_clone().unwrap(), Arc::clone(mood));
    thread::spawn(move || {
        let mut bytes = vec![0; 1 << 16];
        while let Ok(count @ 1..) = from.read(&mut bytes) {
            let lost = mood.compare_exchange(loses, PASS, Ordering::SeqCst, Ordering::SeqCst).is_ok();
            if lost || to.write_all(bytes.get(..count).unwrap()).is_err() {
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
        relay.mood.store(mood, Ordering::SeqCst);
        at = block_on(store.append(&id("s"), at, &said(at, &format!("after {at}")))).unwrap();
    }

    assert_eq!(relay.mood.load(Ordering::SeqCst), PASS, "every loss happened");
    let logs = block_on(store.load(&id("s"))).unwrap().session.logs;
    assert_eq!(logs, ["after 0", "after 1", "after 2", "after 3", "after 4"]);
}

#[test]
fn of_two_equal_appends_at_one_place_a_lost_connection_makes_no_two_winners() {
    let Some(home) = home() else { return };
    let relay = Relay::before(&home.url());
    let (behind, direct) = (open(&relay.url).unwrap(), home.open());
    block_on(behind.append(&id("s"), Seq::START, &said(Seq(0), "first"))).unwrap();

    // The other one is faster with the very same batch.
    block_on(direct.append(&id("s"), Seq(1), &said(Seq(1), "same"))).unwrap();
    relay.mood.store(SWALLOW_REPLY, Ordering::SeqCst);
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
    let mut server = Server::start(Sync::Off).unwrap();
    let store = open(&server.url()).unwrap();
    let (told, heard) = mpsc::channel();

    let ends: Vec<(SessionId, Seq)> = thread::scope(|scope| {
        let writers: Vec<_> = (0..WRITERS)
            .map(|n| {
                let (store, told, session) = (&*store, told.clone(), SessionId::new(format!("w{n}")));
                scope.spawn(move || (session.clone(), insist(store, &session, EACH, &told)))
            })
            .collect();
        for stop in [Stop::Fast, Stop::Crash, Stop::Crash, Stop::Fast] {
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
