//! Typed side-state, changed through reducers and recorded in the journal.

mod declared;
mod derived;
mod edit;
pub mod pairs;
mod subscribers;

use std::any::{Any, TypeId};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;
use serde::de::DeserializeOwned;
use turnkeep_model::event::{SliceChanged, SliceOp};
use turnkeep_model::{Event, Json, Session, Slice, SlicePolicy};

pub use declared::Declared;
pub use edit::{Dispatch, Policies};
pub use subscribers::SubscriberFailure;

use crate::error::{Error, Result};
use crate::typed;
use derived::{derived_slices, is_derived, put};
use subscribers::Subscriber;

pub(crate) use derived::{restore_derived, with_derived, without_derived};

/// A type whose values an application keeps with a session.
pub trait SliceItem: Serialize + DeserializeOwned + Send + Sync + 'static {
    /// The slice's name in the journal.
    const NAME: &'static str;
    /// The version of the type.
    const VERSION: &'static str = "1";
    /// Whether it is rolled back with the state, or kept as a log.
    const POLICY: SlicePolicy = SlicePolicy::State;

    /// The items as they follow from the rest of the session, for a slice that is derived from it and never stored.
    fn derived(_: &Session) -> Option<Vec<Self>> {
        None
    }
}

/// What a reducer does to a slice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Op<T> {
    /// Adds one item at the end.
    Append(T),
    /// Adds items at the end.
    Extend(Vec<T>),
    /// These are all there is.
    Replace(Vec<T>),
    /// Nothing is left.
    Clear,
}

/// A reducer: from what a slice has and an event to what becomes of it.
type Reduce =
    dyn Fn(&[Json], &(dyn Any + Send + Sync)) -> std::result::Result<Option<SliceChanged>, String> + Send + Sync;

struct Reducer {
    slice: &'static str,
    event: TypeId,
    reduce: Box<Reduce>,
}

/// Every registered slice, and the reducers that change it, in the order they were registered.
#[derive(Default)]
pub struct Reducers {
    slices: Vec<(&'static str, SlicePolicy)>,
    reducers: Vec<Reducer>,
    /// What becomes of items of a slice that no reducer looks at: they are added to it.
    appends: Vec<Reducer>,
    beginnings: Vec<declared::Beginning>,
    subscribers: Vec<Subscriber>,
}

impl fmt::Debug for Reducers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.slices.iter().map(|(name, _)| name)).finish()
    }
}

/// A reducer that failed; the others went on.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReducerFailure {
    /// The slice it was to change.
    pub slice: &'static str,
    /// What went wrong.
    pub why: String,
}

impl Reducers {
    /// Registers a slice. Its items are events as well: one that no reducer looks at is added to it.
    #[must_use]
    pub fn slice<T: SliceItem>(mut self) -> Reducers {
        if !self.knows(T::NAME) {
            self.slices.push((T::NAME, T::POLICY));
            let append = |_: &[Json], event: &(dyn Any + Send + Sync)| {
                let item = event.downcast_ref::<T>().ok_or("the event is of another type")?;
                let item = typed::to_json(item).map_err(|error| error.to_string())?;
                Ok(Some(change::<T>(SliceOp::Append, vec![item])))
            };
            self.appends.push(Reducer { slice: T::NAME, event: TypeId::of::<T>(), reduce: Box::new(append) });
        }
        self
    }

