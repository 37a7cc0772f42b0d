//! Who in this process hears of an application's events.

use std::any::{Any, TypeId};
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::{Dispatched, Reducers};

type Hear = dyn Fn(&(dyn Any + Send + Sync)) -> std::result::Result<(), String> + Send + Sync;

pub(super) struct Subscriber {
    event: TypeId,
    hear: Box<Hear>,
}

/// A subscriber that failed; the others heard the event all the same.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SubscriberFailure {
    /// What went wrong.
    pub why: String,
}

impl Reducers {
    /// Registers someone who hears of `event`s of a type, after what they changed is durable. Subscribers hear in the
    /// order they were registered; one that fails or panics keeps nothing from the others.
    #[must_use]
    pub fn subscribe<E: Send + Sync + 'static>(
        mut self,
        hear: impl Fn(&E) -> std::result::Result<(), String> + Send + Sync + 'static,
    ) -> Reducers {
        let hear = move |event: &(dyn Any + Send + Sync)| {
            hear(event.downcast_ref::<E>().ok_or("the event is of another type")?)
        };
        self.subscribers.push(Subscriber { event: TypeId::of::<E>(), hear: Box::new(hear) });
        self
    }

    /// Tells subscribers of events, in order, and says who failed.
    pub(super) fn tell(&self, events: &[Dispatched]) -> Vec<SubscriberFailure> {
        let concerned = |event: &Dispatched| {
            let kind = (**event).type_id();
            self.subscribers.iter().filter(move |subscriber| subscriber.event == kind)
        };
        let heard = |subscriber: &Subscriber, event: &Dispatched| {
            let hearing = catch_unwind(AssertUnwindSafe(|| (subscriber.hear)(&**event)));
            let why = hearing.unwrap_or_else(|_| Err("it panicked".to_owned())).err()?;
            Some(SubscriberFailure { why })
        };
        let each = |event| concerned(event).filter_map(move |subscriber| heard(subscriber, event));
        events.iter().flat_map(each).collect()
    }
}
