//! Whoever follows a session is told of what happens to it, through whichever opening of the store.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use futures_util::StreamExt;
use pollster::block_on;
use turnkeep_model::{RunId, Seq, SessionId};
use turnkeep_store::url::Keeps;
use turnkeep_store::{Changes, Chunk, ChunkKind, ErrorKind, Store, StoreExt};

use super::script::{id, said, talk};
use crate::home::Home;

/// How long a wake-up may take before it counts as lost. A machine may be busy.
const LOST: Duration = Duration::from_secs(20);

/// How long is listened for what should not come.
const QUIET: Duration = Duration::from_millis(200);

/// Someone who follows a session: reads it only when told, and says what is there then.
pub struct Follower {
    seen: Receiver<Option<Seq>>,
}

impl Follower {
    /// Follows from now on; nothing if the store cannot tell.
    pub fn of(store: &Arc<dyn Store>, session: &SessionId) -> Option<Follower> {
        let changes = store.watch()?.watch(session).expect("watch");
        let (tell, seen) = channel();
        let (store, session) = (Arc::clone(store), session.clone());
        thread::spawn(move || follow(&*store, &session, changes, &tell));
        Some(Follower { seen })
    }

    /// Waits until it has seen the session end there; `None` if it is not there.
    ///
    /// # Panics
    /// Where it is not told in time.
    pub fn sees(&self, last: Option<Seq>) {
        while self.seen.recv_timeout(LOST).unwrap_or_else(|_| panic!("nobody told that {last:?} is there")) != last {}
    }

    /// How often it is told until nobody tells any more.
    fn told(&self) -> usize {
        std::iter::from_fn(|| self.seen.recv_timeout(QUIET).ok()).count()
    }
}

fn follow(store: &dyn Store, session: &SessionId, mut changes: Changes, tell: &Sender<Option<Seq>>) {
    while block_on(changes.next()).is_some() {
        let last = match block_on(store.last(session)) {
            Ok(last) => Some(last),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            // A server that is away: there will be a next time.
            Err(_) => continue,
        };
        if tell.send(last).is_err() {
            return;
        }
    }
}

/// Two openings of one store, where it has two.
fn openings(home: &Home) -> (Arc<dyn Store>, Arc<dyn Store>) {
    let first = home.open();
    match home.keeps() {
        Keeps::WhileOpen => (Arc::clone(&first), first),
        Keeps::Forever => (first, home.open()),
    }
}

/// Every append is told to whoever follows the session, and a session that is not there yet can be followed.
pub fn followers_are_told_of_every_append(home: &Home) {
    let (here, there) = openings(home);
    let Some(follower) = Follower::of(&here, &id("s")) else { return };

    for at in (0..6).map(Seq) {
        block_on(there.append(&id("s"), at, &said(at, "x"))).expect("append");

        follower.sees(Some(at.next()));
    }
}

/// However fast others append, whoever watches and then reads comes to the end.
pub fn no_wake_up_is_lost(home: &Home) {
    let (here, there) = openings(home);
    const COUNT: u32 = 50;
    for round in 0..3 {
        let session = id(&format!("s{round}"));
        let writer = {
            let (there, session) = (Arc::clone(&there), session.clone());
            thread::spawn(move || block_on(talk(&*there, &session, COUNT)))
        };
        // Somewhere in the middle of it.
        let Some(follower) = Follower::of(&here, &session) else { return };
        let followers = [follower, Follower::of(&here, &session).expect("another one")];
        writer.join().expect("the writer");
        let last = block_on(here.last(&session)).expect("last");
        block_on(there.append(&session, last, &said(last, "end"))).expect("append");

        followers.iter().for_each(|follower| follower.sees(Some(last.next())));
    }
}

/// That a session becomes a fork, and that it is deleted, is told.
pub fn forks_and_deletions_are_told(home: &Home) {
    let (here, there) = openings(home);
    block_on(there.append(&id("s"), Seq::START, &said(Seq(0), "x"))).expect("append");
    let Some(fork) = Follower::of(&here, &id("fork")) else { return };
    let session = Follower::of(&here, &id("s")).expect("follow");

    block_on(there.fork(&id("s"), Seq(1), &id("fork"))).expect("fork");
    fork.sees(Some(Seq(1)));

    for (name, follower) in [("s", &session), ("fork", &fork)] {
        block_on(there.delete(&id(name))).expect("delete");
        follower.sees(None);
    }
}

/// What happens to other sessions wakes nobody.
pub fn others_wake_nobody(home: &Home) {
    let (here, there) = openings(home);
    let Some(follower) = Follower::of(&here, &id("quiet")) else { return };
    let busy = Follower::of(&here, &id("busy")).expect("follow");

    for at in (0..40).map(Seq) {
        block_on(there.append(&id("busy"), at, &said(at, "x"))).expect("append");
        busy.sees(Some(at.next()));
    }

    // A few when it begins: the store looks where it stands, and whether it can be told.
    assert!(follower.told() <= 4, "followers are woken by others");
}

/// Whoever follows a store that is closed is not left waiting.
pub fn following_ends_with_the_store(home: &Home) {
    let store = home.open();
    let Some(watch) = store.watch() else { return };
    let changes = watch.watch(&id("s")).expect("watch");
    let (tell, ended) = channel();
    thread::spawn(move || tell.send(block_on(changes.count())));

    drop(store);

    ended.recv_timeout(LOST).expect("it ends");
}

/// Pieces of answers come through another opening of the store, in order and of their session alone.
pub fn chunks_reach_other_openings(home: &Home) {
    let (here, there) = openings(home);
    let (Some(incoming), Some(outgoing)) = (here.chunks(), there.chunks()) else { return };
    let (tell, heard) = channel();
    let mut stream = incoming.subscribe(&id("s")).expect("subscribe");
    thread::spawn(move || while block_on(stream.next()).is_some_and(|chunk| tell.send(chunk).is_ok()) {});
    // Pieces are lost until the store listens.
    while heard.recv_timeout(Duration::from_millis(20)) == Err(RecvTimeoutError::Timeout) {
        outgoing.publish(&id("s"), chunk(0, 0, ""));
    }

    let text = "é\0 \u{F8FF}😀x".repeat(4000);
    let cut = "é\0 ".len();
    outgoing.publish(&id("other"), chunk(1, 0, "of another session"));
    outgoing.publish(&id("s"), chunk(1, 0, text.get(..cut).expect("a part")));
    outgoing.publish(&id("s"), chunk(1, cut as u64, text.get(cut..).expect("the rest")));

    let mut joined = String::new();
    while joined.len() < text.len() {
        let chunk = heard.recv_timeout(LOST).expect("the next piece");
        if chunk.turn == 1 {
            assert_eq!((chunk.offset, chunk.kind, chunk.attempt), (joined.len() as u64, ChunkKind::Reasoning, 2));
            joined.push_str(&chunk.text);
        }
    }
    assert!(joined == text, "the pieces make up the text");
}

fn chunk(turn: u32, offset: u64, text: &str) -> Chunk {
    let (run, kind) = (RunId::new("run of é"), ChunkKind::Reasoning);
    Chunk { run, turn, attempt: 2, offset, kind, text: text.to_owned() }
}
