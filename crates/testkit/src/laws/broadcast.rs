//! What holds for everything that takes a session to a screen: the hub, and every broadcaster behind a relay.
//!
//! Every law panics where it does not hold.
#![expect(clippy::expect_used, reason = "a broken law is a failed test")]

use std::sync::Arc;

use futures_util::{FutureExt, pin_mut};
use pollster::block_on;
use proptest::prelude::*;
use turnkeep_model::event::{LogAdded, RunStopped, SessionOpened};
use turnkeep_model::status::Completed;
use turnkeep_model::{Batch, Entry, Event, Json, RunId, Seq, SessionId};
use turnkeep_runtime::envelope::{Channel, Dialect, Envelope, EnvelopeOptions, Projection, native};
use turnkeep_runtime::port::{BoxFuture, Broadcaster};
use turnkeep_runtime::{Hub, Relay, RelayOptions, RelayUntil, Tail, TailItem};
use turnkeep_store::{Store, StoreExt, open};

use crate::property::for_all;

/// Something that takes a session to a screen.
pub trait Listener {
    /// Listens to a session after a place until its run ends, and gives the native envelopes that arrived, as JSON.
    fn listen(
        &self,
        store: Arc<dyn Store>,
        hub: &Hub,
        session: &SessionId,
        after: Seq,
    ) -> BoxFuture<'static, Vec<Json>>;
}

/// A broadcaster that can be observed where it publishes to, and disturbed.
pub trait Audience: Send + Sync {
    /// The broadcaster.
    fn broadcaster(&self) -> Arc<dyn Broadcaster>;

    /// What arrived on a channel so far, in order.
    fn heard(&self, channel: &Channel) -> Vec<Json>;

    /// Whether what it publishes arrives from now on.
    fn set(&self, line: Line);
}

/// Whether what is published arrives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Line {
    /// It does.
    Up,
    /// It does not, and the broadcaster says so.
    Down,
}

/// The hub, with a tail at its end.
pub struct HubListener;

impl Listener for HubListener {
    fn listen(
        &self,
        store: Arc<dyn Store>,
        hub: &Hub,
        session: &SessionId,
        after: Seq,
    ) -> BoxFuture<'static, Vec<Json>> {
        let mut tail = Tail::new(store, hub, session, after);
        let mut projection = Projection::new(session.clone(), Dialect::Native.into(), after);
        Box::pin(async move {
            let mut heard = Vec::new();
            while let Some(item) = tail.next().await.expect("a store that answers") {
                if let TailItem::Batch(batch) = item {
                    heard.extend(projection.batch(&batch).iter().map(Envelope::to_json));
                }
            }
            heard
        })
    }
}

/// A broadcaster behind a relay.
pub struct RelayListener(pub Arc<dyn Audience>);

impl Listener for RelayListener {
    fn listen(
        &self,
        store: Arc<dyn Store>,
        hub: &Hub,
        session: &SessionId,
        after: Seq,
    ) -> BoxFuture<'static, Vec<Json>> {
        let (audience, channel) = (self.0.clone(), Channel::public(session));
        let before = audience.heard(&channel).len();
        let relay = Relay::new(store, hub, session, audience.broadcaster(), options(after));
        Box::pin(async move {
            relay.run().await.expect("a store that answers");
            audience.heard(&channel).split_off(before)
        })
    }
}

fn options(after: Seq) -> RelayOptions {
    let envelopes = EnvelopeOptions::from(Dialect::Native);
    RelayOptions { envelopes, after, until: RelayUntil::RunEnds, retries: 0, ..RelayOptions::default() }
}

/// A session that grows: what is appended is published, as a recorder does.
struct Growing {
    store: Arc<dyn Store>,
    hub: Hub,
    id: SessionId,
    last: Seq,
}

impl Growing {
    fn new(id: &str) -> Growing {
        Growing::beside(id, open("memory:").expect("a store in memory"), Hub::default())
    }

    fn beside(id: &str, store: Arc<dyn Store>, hub: Hub) -> Growing {
        let mut growing = Growing { store, hub, id: SessionId::new(id), last: Seq::START };
        growing.append(vec![SessionOpened::default().into()]);
        growing
    }

    fn append(&mut self, events: Vec<Event>) {
        let mut batch = Batch::new(self.last.next(), events.into_iter().map(Entry::from).collect());
        batch.run = Some(RunId::new("r"));
        self.last = block_on(self.store.append(&self.id, self.last, &batch)).expect("an append");
        self.hub.publish(&self.id, &batch);
    }

    fn log(&mut self, records: usize) {
        let line = |at: usize| LogAdded { line: format!("line {at}") }.into();
        self.append((0..records.max(1)).map(line).collect());
    }

    fn stop(&mut self) {
        let status = Some(Completed {}.into());
        self.append(vec![RunStopped { run: Some(RunId::new("r")), status, ..RunStopped::default() }.into()]);
    }