    /// Registers a reducer: `event`s of a type change the slice of `T`.
    #[must_use]
    pub fn on<E: Send + Sync + 'static, T: SliceItem>(
        self,
        reduce: impl Fn(&[T], &E) -> std::result::Result<Op<T>, String> + Send + Sync + 'static,
    ) -> Reducers {
        let mut all = self.slice::<T>();
        let reduce = move |items: &[Json], event: &(dyn Any + Send + Sync)| {
            let event = event.downcast_ref::<E>().ok_or("the event is of another type")?;
            let items = items.iter().map(typed::from_json).collect::<std::result::Result<Vec<T>, _>>();
            let op = reduce(&items.map_err(|error| error.to_string())?, event)?;
            changed::<T>(op).map(Some).map_err(|error| error.to_string())
        };
        all.reducers.push(Reducer { slice: T::NAME, event: TypeId::of::<E>(), reduce: Box::new(reduce) });
        all
    }

    /// What the events do to these slices, in order; reducers that fail are named, and the others go on.
    fn reduce(&self, slices: &[Slice], events: &[Dispatched]) -> (Vec<SliceChanged>, Vec<ReducerFailure>) {
        let (mut changes, mut failures) = (Vec::new(), Vec::new());
        let mut now = Session { slices: slices.to_vec(), ..Session::default() };
        for event in events {
            for reducer in self.concerned((**event).type_id()) {
                let had = now.slices.iter().find(|slice| slice.name == reducer.slice);
                match (reducer.reduce)(had.map(|slice| slice.items.as_slice()).unwrap_or_default(), &**event) {
                    Ok(None) => {}
                    Ok(Some(change)) => {
                        // Folding a slice change cannot fail.
                        let _ = turnkeep_model::apply(&mut now, &Event::from(change.clone()));
                        changes.push(change);
                    }
                    Err(why) => failures.push(ReducerFailure { slice: reducer.slice, why }),
                }
            }
        }
        (changes, failures)
    }

    /// As [`Reducers::reduce`], with the first values of declared slices that are not there yet before it.
    fn begin_and_reduce(&self, slices: &[Slice], events: &[Dispatched]) -> (Vec<SliceChanged>, Vec<ReducerFailure>) {
        let beginnings = self.beginnings(slices);
        if events.is_empty() {
            // Most calls dispatch nothing, and reducing begins with a copy of the slices.
            return (beginnings, Vec::new());
        }
        if beginnings.is_empty() {
            return self.reduce(slices, events);
        }
        let (changes, failures) = self.reduce(&self.begun(slices), events);
        (beginnings.into_iter().chain(changes).collect(), failures)
    }

    /// The changes that put the registered state slices back to what `then` had. Logs stay, unless they are to go too.
    ///
    /// # Errors
    /// `SnapshotRestoreError` when `then` has state that is not registered; nothing is changed.
    pub fn rollback(&self, now: &Session, then: &Session, logs: Logs) -> Result<Vec<Event>> {
        let names = then.slices.iter().map(|slice| slice.name.as_str());
        // A derived slice follows from what is there, and what was said is not taken back.
        let mut unknown: Vec<&str> = names.filter(|name| !self.knows(name) && !is_derived(name)).collect();
        unknown.sort_unstable();
        if !unknown.is_empty() {
            return Err(Error::snapshot_restore(format_args!("Slice types not registered: {}", unknown.join(", "))));
        }
        let restored = self
            .slices
            .iter()
            .filter(|(name, policy)| (*policy != SlicePolicy::Log || logs == Logs::Restore) && !is_derived(name));
        let change = |(name, policy): &(&'static str, SlicePolicy)| {
            let items = |session: &Session| {
                session
                    .slices
                    .iter()
                    .find(|slice| slice.name == *name)
                    .map(|slice| slice.items.clone())
                    .unwrap_or_default()
            };
            let (had, items) = (items(now), items(then));
            (had != items).then(|| {
                let policy = Some(policy.clone());
                SliceChanged { name: (*name).to_owned(), op: SliceOp::Replace, items, version: None, policy }.into()
            })
        };
        Ok(restored.filter_map(change).collect())
    }

    /// The reducers of an event in the order they were registered, or what happens where there is none.
    fn concerned(&self, event: TypeId) -> impl Iterator<Item = &Reducer> {
        let any = self.reducers.iter().any(|reducer| reducer.event == event);
        let all = if any { &self.reducers } else { &self.appends };
        all.iter().filter(move |reducer| reducer.event == event)
    }

    fn knows(&self, name: &str) -> bool {
        self.slices.iter().any(|(known, _)| *known == name)
    }
}

/// What becomes of logs in a rollback.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Logs {
    /// They stay.
    #[default]
    Keep,
    /// They go back too.
    Restore,
}

fn changed<T: SliceItem>(op: Op<T>) -> std::result::Result<SliceChanged, serde_json::Error> {
    let (op, items) = match op {
        Op::Append(item) => (SliceOp::Append, vec![item]),
        Op::Extend(items) => (SliceOp::Append, items),
        Op::Replace(items) => (SliceOp::Replace, items),
        Op::Clear => (SliceOp::Clear, Vec::new()),
    };
    let items = items.iter().map(typed::to_json).collect::<std::result::Result<_, _>>()?;
    Ok(change::<T>(op, items))
}

pub(crate) fn change<T: SliceItem>(op: SliceOp, items: Vec<Json>) -> SliceChanged {
    let version = Some(T::VERSION.to_owned());
    SliceChanged { name: T::NAME.to_owned(), op, items, version, policy: Some(T::POLICY) }
}

/// Adds every event to the slice.
pub fn append_all<T: Clone>(_: &[T], event: &T) -> std::result::Result<Op<T>, String> {
    Ok(Op::Append(event.clone()))
}

/// Keeps the last event only.
pub fn replace_latest<T: Clone>(_: &[T], event: &T) -> std::result::Result<Op<T>, String> {
    Ok(Op::Replace(vec![event.clone()]))
}

