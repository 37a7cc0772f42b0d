//! Conversations in stored sessions.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use pollster::block_on;
use turnkeep_model::{Author, Batch, Block, Seq, SessionId};
use turnkeep_runner::{Observer, Progress, Responder};
use turnkeep_runtime::port::{Answer, Delta};
use turnkeep_runtime::{Agent, Conversation, Script};
use turnkeep_store::{Batches, BoxFuture, Deleted, MemoryStore, Page, Query, Result, Store, StoreExt};

/// A store that counts how often a journal is read from its beginning.
#[derive(Default)]
struct CountingStore {
    inner: MemoryStore,
    loads: AtomicUsize,
}

impl CountingStore {
    fn take(&self) -> usize {
        self.loads.swap(0, Ordering::SeqCst)
    }
}

impl Store for CountingStore {
    fn append<'a>(&'a self, session: &'a SessionId, at: Seq, batch: &'a Batch) -> BoxFuture<'a, Result<Seq>> {
        self.inner.append(session, at, batch)
    }

    fn read<'a>(&'a self, session: &'a SessionId, after: Seq) -> Batches<'a> {
        if after == Seq::START {
            self.loads.fetch_add(1, Ordering::SeqCst);
        }
        self.inner.read(session, after)
    }

    fn list<'a>(&'a self, query: &'a Query) -> BoxFuture<'a, Result<Page>> {
        self.inner.list(query)
    }

    fn fork<'a>(&'a self, session: &'a SessionId, at: Seq, child: &'a SessionId) -> BoxFuture<'a, Result<()>> {
        self.inner.fork(session, at, child)
    }

    fn delete<'a>(&'a self, session: &'a SessionId) -> BoxFuture<'a, Result<Deleted>> {
        self.inner.delete(session)
    }
}

fn responder(texts: &[&str]) -> Responder {
    let answers = texts.iter().map(|text| Answer::text(*text)).collect();
    Responder::new("script", Arc::new(Script::new("m", answers)))
}

fn agent(store: Arc<dyn Store>, texts: &[&str]) -> Agent {
    responder(texts).agent().with_store(store)
}

fn question(text: &str) -> Vec<Block> {
    vec![Block::text(Author::User, text)]
}

/// Asks, and looks at all that a terminal shows afterwards.
fn ask(conversation: &Conversation, text: &str) -> Option<String> {
    block_on(async {
        let stopped = conversation.ask(question(text)).await.unwrap();
        conversation.usage_since(stopped.first_turn).await.unwrap();
        conversation.losses().await.unwrap();
        conversation.session().await.unwrap();
        stopped.text
    })
}

#[test]
fn a_question_to_a_stored_session_loads_it_once_and_one_to_a_new_session_never() {
    let store = Arc::new(CountingStore::default());
    let new = agent(store.clone(), &["one"]).begin().unwrap();

    assert_eq!(ask(&new, "first?").as_deref(), Some("one"));
    assert_eq!(store.take(), 0);

    let stored = agent(store.clone(), &["one", "two", "three"]).open(new.id().clone()).unwrap();
    assert_eq!(ask(&stored, "second?").as_deref(), Some("two"));
    assert_eq!(store.take(), 1);
    assert_eq!(ask(&stored, "third?").as_deref(), Some("three"));
    assert_eq!(store.take(), 1);
}

#[test]
fn nothing_is_stored_before_the_first_question_and_the_system_text_stands_before_it() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::default());
    let conversation = agent(store.clone(), &["yes"]).with_system("Be brief.").begin().unwrap();

    assert!(!block_on(conversation.is_stored()).unwrap());
    ask(&conversation, "well?");

    let session = block_on(store.load(conversation.id())).unwrap().session;
    let authors: Vec<Author> = session.blocks().map(|(_, block)| block.author.clone()).collect();
    assert_eq!(authors, [Author::System, Author::User, Author::Assistant]);
    assert_eq!(*block_on(conversation.session()).unwrap(), session);
}

#[test]
fn a_question_that_fails_is_recorded_and_resume_asks_it() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::default());
    let conversation = agent(store, &[]).begin().unwrap();

    let failed = block_on(conversation.ask(question("well?"))).unwrap();
    assert!(failed.is_unanswered() && conversation.has_recorded_question(), "{failed:?}");

    let conversation = conversation.with_agent(responder(&["at last"]).agent());
    let answered = block_on(conversation.resume()).unwrap();
    assert_eq!((answered.text.as_deref(), answered.first_turn), (Some("at last"), failed.first_turn));
}

#[test]
fn a_fork_goes_on_alone() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::default());
    let parent = agent(store.clone(), &["one"]).begin().unwrap();
    ask(&parent, "first?");

    let fork = block_on(agent(store.clone(), &["one", "two"]).fork(parent.id())).unwrap();
    assert_eq!(ask(&fork, "second?").as_deref(), Some("two"));

    let turns = |id| block_on(store.load(id)).unwrap().session.turns.len();
    assert_eq!((turns(parent.id()), turns(fork.id())), (1, 2));
}

#[test]
fn an_unknown_session_has_no_last_record_and_nothing_to_resume() {
    let nobody = agent(Arc::new(MemoryStore::default()), &[]).open("nobody").unwrap();

    let kinds = [block_on(nobody.last()).err(), block_on(nobody.resume()).err()].map(|error| error.unwrap().kind());

    assert_eq!(kinds, [turnkeep_model::ErrorKind::NotFound; 2]);
}

#[test]
fn an_observer_sees_a_model_asked_its_pieces_and_its_answer() {
    let seen: Arc<Mutex<Vec<String>>> = Arc::default();
    let notes = seen.clone();
    let observer = move |progress: Progress<'_>| {
        notes.lock().unwrap().push(match progress {
            Progress::Asked => "asked".to_owned(),
            Progress::Arrived(Delta::Text(text)) => format!("text {text}"),
            Progress::Arrived(_) => "another piece".to_owned(),
            Progress::Answered(answer) => format!("answered {}", answer.is_some()),
        });
    };
    let observer: Arc<dyn Observer> = Arc::new(observer);
    let observed = responder(&["yes"]).observed(&observer).agent().with_store(Arc::new(MemoryStore::default()));

    ask(&observed.begin().unwrap(), "well?");

    assert_eq!(*seen.lock().unwrap(), ["asked", "text yes", "answered true"]);
}
