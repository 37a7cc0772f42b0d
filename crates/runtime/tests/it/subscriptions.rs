//! Subscriptions end when there is nothing more to hear.

use std::sync::Arc;

use futures_util::StreamExt;
use pollster::block_on;
use turnkeep_model::{Event, Seq, Session, SessionId};
use turnkeep_runtime::port::Answer;
use turnkeep_runtime::{Agent, Hub, HubItem, Recorder, Tail, TailItem};
use turnkeep_store::Store;

use crate::kit::{memory, ports, script};
use crate::mortal::later;

fn id() -> SessionId {
    SessionId::new("s")
}

fn begin(store: &Arc<dyn Store>, hub: &Hub) -> Recorder {
    let ports = turnkeep_runtime::Ports { hub: hub.clone(), ..ports() };
    let session = Session { id: Some(id()), ..Session::default() };
    block_on(Recorder::create_asking(store.clone(), session, "hi", ports)).unwrap()
}

fn agent() -> Agent {
    Agent::new(script(vec![Answer::text("hello"), Answer::text("again")]))
}

/// The last kind of event that is heard until the subscription ends.
fn last_kind(heard: Vec<HubItem>) -> Option<String> {
    heard.into_iter().rev().find_map(|heard| match heard {
        HubItem::Batch(batch) => batch.events.last().map(|entry| entry.event.kind().to_owned()),
        _ => None,
    })
}

#[test]
fn a_subscription_ends_with_the_run_it_hears() {
    let (store, hub) = (memory(), Hub::default());
    let heard = hub.subscribe(&id());
    let mut recorder = begin(&store, &hub);
    block_on(agent().resume(&mut recorder)).unwrap();

    let heard = block_on(heard.collect::<Vec<_>>());

    assert_eq!(last_kind(heard).as_deref(), Some("run.stopped"));
}

#[test]
fn a_subscription_ends_when_its_run_is_dropped_and_when_the_hub_goes() {
    let (store, hub) = (memory(), Hub::default());
    let heard = hub.subscribe(&id());
    drop(begin(&store, &hub));
    assert_eq!(last_kind(block_on(heard.collect::<Vec<_>>())).as_deref(), Some("block.added"));

    let over_runs = hub.subscribe_across_runs(&id());
    drop(hub);
    assert_eq!(block_on(over_runs.collect::<Vec<_>>()), []);
}

#[test]
fn one_that_goes_across_runs_hears_the_next_run_too() {
    let (store, hub) = (memory(), Hub::default());
    let heard = hub.subscribe_across_runs(&id());
    let mut recorder = begin(&store, &hub);
    let agent = agent();
    block_on(agent.resume(&mut recorder)).unwrap();
    block_on(agent.run(&mut recorder, "more")).unwrap();
    drop(recorder);
    drop(hub);

    let stops = block_on(heard.collect::<Vec<_>>()).into_iter().filter(|heard| match heard {
        HubItem::Batch(batch) => batch.events.iter().any(|entry| matches!(entry.event, Event::RunStopped(_))),
        _ => false,
    });

    assert_eq!(stops.count(), 2);
}

#[test]
fn a_session_that_is_not_there_yet_is_waited_for_and_followed_to_the_end_of_its_run() {
    let (store, hub) = (memory(), Hub::default());
    let mut tail = Tail::new(store.clone(), &hub, &id(), Seq::START);
    assert_eq!(block_on(tail.look()).unwrap(), 0);
    let mut recorder = begin(&store, &hub);
    block_on(agent().resume(&mut recorder)).unwrap();

    let mut last = Seq::START;
    while let Some(followed) = block_on(tail.next()).unwrap() {
        if let TailItem::Batch(batch) = followed {
            assert_eq!(batch.seq, last.next());
            last = batch.last();
        }
    }

    assert_eq!(last, recorder.seq());
}

#[test]
fn subscriptions_that_ended_hold_no_memory() {
    let hub = Hub::default();
    for n in 0..1_000_000_u32 {
        drop(hub.subscribe(&SessionId::new(format!("s{}", n % 1000))));
    }

    // Nothing else tells what a hub holds.
    assert!(format!("{hub:?}").len() < 200, "{hub:?}");
}

#[test]
fn a_subscription_ends_when_its_run_is_fenced_by_another_process() {
    let (store, hub, elsewhere) = (memory(), Hub::default(), Hub::default());
    let heard = hub.subscribe(&id());
    let mut fenced = begin(&store, &hub);
    let other = turnkeep_runtime::Ports { hub: elsewhere, ..later() };
    let _taken = block_on(Recorder::resume(store, &id(), other)).unwrap();
    let error = block_on(agent().resume(&mut fenced)).unwrap_err();
    assert!(error.is(turnkeep_runtime::Named::Fenced));
    drop(fenced);

    assert_eq!(last_kind(block_on(heard.collect::<Vec<_>>())).as_deref(), Some("block.added"));
}

#[test]
fn a_subscription_goes_on_with_the_run_of_this_process_that_took_over() {
    let (store, hub) = (memory(), Hub::default());
    let heard = hub.subscribe(&id());
    let first = begin(&store, &hub);
    let ports = turnkeep_runtime::Ports { hub: hub.clone(), ..later() };
    let mut second = block_on(Recorder::resume(store, &id(), ports)).unwrap();
    drop(first);
    block_on(agent().resume(&mut second)).unwrap();

    assert_eq!(last_kind(block_on(heard.collect::<Vec<_>>())).as_deref(), Some("run.stopped"));
}

#[test]
fn a_run_is_heard_on_though_someone_failed_to_take_its_session_over() {
    let (store, hub) = (memory(), Hub::default());
    let mut running = begin(&store, &hub);
    let until_its_end = hub.subscribe(&id());
    let ports = turnkeep_runtime::Ports { hub: hub.clone(), ..later() };
    assert!(block_on(Recorder::resume(crate::doubt::Doubtful::failing_once(store), &id(), ports)).is_err());

    block_on(agent().resume(&mut running)).unwrap();

    assert_eq!(last_kind(block_on(until_its_end.collect::<Vec<_>>())).as_deref(), Some("run.stopped"));
}
