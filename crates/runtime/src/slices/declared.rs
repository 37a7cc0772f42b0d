//! Slices of one value that say themselves what events do to them.

use std::any::{Any, TypeId};
use std::sync::Arc;

use turnkeep_model::event::SliceChanged;
use turnkeep_model::{ErrorKind, Event, Json, Session, Slice};

use super::{Op, Reduce, Reducer, Reducers, SliceItem, changed};
use crate::error::{Error, Result};
use crate::recorder::Recorder;
use crate::typed;

/// The change that makes a slice begin with its first value.
pub(super) struct Beginning {
    slice: &'static str,
    change: Box<dyn Fn() -> Option<SliceChanged> + Send + Sync>,
}

/// A slice of one value, and what each kind of event makes of it.
pub struct Declared<T> {
    initial: Option<Arc<dyn Fn() -> T + Send + Sync>>,
    reducers: Vec<(TypeId, Box<Reduce>)>,
}

impl<T: SliceItem> Declared<T> {
    /// A slice that is empty until it is seeded: events before that do nothing.
    pub fn empty() -> Declared<T> {
        Declared { initial: None, reducers: Vec::new() }
    }

    /// A slice that begins with this value: it is there from the first run on, before any event.
    pub fn starting(initial: impl Fn() -> T + Send + Sync + 'static) -> Declared<T> {
        Declared { initial: Some(Arc::new(initial)), reducers: Vec::new() }
    }

    /// What an event makes of the value.
    #[must_use]
    pub fn on<E: 'static>(mut self, next: impl Fn(&T, &E) -> T + Send + Sync + 'static) -> Declared<T> {
        let initial = self.initial.clone();
        let reduce = move |items: &[Json], event: &(dyn Any + Send + Sync)| {
            let event = event.downcast_ref::<E>().ok_or("the event is of another type")?;
            let now = match items.last() {
                Some(item) => Some(typed::from_json::<T>(item).map_err(|error| error.to_string())?),
                None => initial.as_ref().map(|initial| initial()),
            };
            let Some(now) = now else {
                return Ok(None);
            };
            changed(Op::Replace(vec![next(&now, event)])).map(Some).map_err(|error| error.to_string())
        };
        self.reducers.push((TypeId::of::<E>(), Box::new(reduce)));
        self
    }
}

impl Reducers {
    /// Registers a slice that says itself what events do to it.
    ///
    /// # Errors
    /// `Unsupported` where it has nothing to say, two things about one kind of event, or is registered already.
    pub fn declare<T: SliceItem>(self, declared: Declared<T>) -> Result<Reducers> {
        let refuse = |why: &str| {
            let what = format!("the slice {} {why}", T::NAME);
            Err(Error::new(ErrorKind::Unsupported, what).hint("declare it once, with one function an event"))
        };
        let kinds: Vec<TypeId> = declared.reducers.iter().map(|(event, _)| *event).collect();
        let twice = kinds.iter().enumerate().any(|(at, kind)| kinds.iter().skip(at + 1).any(|other| other == kind));
        if self.knows(T::NAME) {
            return refuse("is registered already");
        }
        if kinds.is_empty() {
            return refuse("is declared without reducers");
        }
        if twice {
            return refuse("is declared with two reducers of one event");
        }
        let mut all = self.slice::<T>();
        if let Some(initial) = declared.initial {
            let change = move || changed(Op::Replace(vec![initial()])).ok();
            all.beginnings.push(Beginning { slice: T::NAME, change: Box::new(change) });
        }
        let reducers = declared.reducers.into_iter();
        all.reducers.extend(reducers.map(|(event, reduce)| Reducer { slice: T::NAME, event, reduce }));
        Ok(all)
    }

    /// The changes that make declared slices begin with their first values, for those that these slices lack.
    pub(super) fn beginnings(&self, slices: &[Slice]) -> Vec<SliceChanged> {
        let lacks = |beginning: &&Beginning| !slices.iter().any(|slice| slice.name == beginning.slice);
        self.beginnings.iter().filter(lacks).filter_map(|beginning| (beginning.change)()).collect()
    }

    /// The slices with the first values of those that are declared and not there yet.
    pub(super) fn begun(&self, slices: &[Slice]) -> Vec<Slice> {
        let mut begun = Session { slices: slices.to_vec(), ..Session::default() };
        for change in self.beginnings(slices) {
            // Folding a slice change cannot fail.
            let _ = turnkeep_model::apply(&mut begun, &Event::from(change));
        }
        begun.slices
    }
}

impl Recorder {
    /// Records the first values of declared slices that the session lacks. A run of an agent does so by itself.
    ///
    /// # Errors
    /// Those of recording.
    pub async fn begin_slices(&mut self, reducers: &Reducers) -> Result<()> {
        self.record_with(|state, _| {
            Ok(reducers.beginnings(&state.session.slices).into_iter().map(Event::from).collect())
        })
        .await
        .map(drop)
    }
}
