//! From a session to a broadcaster.

use std::sync::{Arc, Mutex};

use futures_util::future::join;
use pollster::block_on;
use turnkeep_model::{ErrorKind, Session, SessionId};
use turnkeep_runtime::envelope::{Channel, ChannelKind, Envelope};
use turnkeep_runtime::port::{Answer, BoxFuture, Broadcaster};
use turnkeep_runtime::{Error, Ports, Recorder, Relay, RelayOptions, Result};
use turnkeep_testkit::laws::broadcast;

use crate::kit::{agent, clock, memory, ports_with};

/// Keeps what is published; fails as often as it is told to.
#[derive(Default)]
struct Kept {
    told: Mutex<Vec<(String, String)>>,
    failures: Mutex<Vec<ErrorKind>>,
}

impl Broadcaster for Kept {
    fn publish<'a>(&'a self, channel: &'a Channel, envelopes: &'a [Envelope]) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            if let Some(kind) = self.failures.lock().unwrap().pop() {
                return Err(Error::new(kind, "down"));
            }
            let told = envelopes.iter().map(|one| (channel.to_string(), one.kind.clone()));
            self.told.lock().unwrap().extend(told);
            Ok(())
        })
    }
}

/// Panics as soon as it is asked.
struct Panics;

impl Broadcaster for Panics {
    fn publish<'a>(&'a self, _: &'a Channel, _: &'a [Envelope]) -> BoxFuture<'a, Result<()>> {
        panic!("a broadcaster of someone else's")
    }
}

/// Runs an agent with a relay beside it.
fn relayed(broadcaster: Arc<dyn Broadcaster>, options: RelayOptions) -> turnkeep_runtime::RelayReport {
    let (store, clock) = (memory(), clock());
    let ports: Ports = ports_with(clock.clone());
    let id = SessionId::new("a b");
    let options = RelayOptions { clock, ..options };
    let relay = Relay::new(store.clone(), &ports.hub, &id, broadcaster, options);
    let agent = agent(vec![Answer::text("hello")], vec![]);
    let session = Session { id: Some(id.clone()), ..agent.session() };
    let running = async {
        let mut recorder = Recorder::create(store.clone(), session, ports).await.unwrap();
        agent.run(&mut recorder, "hi").await.unwrap()
    };
    block_on(join(relay.run(), running)).0.unwrap()
}

#[test]
fn a_running_agent_is_published_on_its_channel() {
    let kept = Arc::new(Kept::default());
    let report = relayed(kept.clone(), RelayOptions { channel: ChannelKind::Private, ..RelayOptions::default() });

    let told = kept.told.lock().unwrap().clone();
    assert!(told.iter().all(|(channel, _)| channel == "private-agent.a=20b"), "{told:?}");
    let kinds: Vec<&str> = told.iter().map(|(_, kind)| kind.as_str()).collect();
    assert_eq!(
        kinds,
        [
            "agent.status",
            "agent.step.started",
            "agent.stream.chunk",
            "agent.stream.chunk",
            "agent.step.completed",
            "agent.status"
        ]
    );
    assert_eq!((report.published, report.failed, report.retried), (6, 0, 0));
}

#[test]
fn a_broadcaster_that_is_unavailable_is_tried_again_and_one_that_refuses_is_not() {
    let busy = Arc::new(Kept::default());
    busy.failures.lock().unwrap().extend([ErrorKind::Unavailable, ErrorKind::Unavailable]);
    let report = relayed(busy.clone(), RelayOptions::default());
    assert_eq!((report.published, report.failed, report.retried), (6, 0, 2));

    let wrong = Arc::new(Kept::default());
    wrong.failures.lock().unwrap().push(ErrorKind::Mismatch);
    let report = relayed(wrong.clone(), RelayOptions::default());
    assert_eq!((report.failed > 0, report.retried), (true, 0), "{report:?}");
    assert_eq!(report.error.unwrap().to_string(), "down");
}

#[test]
fn a_broadcaster_that_panics_has_failed_and_the_agent_does_not_notice() {
    let report = relayed(Arc::new(Panics), RelayOptions::default());

    assert_eq!(report.published, 0);
    assert!(report.failed >= 5, "{report:?}");
}

#[test]
fn the_hub_keeps_the_laws_of_listeners() {
    broadcast::check_listener(&broadcast::HubListener);
}
