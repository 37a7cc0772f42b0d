//! A question that nobody answers adds nothing.

use std::sync::Arc;

use pollster::block_on;
use turnkeep_model::{Author, Body, ErrorKind, Session, SessionId};
use turnkeep_runtime::port::{Answer, Deltas, Identity, Model, ModelError, Request};
use turnkeep_runtime::{Agent, Ports, Recorder, Script};
use turnkeep_store::{BoxFuture, StoreExt};

struct Silent;

impl Model for Silent {
    fn identity(&self) -> Identity {
        Identity { model: Some("silent".into()), ..Identity::default() }
    }

    fn answer<'a>(&'a self, _: Request<'a>, _: &'a dyn Deltas) -> BoxFuture<'a, Result<Answer, ModelError>> {
        Box::pin(async { Err(ModelError::fatal("no")) })
    }
}

fn said(session: &Session) -> Vec<(Author, String)> {
    let texts = session.blocks().filter_map(|(_, block)| match &block.body {
        Body::Text(text) => Some((block.author.clone(), text.text.clone())),
        _ => None,
    });
    texts.collect()
}

fn pair(author: Author, text: &str) -> (Author, String) {
    (author, text.to_owned())
}

#[test]
fn a_question_is_recorded_with_its_answer_and_a_failed_one_not_at_all() {
    block_on(async {
        let store = turnkeep_store::open("memory:").unwrap();
        let session = Session { id: Some(SessionId::new("s")), ..Session::default() };
        let mut recorder = Recorder::create(store.clone(), session, Ports::default()).await.unwrap();
        let answers = vec![Answer::text("one"), Answer::text("two")];
        let talking = Agent::new(Arc::new(Script::new("m", answers)));

        talking.inquire(&mut recorder, "first").await.unwrap();
        let mut recorder = Recorder::resume(store.clone(), &SessionId::new("s"), Ports::default()).await.unwrap();
        let failed = Agent::new(Arc::new(Silent)).inquire(&mut recorder, "lost").await.unwrap_err();
        let between = said(&store.load(&SessionId::new("s")).await.unwrap().session);
        let mut recorder = Recorder::resume(store.clone(), &SessionId::new("s"), Ports::default()).await.unwrap();
        let stopped = talking.inquire(&mut recorder, "second").await.unwrap();

        let first = [pair(Author::User, "first"), pair(Author::Assistant, "one")];
        assert_eq!(failed.kind(), ErrorKind::Unavailable);
        assert_eq!(between, first);
        assert_eq!(stopped.text.as_deref(), Some("two"));
        let loaded = store.load(&SessionId::new("s")).await.unwrap().session;
        let second = [pair(Author::User, "second"), pair(Author::Assistant, "two")];
        assert_eq!(said(&loaded), [first, second].concat());
        assert_eq!(loaded, *recorder.session());
    });
}
