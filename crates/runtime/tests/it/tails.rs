//! Sessions that are followed while another process writes. Another opening of the store, with a hub of its own, stands for it.

use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use pollster::block_on;
use turnkeep_model::{Batch, ErrorKind, RunId, Seq, Session, SessionId};
use turnkeep_runtime::port::{Answer, Delta, Deltas, Identity, Model, ModelError, Request};
use turnkeep_runtime::{Agent, Hub, Ports, Recorder, Tail, TailItem};
use turnkeep_store::url::Keeps;
use turnkeep_store::{Batches, BoxFuture, Chunk, ChunkKind, Deleted, Page, Query, Store};
use turnkeep_testkit::Home;
use turnkeep_testkit::laws::store::said;

use crate::kit::{memory, ports, schemes, script};

/// How long an item may take before it counts as lost.
const LOST: Duration = Duration::from_secs(20);

fn id() -> SessionId {
    SessionId::new("s")
}

/// What a tail gives, item by item, until it ends or fails.
fn followed(mut tail: Tail) -> Receiver<Result<TailItem, ErrorKind>> {
    let (tell, items) = channel();
    thread::spawn(move || {
        while let Some(item) = block_on(tail.next()).map_err(|error| error.kind()).transpose() {
            let is_last = item.is_err();
            if tell.send(item).is_err() || is_last {
                return;
            }
        }
    });
    items
}

fn batch(items: &Receiver<Result<TailItem, ErrorKind>>) -> Arc<Batch> {
    loop {
        if let TailItem::Batch(batch) = items.recv_timeout(LOST).unwrap().unwrap() {
            return batch;
        }
    }
}

/// Two openings of a store, where it has two.
fn openings(home: &Home) -> (Arc<dyn Store>, Arc<dyn Store>) {
    let first = home.open();
    match home.keeps() {
        Keeps::WhileOpen => (first.clone(), first),
        Keeps::Forever => (first, home.open()),
    }
}

#[test]
fn what_another_process_appends_is_given_once_and_in_order_on_every_store() {
    for scheme in schemes() {
        let home = Home::new(scheme);
        let (here, there) = openings(&home);
        block_on(there.append(&id(), Seq::START, &said(Seq(0), "before"))).unwrap();
        let items = followed(Tail::of_store(here, &id(), Seq::START));

        for at in (1..40).map(Seq) {
            block_on(there.append(&id(), at, &said(at, "x"))).unwrap();
            if at.0.is_multiple_of(10) {
                // Now and then it has caught up before the next one.
                (at.0 - 9..=at.0).map(Seq).for_each(|seq| assert_eq!(batch(&items).seq, seq, "{scheme}"));
            }
        }
        (31..=40).map(Seq).for_each(|seq| assert_eq!(batch(&items).seq, seq, "{scheme}"));
        block_on(there.delete(&id())).unwrap();

        assert_eq!(items.recv_timeout(LOST).unwrap(), Err(ErrorKind::NotFound), "{scheme}");
    }
}

#[test]
fn a_run_of_another_process_ends_what_follows_one_run() {
    for scheme in schemes() {
        let home = Home::new(scheme);
        let (here, there) = openings(&home);
        let hub = Hub::default();
        let items = followed(Tail::new(here, &hub, &id(), Seq::START));

        let last = run(there, ports(), "hello");

        while batch(&items).last() < last {}
        assert!(items.recv_timeout(LOST).is_err(), "{scheme}");
    }
}

/// A whole run in a hub of its own; gives its last record.
fn run(store: Arc<dyn Store>, ports: Ports, answer: &str) -> Seq {
    let session = Session { id: Some(id()), ..Session::default() };
    let mut recorder = block_on(Recorder::create_asking(store, session, "hi", ports)).unwrap();
    block_on(Agent::new(script(vec![Answer::text(answer)])).resume(&mut recorder)).unwrap();
    recorder.seq()
}

/// A store that cannot tell of changes.
struct Silent(Arc<dyn Store>);

