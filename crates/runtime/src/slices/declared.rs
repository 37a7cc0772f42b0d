//! Slices of one value that say themselves what events do to them.

use std::any::{Any, TypeId};
use std::sync::Arc;

use turnkeep_model::{ErrorKind, Json};

use super::{Op, Reduce, Reducer, Reducers, SliceItem, changed};
use crate::error::{Error, Result};
use crate::typed;

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

    /// A slice that begins with this value.
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
        let reducers = declared.reducers.into_iter();
        all.reducers.extend(reducers.map(|(event, reduce)| Reducer { slice: T::NAME, event, reduce }));
        Ok(all)
    }
}
