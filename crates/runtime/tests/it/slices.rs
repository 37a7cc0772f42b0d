//! Side-state.

use std::sync::Arc;

use pollster::block_on;
use serde::{Deserialize, Serialize};
use turnkeep_model::event::Effect;
use turnkeep_model::{ErrorKind, SlicePolicy, Snapshot};
use turnkeep_runtime::Recorder;
use turnkeep_runtime::compat::weakincentives::{ConversationState, PromptResponse, ResumeFrom, Template, evaluate};
use turnkeep_runtime::port::{Answer, ToolError, ToolOutput};
use turnkeep_runtime::slices::{
    Declared, Dispatch, Logs, Op, Policies, Reducers, SliceItem, append_all, dispatch, query, replace_latest, upsert_by,
};
use turnkeep_store::StoreExt;

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
    let then = recorder.savepoint();
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

#[test]
fn subscribers_hear_after_the_record_in_order_and_one_that_fails_keeps_nothing_from_the_others() {
    let heard = Arc::new(std::sync::Mutex::new(Vec::new()));
    let noting = |name: &'static str| {
        let heard = heard.clone();
        move |note: &Note| {
            heard.lock().unwrap().push(format!("{name} {}", note.key));
            Ok(())
        }
    };
    let reducers = Reducers::default()
        .subscribe(noting("first"))
        .subscribe(|_: &Note| Err("deaf".to_owned()))
        .subscribe(|_: &Note| panic!("on purpose"))
        .subscribe(|_: &Seen| panic!("of another type"))
        .subscribe(noting("last"))
        .on(|_: &[Note], _: &Note| Err::<Op<Note>, _>("no".to_owned()))
        .slice::<Note>();
    let mut recorder = recorder();

    let told = block_on(recorder.dispatch(&reducers, note("a", "1"))).unwrap();

    assert_eq!(*heard.lock().unwrap(), ["first a", "last a"]);
    let why: Vec<String> = told.subscribers.into_iter().map(|failure| failure.why).collect();
    assert_eq!((why, told.reducers.len()), (vec!["deaf".to_owned(), "it panicked".to_owned()], 1));
}

#[test]
fn an_item_that_no_reducer_looks_at_is_added_to_its_slice() {
    let reducers = Reducers::default().slice::<Note>();
    let mut recorder = recorder();

    assert_eq!(block_on(recorder.dispatch(&reducers, note("a", "1"))).unwrap(), Dispatch::default());
    block_on(recorder.dispatch(&reducers, Seen(1))).unwrap();

    assert_eq!(query::<Note>(recorder.session()).unwrap(), [note("a", "1")]);
    assert_eq!(query::<Seen>(recorder.session()).unwrap(), [], "a slice nobody registered is not made");
}

#[test]
fn side_state_is_seeded_added_to_cleared_and_reset() {
    let reducers = Reducers::default().on(replace_latest::<Note>).slice::<Seen>();
    let mut recorder = recorder();
    let notes = |recorder: &Recorder| query::<Note>(recorder.session()).unwrap();

    block_on(recorder.seed(vec![note("a", "1"), note("b", "2")])).unwrap();
    block_on(recorder.append_item(note("c", "3"))).unwrap();
    assert_eq!(notes(&recorder), [note("a", "1"), note("b", "2"), note("c", "3")]);
    block_on(recorder.clear_where(|note: &Note| note.key == "b")).unwrap();
    assert_eq!(notes(&recorder), [note("a", "1"), note("c", "3")]);
    block_on(recorder.append_item(Seen(1))).unwrap();
    block_on(recorder.reset(&reducers)).unwrap();
    assert_eq!((notes(&recorder), query::<Seen>(recorder.session()).unwrap()), (vec![], vec![]));
    block_on(recorder.dispatch(&reducers, note("d", "4"))).unwrap();
    assert_eq!(notes(&recorder), [note("d", "4")], "the reducers are still there");
}

