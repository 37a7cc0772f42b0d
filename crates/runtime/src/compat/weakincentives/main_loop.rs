//! A loop over requests: each is evaluated once, and goes on after a crash where it was.

use std::sync::Arc;

use serde::de::DeserializeOwned;
use turnkeep_model::event::Effect;
use turnkeep_model::{Session, Status};
use turnkeep_store::{Loaded, Store};

use super::conversation::{ConversationState, enable_in};
use super::evaluations::{self, Cleared, Latest};
use super::prompt::{Prompt, PromptResponse, ResumeFrom, evaluate, recorded, state_of};
use crate::agent::Agent;
use crate::checkpoint::{Checkpoint, CheckpointHandler, UserRequest};
use crate::error::{Error, Result};
use crate::ports::Ports;
use crate::recorder::Recorder;

/// What a loop makes of its requests.
pub trait LoopDefinition: Send + Sync {
    /// What it evaluates.
    type Request: UserRequest + ToOwned<Owned: Send + Sync> + ?Sized + 'static;
    /// What an evaluation gives.
    type Output: DeserializeOwned;

    /// The session that an evaluation begins with. The loop gives it its id and its tags.
    fn create_session(&self) -> Session {
        Session::default()
    }

    /// The prompt of a request.
    fn create_prompt(&self, request: &Self::Request) -> Box<dyn Prompt>;
}

/// Evaluates requests, each in a session named after it.
///
/// The journal of that session is the request's checkpoint, whatever handler there is: executing a request again goes on
/// with what an earlier process left, under the same keys. A request that completed gives its recorded response again,
/// and nothing acts; [`MainLoop::restart`] evaluates it afresh. A [`CheckpointHandler`] keeps a copy elsewhere, from the
/// first call that is about to run until the request completes.
pub struct MainLoop<D: LoopDefinition> {
    definition: D,
    agent: Agent,
    store: Arc<dyn Store>,
    ports: Ports,
    checkpoints: Option<Arc<dyn CheckpointHandler<D::Request>>>,
}

impl<D: LoopDefinition> MainLoop<D> {
    /// A loop that keeps its sessions in `store`.
    pub fn new(definition: D, agent: Agent, store: Arc<dyn Store>, ports: Ports) -> MainLoop<D> {
        MainLoop { definition, agent, store, ports, checkpoints: None }
    }

    /// With checkpoints here.
    #[must_use]
    pub fn with_checkpoints(mut self, handler: Arc<dyn CheckpointHandler<D::Request>>) -> MainLoop<D> {
        self.checkpoints = Some(handler);
        self
    }

    /// Evaluates a request: from its checkpoint or its journal if it has one, else afresh. The checkpoint is cleared when
    /// it is done.
    ///
    /// # Errors
    /// `ConversationStateMismatch` and `SnapshotRestoreError`, which [`MainLoop::restart`] resolves, and those of running.
    pub async fn execute(&self, request: &D::Request) -> Result<PromptResponse<D::Output>> {
        let prompt = self.definition.create_prompt(request);
        let latest = evaluations::latest(&*self.store, &request.id()).await;
        let response = match self.load(request).await? {
            Some(checkpoint) => self.restore(request, &*prompt, checkpoint, latest?).await?,
            None => self.go_on(request, &*prompt, latest?).await?,
        };
        if matches!(response.stopped.status, Status::Completed(_)) {
            self.clear(request).await?;
        }
        Ok(response)
    }

    /// Gives up what was begun of a request, clears its checkpoint, and evaluates it afresh, in a session of its own.
    ///
    /// # Errors
    /// `ToolIdempotencyError` where a call of the earlier evaluation may have acted: a person decides about it first.
    /// Those of [`MainLoop::execute`].
    pub async fn restart(&self, request: &D::Request) -> Result<PromptResponse<D::Output>> {
        let Latest { id, loaded } = evaluations::latest(&*self.store, &request.id()).await?;
        let begun = match (&loaded, self.load(request).await) {
            (Some(loaded), _) => self.may_have_acted(loaded),
            (None, Ok(Some(Checkpoint { snapshot }))) => {
                self.may_have_acted(&Loaded { session: snapshot.session, ..Loaded::default() })
            }
            // A checkpoint that cannot be used is what a restart is for.
            (None, Err(error)) if error.which().is_none() => return Err(error),
            (None, _) => None,
        };
        if let Some(error) = begun {
            return Err(error.session(&id));
        }
        self.clear(request).await?;
        if loaded.is_some() {
            evaluations::clear(&*self.store, &id, &self.ports, Cleared::Restarted).await?;
        }
        self.execute(request).await
    }

