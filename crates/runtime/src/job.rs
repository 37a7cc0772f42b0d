//! Work for workers: a question in a session that someone else answers.

use turnkeep_model::event::{SessionChanged, SessionOpened};
use turnkeep_model::status::Pending;
use turnkeep_model::{Batch, ErrorKind, Event, Seq, Session, SessionId, Status, Time};
use turnkeep_store::{Loaded, Store};

use crate::error::{Error, Result};
use crate::human::awake;
use crate::input::{Input, input_events};
use crate::ports::Ports;
use crate::post::post;

/// Leaves a question for a worker: in a stored session, or as the beginning of a new one.
///
/// # Errors
/// `Unsupported` where nothing is said, and what the store says.
pub async fn enqueue(store: &dyn Store, session: impl Into<SessionId>, input: impl Into<Input>) -> Result<Seq> {
    Job::new(session, input).enqueue(store).await
}

/// A question for a [`Worker`](crate::Worker), with labels that workers choose by.
#[derive(Debug, Clone)]
pub struct Job {
    session: SessionId,
    input: Input,
    system: Option<String>,
    tags: Vec<(String, String)>,
}

impl Job {
    /// What is said in this session.
    pub fn new(session: impl Into<SessionId>, input: impl Into<Input>) -> Job {
        Job { session: session.into(), input: input.into(), system: None, tags: Vec::new() }
    }

    /// With this system prompt, where the session begins with it.
    #[must_use]
    pub fn system(mut self, text: impl Into<String>) -> Job {
        self.system = Some(text.into());
        self
    }

    /// With a label on the session, instead of one of the same key.
    #[must_use]
    pub fn tag(mut self, key: impl Into<String>, value: impl Into<String>) -> Job {
        self.tags.push((key.into(), value.into()));
        self
    }

    /// Leaves it in a store.
    ///
    /// # Errors
    /// Those of [`enqueue`].
    pub async fn enqueue(&self, store: &dyn Store) -> Result<Seq> {
        self.enqueue_with(store, &Ports::default()).await
    }

    /// The same, with another clock, or a hub that tells of it.
    ///
    /// # Errors
    /// Those of [`enqueue`].
    pub async fn enqueue_with(&self, store: &dyn Store, ports: &Ports) -> Result<Seq> {
        self.input.check()?;
        loop {
            let said = post(store, &self.session, ports, |state| Ok(self.joining(state, ports))).await;
            match said {
                Err(error) if error.kind() == ErrorKind::NotFound => match self.begin(store, ports).await {
                    // Someone else began the session at the same moment: what is said joins it.
                    Err(error) if error.kind() == ErrorKind::Conflict => {}
                    begun => return begun,
                },
                said => return said,
            }
        }
    }

    /// What is said in a session that is there.
    fn joining(&self, state: &Loaded, ports: &Ports) -> Vec<Event> {
        let mut events = input_events(state, &self.input, &Time::from_instant(ports.clock.now()));
        let tags = self.labelled(&state.session.tags);
        if tags != state.session.tags {
            events.push(SessionChanged { tags: Some(tags), ..SessionChanged::default() }.into());
        }
        awake(state, events)
    }

    fn labelled(&self, before: &[(String, String)]) -> Vec<(String, String)> {
        let is_kept = |(key, _): &&(String, String)| self.tags.iter().all(|(new, _)| new != key);
        before.iter().filter(is_kept).chain(&self.tags).cloned().collect()
    }

    async fn begin(&self, store: &dyn Store, ports: &Ports) -> Result<Seq> {
        let now = Time::from_instant(ports.clock.now());
        let mut session = Session { id: Some(self.session.clone()), tags: self.tags.clone(), ..Session::default() };
        session.status = Some(Status::from(Pending {}));
        session.timing.created = Some(now.clone());
        let input = self.input.clone().after_system(self.system.as_deref());
        let state = Loaded { session, ..Loaded::default() };
        let said = input_events(&state, &input, &now);
        let opened = SessionOpened { session: Box::new(state.session) };
        let events = std::iter::once(Event::from(opened)).chain(said).map(Into::into).collect();
        let mut batch = Batch::new(Seq::START.next(), events);
        batch.time = Some(now);
        let appended = store.append(&self.session, Seq::START, &batch).await;
        let last = appended.map_err(|error| Error::from(error).session(&self.session))?;
        ports.hub.publish(&self.session, &batch);
        Ok(last)
    }
}