    /// What a reader has to have heard that began after a place.
    fn told_after(&self, after: Seq) -> Vec<Json> {
        let journal = block_on(self.store.journal(&self.id)).expect("a journal");
        let all = journal.batches.iter().flat_map(|batch| native(&self.id, batch));
        all.filter(|envelope| envelope.seq > Some(after)).map(|envelope| envelope.to_json()).collect()
    }
}

/// Whoever begins at any place, while the session grows, hears every record after it once and in order.
///
/// # Panics
/// Where the law does not hold.
pub fn replay_joins_live(listener: &dyn Listener) {
    let step = (1_usize..4, any::<bool>());
    let cases = (prop::collection::vec(step.clone(), 0..6), prop::collection::vec(step, 0..6), 0_u64..12);
    for_all(64, &cases, |(before, live, after)| {
        let mut growing = Growing::new("s");
        before.iter().for_each(|(records, _)| growing.log(*records));
        let after = Seq(after.min(growing.last.0));
        let listening = listener.listen(growing.store.clone(), &growing.hub, &growing.id, after);
        pin_mut!(listening);
        for (records, looks) in live {
            growing.log(records);
            if looks {
                prop_assert!(listening.as_mut().now_or_never().is_none(), "it ended before the run did");
            }
        }
        growing.stop();
        prop_assert_eq!(block_on(listening), growing.told_after(after));
        Ok(())
    });
}

/// Sessions that are told at once are each told in order, and apart from each other.
///
/// # Panics
/// Where the law does not hold.
pub fn sessions_keep_their_order(listener: &dyn Listener) {
    for_all(32, &prop::collection::vec(0_usize..3, 1..24), |turns| {
        let (store, hub) = (open("memory:").expect("a store in memory"), Hub::default());
        let mut all: Vec<Growing> = ["order/a", "order b", "ördnung"]
            .iter()
            .map(|id| Growing::beside(id, store.clone(), hub.clone()))
            .collect();
        let listening: Vec<_> =
            all.iter().map(|one| listener.listen(store.clone(), &hub, &one.id, Seq::START)).collect();
        for turn in turns {
            if let Some(one) = all.get_mut(turn) {
                one.log(2);
            }
        }
        all.iter_mut().for_each(Growing::stop);
        for (one, listening) in all.iter().zip(listening) {
            prop_assert_eq!(block_on(listening), one.told_after(Seq::START));
        }
        Ok(())
    });
}

/// Who is far behind loses nothing: what was dropped on the way is read again.
///
/// # Panics
/// Where the law does not hold.
pub fn lag_loses_nothing(listener: &dyn Listener) {
    let mut growing = Growing::new("lag");
    let listening = listener.listen(growing.store.clone(), &growing.hub, &growing.id, Seq::START);
    pin_mut!(listening);
    assert!(listening.as_mut().now_or_never().is_none(), "it ended before the run did");
    (0..3000).for_each(|_| growing.log(1));
    growing.stop();
    assert_eq!(block_on(listening), growing.told_after(Seq::START));
}

/// A broadcaster that fails is counted, disturbs nobody who records, and is told what comes later.
///
/// # Panics
/// Where the law does not hold.
pub fn failures_are_counted_and_reach_nobody(audience: &Arc<dyn Audience>) {
    let mut growing = Growing::new("failing");
    let channel = Channel::public(&growing.id);
    let relay =
        Relay::new(growing.store.clone(), &growing.hub, &growing.id, audience.broadcaster(), options(Seq::START));
    let watch = relay.watch();
    let running = relay.run();
    pin_mut!(running);
    audience.set(Line::Down);
    growing.log(2);
    until(&mut || drop(running.as_mut().now_or_never()), &|| watch.report().failed == 3);
    let lost = growing.last;
    audience.set(Line::Up);
    growing.log(1);
    growing.stop();
    let report = block_on(running).expect("a store that answers");

    assert_eq!((report.failed, report.published), (3, 2), "{report:?}");
    assert!(report.error.is_some() && report.last == Some(growing.last), "{report:?}");
    assert_eq!(audience.heard(&channel), growing.told_after(lost));
}

/// Does something until it has had its effect; a broadcaster may work on another thread.
fn until(act: &mut dyn FnMut(), done: &dyn Fn() -> bool) {
    for _ in 0..1_000_000 {
        act();
        if done() {
            return;
        }
        std::thread::yield_now();
    }
    assert!(done(), "a broadcaster that fails was not noticed");
}

/// Every law of listeners, over one of them.
///
/// # Panics
/// Where one does not hold.
pub fn check_listener(listener: &dyn Listener) {
    replay_joins_live(listener);
    sessions_keep_their_order(listener);
    lag_loses_nothing(listener);
}

/// Every law of broadcasters, over what observes one.
///
/// # Panics
/// Where one does not hold.
pub fn check_broadcaster(audience: &Arc<dyn Audience>) {
    check_listener(&RelayListener(audience.clone()));
    failures_are_counted_and_reach_nobody(audience);
}