#[test]
fn a_fork_begins_with_the_state_and_goes_its_own_way() {
    let mut recorder = recorder();
    block_on(recorder.seed(vec![note("a", "1")])).unwrap();

    let mut child = block_on(recorder.fork(&"child".into())).unwrap();
    block_on(child.append_item(note("b", "2"))).unwrap();

    assert_eq!(query::<Note>(recorder.session()).unwrap(), [note("a", "1")]);
    assert_eq!(query::<Note>(child.session()).unwrap(), [note("a", "1"), note("b", "2")]);
    assert_eq!(child.session().parent.as_ref().map(|parent| &parent.session), Some(recorder.id()));
    assert_eq!(block_on(recorder.fork(&"child".into())).err().unwrap().kind(), ErrorKind::Conflict);
}

#[test]
fn a_snapshot_takes_state_logs_or_both() {
    let mut recorder = recorder();
    block_on(recorder.seed(vec![note("a", "1")])).unwrap();
    block_on(recorder.append_item(Seen(1))).unwrap();
    let names = |policies| {
        let snapshot = recorder.snapshot_of(policies);
        snapshot.session.slices.into_iter().map(|slice| slice.name).collect::<Vec<_>>()
    };

    assert_eq!(names(Policies::State), ["notes"]);
    assert_eq!(names(Policies::Logs), ["seen"]);
    assert_eq!(names(Policies::All), ["notes", "seen"]);
}

struct Bump(u32);

#[test]
fn a_declared_slice_holds_one_value_and_says_what_events_make_of_it() {
    let counting = || Declared::starting(|| Seen(10)).on(|seen: &Seen, bump: &Bump| Seen(seen.0 + bump.0));
    let reducers = Reducers::default().declare(counting()).unwrap();
    let mut counted = recorder();
    block_on(counted.dispatch(&reducers, Bump(1))).unwrap();
    block_on(counted.dispatch(&reducers, Bump(2))).unwrap();
    assert_eq!(query::<Seen>(counted.session()).unwrap(), [Seen(13)]);

    let empty = || Declared::empty().on(|seen: &Seen, bump: &Bump| Seen(seen.0 + bump.0));
    let mut waiting = recorder();
    let swallowing = Reducers::default().declare(empty()).unwrap();
    assert_eq!(block_on(waiting.dispatch(&swallowing, Bump(1))).unwrap(), Dispatch::default());
    assert_eq!(query::<Seen>(waiting.session()).unwrap(), []);

    let twice = counting().on(|_: &Seen, _: &Bump| Seen(0));
    let refused = [
        Reducers::default().declare(twice),
        Reducers::default().declare(Declared::<Seen>::empty()),
        reducers.declare(counting()),
    ];
    for one in refused {
        assert_eq!(one.unwrap_err().kind(), ErrorKind::Unsupported);
    }
}

#[test]
fn a_declared_slice_begins_with_its_first_value_before_any_event() {
    let counting = || Declared::starting(|| Seen(10)).on(|seen: &Seen, bump: &Bump| Seen(seen.0 + bump.0));
    let reducers = Arc::new(Reducers::default().slice::<Note>().declare(counting()).unwrap());
    let looking = Fake::new("look", Effect::Pure, |context| {
        Ok(ToolOutput::text(format!("{:?}", context.slices.latest::<Seen>())))
    });
    let agent =
        agent(vec![calling(&[("a", "look", "{}")]), Answer::text("ok")], vec![looking]).with_reducers(reducers.clone());
    let mut ran = block_on(Recorder::create(memory(), agent.session(), ports())).unwrap();
    block_on(agent.run(&mut ran, "go")).unwrap();
    let told_to_tool = ConversationState::of(ran.session()).turns[0].tool_messages[0].content.clone();
    assert_eq!(told_to_tool, "Ok(Some(Seen(10)))");
    // By an agent, by hand, and by an event that is of no concern to it.
    let (mut begun, mut told) = (recorder(), recorder());
    block_on(begun.begin_slices(&reducers)).unwrap();
    block_on(told.dispatch(&reducers, note("a", "1"))).unwrap();
    for recorder in [&ran, &begun, &told] {
        assert_eq!(query::<Seen>(recorder.session()).unwrap(), [Seen(10)]);
    }
    // Once: what events made of it stays.
    block_on(begun.dispatch(&reducers, Bump(1))).unwrap();
    block_on(begun.begin_slices(&reducers)).unwrap();
    assert_eq!(query::<Seen>(begun.session()).unwrap(), [Seen(11)]);
    assert_eq!(query::<Seen>(begun.session()).unwrap(), block_on(rebuilt(&begun)));
}