/// Replaces the item with the same key, at the end; adds it if there is none.
pub fn upsert_by<T: Clone, K: PartialEq>(
    key: impl Fn(&T) -> K,
) -> impl Fn(&[T], &T) -> std::result::Result<Op<T>, String> {
    move |items, event| {
        let others = items.iter().filter(|item| key(item) != key(event));
        Ok(Op::Replace(others.chain([event]).cloned().collect()))
    }
}

/// Keeps the last event of every key, the newest at the end.
pub fn replace_latest_by<T: Clone, K: PartialEq>(
    key: impl Fn(&T) -> K,
) -> impl Fn(&[T], &T) -> std::result::Result<Op<T>, String> {
    upsert_by(key)
}

type Dispatched = Box<dyn Any + Send + Sync>;

/// The side-state that one tool call sees and changes. What it dispatches is recorded with its result, and forgotten if
/// it fails; its siblings do not see it before.
#[derive(Clone)]
pub struct Changes {
    reducers: Arc<Reducers>,
    base: Arc<[Slice]>,
    events: Arc<Mutex<Vec<Dispatched>>>,
}

impl fmt::Debug for Changes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Changes({})", self.lock().len())
    }
}

impl Changes {
    /// A view of the slices of a session. Derived ones are made only where they are registered: that takes a walk over
    /// the whole session.
    pub fn new(reducers: Arc<Reducers>, session: &Session) -> Changes {
        if reducers.slices.is_empty() {
            return Changes { reducers, base: Arc::default(), events: Arc::default() };
        }
        let mut base = reducers.begun(&session.slices);
        put(&mut base, derived_slices(session, |name| reducers.knows(name)));
        Changes { reducers, base: base.into(), events: Arc::default() }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Dispatched>> {
        self.events.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives an event to the reducers, and says which of them failed.
    pub fn dispatch<E: Send + Sync + 'static>(&self, event: E) -> Vec<ReducerFailure> {
        let mut events = self.lock();
        let before = self.reducers.reduce(&self.base, &events).1.len();
        events.push(Box::new(event));
        self.reducers.reduce(&self.base, &events).1.split_off(before)
    }

    /// The items of a slice, with what was dispatched here.
    ///
    /// # Errors
    /// `Corrupt` where an item is of another shape.
    pub fn all<T: SliceItem>(&self) -> Result<Vec<T>> {
        let changes = self.reducers.reduce(&self.base, &self.lock()).0;
        let mut now = Session { slices: self.base.to_vec(), ..Session::default() };
        for change in changes {
            turnkeep_model::apply(&mut now, &Event::from(change))?;
        }
        query(&now)
    }

    /// The last item of a slice.
    ///
    /// # Errors
    /// `Corrupt` where an item is of another shape.
    pub fn latest<T: SliceItem>(&self) -> Result<Option<T>> {
        Ok(self.all()?.pop())
    }

    /// Tells subscribers what was dispatched here.
    pub(crate) fn tell(&self) -> Vec<SubscriberFailure> {
        self.reducers.tell(&self.lock())
    }

    /// What the dispatched events do to the slices as they are now.
    pub(crate) fn apply_to(&self, slices: &[Slice]) -> (Vec<Event>, Vec<ReducerFailure>) {
        let (changes, failures) = self.reducers.begin_and_reduce(slices, &self.lock());
        (changes.into_iter().map(Event::from).collect(), failures)
    }
}

/// The items of a slice of a session.
///
/// # Errors
/// `Corrupt` where an item is of another shape.
pub fn query<T: SliceItem>(session: &Session) -> Result<Vec<T>> {
    if let Some(items) = T::derived(session) {
        return Ok(items);
    }
    let slice = session.slices.iter().find(|slice| slice.name == T::NAME);
    let items = slice.map(|slice| slice.items.as_slice()).unwrap_or_default();
    let read = |(index, item)| {
        typed::from_json(item).map_err(|error| {
            let what = format!("slice {}: item {index} is not of its type: {error}", T::NAME);
            Error::new(turnkeep_model::ErrorKind::Corrupt, what).hint("read it with the version that wrote it")
        })
    };
    items.iter().enumerate().map(read).collect()
}

/// The events that an event of the application leads to, and the reducers that failed.
pub fn dispatch<E: Send + Sync + 'static>(
    reducers: &Reducers,
    session: &Session,
    event: E,
) -> (Vec<Event>, Vec<ReducerFailure>) {
    let (changes, failures) = reducers.begin_and_reduce(&session.slices, &[Box::new(event)]);
    (changes.into_iter().map(Event::from).collect(), failures)
}
