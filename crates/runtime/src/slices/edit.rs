//! Changing and copying side-state by hand.

use std::sync::{Mutex, PoisonError};

use turnkeep_model::event::{SliceChanged, SliceOp};
use turnkeep_model::{Event, SlicePolicy, Snapshot};

use super::{Dispatched, Op, ReducerFailure, Reducers, SliceItem, SubscriberFailure, changed, query};
use crate::error::{Error, Result};
use crate::recorder::Recorder;

/// Who failed when an event was dispatched; the others went on.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Dispatch {
    /// Reducers.
    pub reducers: Vec<ReducerFailure>,
    /// Subscribers.
    pub subscribers: Vec<SubscriberFailure>,
}

/// Which slices a snapshot takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Policies {
    /// State only.
    #[default]
    State,
    /// Logs only.
    Logs,
    /// All of them.
    All,
}

impl Policies {
    fn takes(self, policy: Option<&SlicePolicy>) -> bool {
        let is_log = policy == Some(&SlicePolicy::Log);
        match self {
            Policies::State => !is_log,
            Policies::Logs => is_log,
            Policies::All => true,
        }
    }
}

fn unwritable(error: serde_json::Error) -> Error {
    Error::new(turnkeep_model::ErrorKind::Unsupported, format!("an item cannot be written as JSON: {error}"))
        .hint("maps need keys that are strings; `slices::pairs` writes others")
        .because(error)
}

impl Recorder {
    /// Gives an event to the reducers, records what they make of it, and then tells the subscribers. The reducers see the
    /// state as it is when the record is made, whoever else wrote meanwhile.
    ///
    /// # Errors
    /// Those of recording. That a reducer or a subscriber failed is told, and keeps nothing from the others.
    pub async fn dispatch<E: Send + Sync + 'static>(&mut self, reducers: &Reducers, event: E) -> Result<Dispatch> {
        let events: [Dispatched; 1] = [Box::new(event)];
        let failed = Mutex::new(Vec::new());
        self.record_with(|state, _| {
            let (changes, failures) = reducers.begin_and_reduce(&state.session.slices, &events);
            *failed.lock().unwrap_or_else(PoisonError::into_inner) = failures;
            Ok(changes.into_iter().map(Event::from).collect())
        })
        .await?;
        let failed = failed.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(Dispatch { reducers: failed, subscribers: reducers.tell(&events) })
    }

    /// These are all the items a slice has: no reducer is asked.
    ///
    /// # Errors
    /// `Unsupported` where an item cannot be written, and those of recording.
    pub async fn seed<T: SliceItem>(&mut self, items: Vec<T>) -> Result<()> {
        self.change(changed(Op::Replace(items)).map_err(unwritable)?).await
    }

    /// Adds an item to a slice: no reducer is asked.
    ///
    /// # Errors
    /// Those of [`Recorder::seed`].
    pub async fn append_item<T: SliceItem>(&mut self, item: T) -> Result<()> {
        self.change(changed(Op::Append(item)).map_err(unwritable)?).await
    }

    async fn change(&mut self, change: SliceChanged) -> Result<()> {
        self.record_with(|_, _| Ok(vec![change.clone().into()])).await.map(drop)
    }

    /// Removes the items that `goes` says go.
    ///
    /// # Errors
    /// `Corrupt` where an item is of another shape, and those of recording.
    pub async fn clear_where<T: SliceItem>(&mut self, goes: impl Fn(&T) -> bool + Send + Sync) -> Result<()> {
        self.record_with(|state, _| {
            let had = query::<T>(&state.session)?;
            let before = had.len();
            let stays: Vec<T> = had.into_iter().filter(|item| !goes(item)).collect();
            if stays.len() == before {
                return Ok(Vec::new());
            }
            Ok(vec![changed(Op::Replace(stays)).map_err(unwritable)?.into()])
        })
        .await
        .map(drop)
    }

    /// Empties every registered slice; what is registered stays.
    ///
    /// # Errors
    /// Those of recording.
    pub async fn reset(&mut self, reducers: &Reducers) -> Result<()> {
        let empty = |name: &str| SliceChanged {
            name: name.to_owned(),
            op: SliceOp::Clear,
            items: Vec::new(),
            version: None,
            policy: None,
        };
        self.record_with(|state, _| {
            let full = state.session.slices.iter().filter(|slice| !slice.items.is_empty());
            let registered = full.filter(|slice| reducers.knows(&slice.name));
            Ok(registered.map(|slice| empty(&slice.name).into()).collect())
        })
        .await
        .map(drop)
    }

    /// The session as a portable document, with the slices of these policies only.
    pub fn snapshot_of(&self, policies: Policies) -> Snapshot {
        let mut snapshot = self.snapshot();
        snapshot.session.slices.retain(|slice| policies.takes(slice.policy.as_ref()));
        snapshot
    }
}