/// The slice as the store has it.
async fn rebuilt(recorder: &Recorder) -> Vec<Seen> {
    query(&recorder.store().load(recorder.id()).await.unwrap().session).unwrap()
}

#[test]
fn the_value_of_a_result_and_the_output_of_a_prompt_go_to_their_slices() {
    let answering = Fake::new("note", Effect::Pure, |context| context.answer(note("tool", "x")));
    let answers =
        vec![calling(&[("a", "note", "{}")]), Answer::text(r#"[{"key":"p","text":"1"},{"key":"q","text":"2"}]"#)];
    let reducers = Arc::new(Reducers::default().slice::<Note>());
    let agent = agent(answers, vec![answering]).with_reducers(reducers.clone());
    let mut recorder = block_on(Recorder::create(memory(), agent.session(), ports())).unwrap();
    let prompt = Template::new("n", "k", "go").answering(crate::kit::json(r#"{"type":"array"}"#));

    let response: PromptResponse<Vec<Note>> =
        block_on(evaluate(&agent, &prompt, &mut recorder, ResumeFrom::Nothing)).unwrap();
    block_on(response.keep_each(&mut recorder, &reducers)).unwrap();

    assert_eq!(query::<Note>(recorder.session()).unwrap(), [note("tool", "x"), note("p", "1"), note("q", "2")]);
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Grid {
    #[serde(with = "turnkeep_runtime::slices::pairs")]
    cells: std::collections::BTreeMap<(u8, u8), String>,
}

impl SliceItem for Grid {
    const NAME: &'static str = "grid";
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Unwritable(std::collections::BTreeMap<(u8, u8), String>);

impl SliceItem for Unwritable {
    const NAME: &'static str = "unwritable";
}

#[test]
fn maps_whose_keys_are_no_strings_are_kept_as_pairs() {
    let cells = std::collections::BTreeMap::from([((1, 2), "a".to_owned()), ((3, 4), "b".to_owned())]);
    let mut recorder = recorder();

    block_on(recorder.seed(vec![Grid { cells: cells.clone() }])).unwrap();
    let refused = block_on(recorder.seed(vec![Unwritable(cells.clone())])).unwrap_err();

    assert_eq!(query::<Grid>(recorder.session()).unwrap(), [Grid { cells }]);
    assert_eq!(refused.kind(), ErrorKind::Unsupported);
}

#[test]
fn nobody_hears_of_what_a_call_dispatched_whose_result_was_given_by_someone_else() {
    use turnkeep_runtime::human::{KnownOutcome, resolve};
    let (store, heard) = (memory(), Arc::new(std::sync::Mutex::new(Vec::new())));
    let reducers = {
        let heard = heard.clone();
        Reducers::default().on(append_all::<Note>).subscribe(move |note: &Note| {
            heard.lock().unwrap().push(note.clone());
            Ok(())
        })
    };
    let elsewhere = store.clone();
    let slow = Fake::new("act", Effect::Once, move |context| {
        let done = KnownOutcome::Done(ToolOutput::text("a person knew"));
        block_on(resolve(&*elsewhere, &context.session, &context.call_id, &done, None, &ports())).unwrap();
        context.slices.dispatch(note("a", "late"));
        Ok(ToolOutput::text("late"))
    });
    let agent =
        agent(vec![calling(&[("c", "act", "{}")]), Answer::text("ok")], vec![slow]).with_reducers(Arc::new(reducers));
    let mut recorder = block_on(Recorder::create(store, agent.session(), ports())).unwrap();
    block_on(agent.run(&mut recorder, "go")).unwrap();

    assert_eq!(crate::kit::history(recorder.session())[2], "0 result c success: a person knew");
    assert_eq!(query::<Note>(recorder.session()).unwrap(), []);
    assert_eq!(*heard.lock().unwrap(), []);
}
