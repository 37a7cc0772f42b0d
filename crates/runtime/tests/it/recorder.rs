//! The single writer.

use pollster::block_on;
use turnkeep_model::event::LogAdded;
use turnkeep_model::{ErrorKind, Event, Session, SessionId};
use turnkeep_runtime::{Recorder, Tail, say};
use turnkeep_store::StoreExt;

use crate::kit::{memory, ports};

fn log(line: &str) -> Event {
    LogAdded { line: line.into() }.into()
}

fn session(id: &str) -> Session {
    Session { id: Some(SessionId::new(id)), ..Session::default() }
}

#[test]
fn what_is_acknowledged_is_in_the_store() {
    let store = memory();
    let mut recorder = block_on(Recorder::create(store.clone(), session("s"), ports())).unwrap();

    let seq = block_on(recorder.record(vec![log("one"), log("two")])).unwrap();

    let loaded = block_on(store.load(&SessionId::new("s"))).unwrap();
    assert_eq!((loaded.seq, loaded.session.logs), (seq, vec!["one".to_owned(), "two".to_owned()]));
}

#[test]
fn of_two_resumers_the_later_continues_and_the_earlier_is_fenced() {
    let store = memory();
    let id = SessionId::new("s");
    block_on(Recorder::create(store.clone(), session("s"), ports())).unwrap();
    let mut first = block_on(Recorder::resume(store.clone(), &id, ports())).unwrap();
    // Other ids than the first one's.
    let other = ports();
    other.ids.next();
    let mut second = block_on(Recorder::resume(store.clone(), &id, other)).unwrap();

    let fenced = block_on(first.record(vec![log("late")])).unwrap_err();
    block_on(second.record(vec![log("mine")])).unwrap();

    assert_eq!((fenced.kind(), fenced.name()), (ErrorKind::Conflict, Some("Fenced")));
    assert_eq!(block_on(store.load(&id)).unwrap().session.logs, ["mine"]);
}

#[test]
fn what_others_append_is_folded_in_and_the_batch_goes_after_it() {
    let store = memory();
    let id = SessionId::new("s");
    let mut recorder = block_on(Recorder::create(store.clone(), session("s"), ports())).unwrap();
    block_on(say(&*store, &id, &ports(), "hello")).unwrap();

    block_on(recorder.record(vec![log("after")])).unwrap();

    assert_eq!(recorder.session().turns.len(), 1);
    assert_eq!(*recorder.session(), block_on(store.load(&id)).unwrap().session);
}

#[test]
fn an_id_that_is_taken_is_refused() {
    let store = memory();
    block_on(Recorder::create(store.clone(), session("s"), ports())).unwrap();

    let error = block_on(Recorder::create(store, session("s"), ports())).err().unwrap();

    assert_eq!(error.kind(), ErrorKind::Conflict);
}

#[test]
fn a_tail_joins_what_is_stored_to_what_happens_without_gap_or_repetition() {
    let store = memory();
    let ports = ports();
    let mut recorder = block_on(Recorder::create(store.clone(), session("s"), ports.clone())).unwrap();
    block_on(recorder.record(vec![log("before")])).unwrap();
    let mut tail = Tail::new(store, &ports.hub, recorder.id(), turnkeep_model::Seq::START);
    for n in 0..3000 {
        block_on(recorder.record(vec![log(&n.to_string())])).unwrap();
    }

    let mut next = turnkeep_model::Seq(1);
    while next <= recorder.seq() {
        match block_on(tail.next()).unwrap() {
            Some(turnkeep_runtime::TailItem::Batch(batch)) => {
                assert_eq!(batch.seq, next);
                next = batch.last().next();
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_change_touches_only_its_field() {
    use turnkeep_model::event::SessionChanged;
    let begin = Session { title: Some("old".into()), tags: vec![("a".into(), "b".into())], ..session("s") };
    let mut recorder = block_on(Recorder::create(memory(), begin, ports())).unwrap();
    let before = recorder.session().clone();
    let options = turnkeep_model::Options::default().with_temperature(0.5);

    let changed = SessionChanged { options: Some(options.clone()), ..SessionChanged::default() };
    block_on(recorder.record(vec![changed.into()])).unwrap();

    assert_eq!(*recorder.session(), Session { options, ..before });
}