    async fn load(&self, request: &D::Request) -> Result<Option<Checkpoint>> {
        match &self.checkpoints {
            Some(handler) => handler.load(request).await,
            None => Ok(None),
        }
    }

    async fn clear(&self, request: &D::Request) -> Result<()> {
        match &self.checkpoints {
            Some(handler) => handler.clear(request).await,
            None => Ok(()),
        }
    }

    /// The call that may have acted without anyone knowing, if there is one.
    fn may_have_acted(&self, loaded: &Loaded) -> Option<Error> {
        let begun = |call: &&turnkeep_model::ToolCall| match loaded.ledger.get(&call.call) {
            Some(entry) => entry.effect != Effect::Pure && entry.settled.is_none() && entry.resolved.is_none(),
            None if loaded.ledger.approval(&call.call).is_some() => false,
            None => self.agent.tools().effect(&call.name) != Some(Effect::Pure),
        };
        let open = loaded.session.open_calls();
        open.into_iter().find(begun).map(|call| Error::tool_idempotency(&call.call, &call.name))
    }

    /// Goes on with the journal of a request, or begins it.
    async fn go_on(
        &self,
        request: &D::Request,
        prompt: &dyn Prompt,
        latest: Latest,
    ) -> Result<PromptResponse<D::Output>> {
        let Some(loaded) = latest.loaded else {
            let session = Session { id: Some(latest.id), ..self.definition.create_session() };
            return self.create(request, prompt, session).await;
        };
        if let Some(response) = recorded(prompt, &loaded.session).map_err(|error| error.session(&latest.id))? {
            return Ok(response);
        }
        let recorder = Recorder::resume(self.store.clone(), &latest.id, self.ports.clone()).await?;
        self.run(request, prompt, recorder).await
    }

    /// Goes on with the journal of a checkpoint's session, or with the checkpoint where the store has none.
    async fn restore(
        &self,
        request: &D::Request,
        prompt: &dyn Prompt,
        checkpoint: Checkpoint,
        latest: Latest,
    ) -> Result<PromptResponse<D::Output>> {
        let mut snapshot = checkpoint.snapshot;
        state_of(&snapshot.session)?.check()?;
        // A file of another system may name no session; its request does.
        let id = snapshot.session.id.get_or_insert_with(|| latest.id.clone()).clone();
        let is_as_new = latest.loaded.as_ref().is_some_and(|loaded| loaded.seq >= snapshot.seq);
        if is_as_new && latest.id == id {
            return self.go_on(request, prompt, latest).await;
        }
        if let Some(response) = recorded(prompt, &snapshot.session).map_err(|error| error.session(&id))? {
            return Ok(response);
        }
        self.tag(request, &mut snapshot.session);
        let recorder = Recorder::restore(self.store.clone(), snapshot, self.ports.clone()).await?;
        self.run(request, prompt, recorder).await
    }

    async fn create(
        &self,
        request: &D::Request,
        prompt: &dyn Prompt,
        mut session: Session,
    ) -> Result<PromptResponse<D::Output>> {
        self.tag(request, &mut session);
        let recorder = Recorder::create(self.store.clone(), session, self.ports.clone()).await?;
        self.run(request, prompt, recorder).await
    }

    /// Names the request in the session, and records its conversation.
    fn tag(&self, request: &D::Request, session: &mut Session) {
        evaluations::name(session, &request.id());
        enable_in(session);
    }

    async fn run(
        &self,
        request: &D::Request,
        prompt: &dyn Prompt,
        mut recorder: Recorder,
    ) -> Result<PromptResponse<D::Output>> {
        if let Some(handler) = &self.checkpoints {
            recorder.checkpoint_with(handler.clone(), request);
        }
        // A process may die between the session and its first question.
        if recorder.session().blocks().count() <= self.definition.create_session().blocks().count() {
            return evaluate(&self.agent, prompt, &mut recorder, ResumeFrom::Nothing).await;
        }
        let state = ConversationState::of(recorder.session());
        evaluate(&self.agent, prompt, &mut recorder, ResumeFrom::State(&state)).await
    }
}
