//! Sessions and those that came from them, and the phases of a run.

use pollster::block_on;
use turnkeep_model::event::Effect;
use turnkeep_model::{ErrorKind, Parent, Session, SessionId, Time};
use turnkeep_runtime::compat::geppetto::{Phase, phases};
use turnkeep_runtime::port::Answer;
use turnkeep_runtime::{HandoffHistory, Recorder, handoff, subtree};
use turnkeep_store::StoreExt;

use crate::kit::{Fake, World, agent, calling, clock, memory, ports, ports_with};

#[test]
fn children_come_before_their_parents_in_the_order_they_were_made() {
    let (store, clock) = (memory(), clock());
    let ports = ports_with(clock.clone());
    let named = |id: &str| Session { id: Some(id.into()), ..Session::default() };
    let mut root = block_on(Recorder::create(store.clone(), named("root"), ports.clone())).unwrap();
    let tick = || clock.advance(std::time::Duration::from_secs(1));
    tick();
    let first = block_on(root.fork(&"first".into())).unwrap();
    tick();
    let given = block_on(handoff(&mut root, store.clone(), "other", None, HandoffHistory::Everything)).unwrap();
    tick();
    block_on(first.fork(&"grandchild".into())).unwrap();
    tick();
    block_on(Recorder::create(store.clone(), named("stranger"), ports)).unwrap();

    let order = block_on(subtree(&*store, &"root".into())).unwrap();

    assert_eq!(order, [SessionId::new("grandchild"), "first".into(), given.id().clone(), "root".into()]);
    assert_eq!(block_on(subtree(&*store, &"nobody".into())).unwrap_err().kind(), ErrorKind::NotFound);
}

#[test]
fn a_session_is_not_its_own_parent_and_was_made_at_a_time_with_a_zone() {
    let own = Parent { session: "s".into(), ..Parent::default() };
    let itself = Session { id: Some("s".into()), parent: Some(own), ..Session::default() };
    let mut zoneless = Session { id: Some("z".into()), ..Session::default() };
    zoneless.timing.created = Some(Time::from("2026-01-01T00:00:00"));

    let refused = |session| block_on(Recorder::create(memory(), session, ports())).err().unwrap();

    assert_eq!(refused(itself).to_string(), "session s: a session cannot be its own parent");
    assert_eq!(refused(zoneless).to_string(), "session z: Session created_at must be timezone-aware.");
}

#[test]
fn a_journal_tells_the_phases_of_its_runs() {
    let store = memory();
    let answers = vec![calling(&[("a", "act", "{}"), ("b", "act", "{}")]), Answer::text("done")];
    let agent = agent(answers, vec![Fake::acting("act", Effect::Pure, &World::default())]);
    let mut recorder = block_on(Recorder::create(store.clone(), agent.session(), ports())).unwrap();
    block_on(agent.run(&mut recorder, "go")).unwrap();

    let found = phases(&block_on(store.journal(recorder.id())).unwrap());

    let names: Vec<&str> = found.iter().map(|(phase, _)| phase.as_str()).collect();
    let one = ["pre_inference", "post_inference", "post_tools", "pre_inference", "post_inference", "final"];
    assert_eq!(names, one);
    let blocks = |phase: Phase| {
        let (_, seq) = found.iter().find(|(one, _)| *one == phase).unwrap();
        block_on(store.load_at(recorder.id(), *seq)).unwrap().session.blocks().count()
    };
    assert_eq!((blocks(Phase::PreInference), blocks(Phase::PostInference), blocks(Phase::PostTools)), (1, 3, 5));
}