impl Store for Silent {
    fn append<'a>(
        &'a self,
        session: &'a SessionId,
        at: Seq,
        batch: &'a Batch,
    ) -> BoxFuture<'a, turnkeep_store::Result<Seq>> {
        self.0.append(session, at, batch)
    }

    fn read<'a>(&'a self, session: &'a SessionId, after: Seq) -> Batches<'a> {
        self.0.read(session, after)
    }

    fn list<'a>(&'a self, query: &'a Query) -> BoxFuture<'a, turnkeep_store::Result<Page>> {
        self.0.list(query)
    }

    fn fork<'a>(
        &'a self,
        session: &'a SessionId,
        at: Seq,
        child: &'a SessionId,
    ) -> BoxFuture<'a, turnkeep_store::Result<()>> {
        self.0.fork(session, at, child)
    }

    fn delete<'a>(&'a self, session: &'a SessionId) -> BoxFuture<'a, turnkeep_store::Result<Deleted>> {
        self.0.delete(session)
    }
}

#[test]
fn a_store_that_cannot_tell_is_followed_all_the_same() {
    let store = memory();
    let items = followed(Tail::of_store(Arc::new(Silent(store.clone())), &id(), Seq::START));

    for at in (0..3).map(Seq) {
        block_on(store.append(&id(), at, &said(at, "x"))).unwrap();
        assert_eq!(batch(&items).seq, at.next());
    }
}

/// A model that says everything, and answers when it may.
struct Held {
    text: String,
    may_answer: Mutex<Receiver<()>>,
}

impl Model for Held {
    fn identity(&self) -> Identity {
        Identity::default()
    }

    fn answer<'a>(&'a self, _: Request<'a>, deltas: &'a dyn Deltas) -> BoxFuture<'a, Result<Answer, ModelError>> {
        let middle = self.text.len() / 2;
        let (first, rest) = self.text.split_at(middle);
        [first, rest].into_iter().for_each(|text| deltas.delta(Delta::Text(text.to_owned())));
        Box::pin(async {
            self.may_answer.lock().unwrap().recv().unwrap();
            Ok(Answer::text(self.text.as_str()))
        })
    }
}

/// The text of the pieces that come, until there is as much of it.
fn pieces(items: &Receiver<Result<TailItem, ErrorKind>>, length: usize) -> String {
    let mut text = String::new();
    while text.len() < length {
        if let TailItem::Delta(Delta::Text(piece)) = items.recv_timeout(LOST).unwrap().unwrap() {
            text.push_str(&piece);
        }
    }
    text
}

/// Sends pieces until one arrives: they are lost until the store listens.
fn until_heard(store: &dyn Store, items: &Receiver<Result<TailItem, ErrorKind>>) {
    for offset in 0.. {
        let (run, kind) = (RunId::new("probe"), ChunkKind::Text);
        let chunk = Chunk { run, turn: 0, attempt: 1, offset, kind, text: ".".to_owned() };
        store.chunks().unwrap().publish(&id(), chunk);
        if items.recv_timeout(Duration::from_millis(20)).is_ok() {
            return;
        }
    }
}

#[test]
fn pieces_of_an_answer_cross_processes_where_the_store_carries_them_and_come_once() {
    for scheme in schemes() {
        let home = Home::new(scheme);
        let (here, there) = openings(&home);
        if here.chunks().is_none() {
            continue;
        }
        let ports = ports();
        let elsewhere = followed(Tail::of_store(here, &id(), Seq::START));
        until_heard(&*there, &elsewhere);
        // Whoever hears the run from its own hub hears its pieces once, too.
        let beside = followed(Tail::across_runs(there.clone(), &ports.hub, &id(), Seq::START));
        until_heard(&*there, &beside);
        let session = Session { id: Some(id()), ..Session::default() };
        let mut recorder = block_on(Recorder::create_asking(there, session, "hi", ports)).unwrap();
        for items in [&elsewhere, &beside] {
            batch(items);
        }
        let text = "wörds\0 ".repeat(3000);
        let (answer, may_answer) = channel();
        let model = Arc::new(Held { text: text.clone(), may_answer: Mutex::new(may_answer) });
        let run = thread::spawn(move || {
            block_on(Agent::new(model).resume(&mut recorder)).unwrap();
            recorder.seq()
        });

        let texts = [&elsewhere, &beside].map(|items| pieces(items, text.len()));
        answer.send(()).unwrap();
        let last = run.join().unwrap();

        assert!(texts.iter().all(|heard| *heard == text), "{scheme}");
        for items in [elsewhere, beside] {
            let mut item = items.recv_timeout(LOST).unwrap().unwrap();
            while !matches!(&item, TailItem::Batch(batch) if batch.last() == last) {
                assert!(matches!(item, TailItem::Batch(_)), "{scheme}: a piece came after all of them");
                item = items.recv_timeout(LOST).unwrap().unwrap();
            }
        }
    }
}
