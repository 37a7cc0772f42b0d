//! Side-state.

use std::sync::Arc;

use pollster::block_on;
use serde::{Deserialize, Serialize};
use turnkeep_model::event::Effect;
use turnkeep_model::{ErrorKind, SlicePolicy, Snapshot};
use turnkeep_runtime::Recorder;
use turnkeep_runtime::port::{Answer, ToolError, ToolOutput};
use turnkeep_runtime::slices::{Logs, Op, Reducers, SliceItem, append_all, dispatch, query, replace_latest, upsert_by};

use crate::kit::{Fake, agent, calling, memory, ports};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Note {
    key: String,
    text: String,
}

impl SliceItem for Note {
    const NAME: &'static str = "notes";
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Seen(u32);

impl SliceItem for Seen {
    const NAME: &'static str = "seen";
    const POLICY: SlicePolicy = SlicePolicy::Log;
}

fn note(key: &str, text: &str) -> Note {
    Note { key: key.into(), text: text.into() }
}

fn recorder() -> Recorder {
    block_on(Recorder::create(memory(), Default::default(), ports())).unwrap()
}

fn tell<E: Clone + Send + Sync + 'static>(recorder: &mut Recorder, reducers: &Reducers, event: &E) -> Vec<String> {
    let (events, failures) = dispatch(reducers, recorder.session(), event.clone());
    block_on(recorder.record(events)).unwrap();
    failures.into_iter().map(|failure| failure.why).collect()
}

#[test]
fn reducers_append_replace_and_upsert_at_the_end() {
    let cases: [(Reducers, Vec<Note>); 3] = [
        (Reducers::default().on(append_all::<Note>), vec![note("a", "1"), note("b", "2"), note("a", "3")]),
        (Reducers::default().on(replace_latest::<Note>), vec![note("a", "3")]),
        (Reducers::default().on(upsert_by(|note: &Note| note.key.clone())), vec![note("b", "2"), note("a", "3")]),
    ];
    for (reducers, expected) in cases {
        let mut recorder = recorder();
        for event in [note("a", "1"), note("b", "2"), note("a", "3")] {
            tell(&mut recorder, &reducers, &event);
        }

        assert_eq!(query::<Note>(recorder.session()).unwrap(), expected);
    }
}

#[test]
fn a_reducer_that_fails_is_named_and_the_others_go_on() {
    let reducers = Reducers::default()
        .on(|_: &[Note], _: &Note| Err::<Op<Note>, _>("no".to_owned()))
        .on(|seen: &[Seen], _: &Note| Ok(Op::Append(Seen(seen.len() as u32))));
    let mut recorder = recorder();

    assert_eq!(tell(&mut recorder, &reducers, &note("a", "1")), ["no"]);
    assert_eq!(query::<Seen>(recorder.session()).unwrap(), [Seen(0)]);
    assert_eq!(query::<Note>(recorder.session()).unwrap(), []);
}

#[test]
fn a_rollback_puts_state_back_and_keeps_logs() {
    let reducers = Reducers::default().on(append_all::<Note>).on(append_all::<Seen>);
    let mut recorder = recorder();
    tell(&mut recorder, &reducers, &note("a", "1"));
    let then = recorder.moment();
    tell(&mut recorder, &reducers, &note("b", "2"));
    tell(&mut recorder, &reducers, &Seen(7));

    block_on(recorder.rollback(&reducers, &then, Logs::Keep)).unwrap();

    assert_eq!(query::<Note>(recorder.session()).unwrap(), [note("a", "1")]);
    assert_eq!(query::<Seen>(recorder.session()).unwrap(), [Seen(7)]);

    block_on(recorder.rollback(&reducers, &then, Logs::Restore)).unwrap();

    assert_eq!(query::<Seen>(recorder.session()).unwrap(), []);
    // The whole session of then can be had as well, in another process too.
    let (snapshot, _) = Snapshot::from_json(&block_on(then.snapshot()).unwrap().to_json()).unwrap();
    assert_eq!((snapshot.seq, query::<Note>(&snapshot.session).unwrap()), (then.seq(), vec![note("a", "1")]));
}

#[test]
fn a_rollback_to_state_that_is_not_registered_changes_nothing() {
    let all = Reducers::default().on(append_all::<Note>).on(append_all::<Seen>);
    let mut recorder = recorder();
    tell(&mut recorder, &all, &note("a", "1"));
    tell(&mut recorder, &all, &Seen(1));

    let error = Reducers::default().rollback(recorder.session(), recorder.session(), Logs::Keep).unwrap_err();

    assert_eq!((error.kind(), error.name()), (ErrorKind::Corrupt, Some("SnapshotRestoreError")));
    assert!(error.to_string().contains("Slice types not registered: notes, seen"), "{error}");
}

#[test]
fn what_a_failed_tool_changed_is_forgotten_and_its_siblings_changes_stay() {
    let noting = Fake::new("note", Effect::Pure, |context| {
        let id = context.call_id.to_string();
        assert!(context.slices.dispatch(note(&id, "noted")).is_empty());
        assert_eq!(context.slices.all::<Note>().unwrap().last(), Some(&note(&id, "noted")));
        if id == "b" { Err(ToolError::failed("no")) } else { Ok(ToolOutput::text("ok")) }
    });
    let calls = calling(&[("a", "note", "{}"), ("b", "note", "{}"), ("c", "note", "{}")]);
    let agent = agent(vec![calls, Answer::text("ok")], vec![noting])
        .with_reducers(Arc::new(Reducers::default().on(append_all::<Note>)));
    let mut recorder = block_on(Recorder::create(memory(), agent.session(), ports())).unwrap();

    block_on(agent.run(&mut recorder, "go")).unwrap();

    let keys: Vec<String> = query::<Note>(recorder.session()).unwrap().into_iter().map(|note| note.key).collect();
    assert_eq!(keys, ["a", "c"]);
}
