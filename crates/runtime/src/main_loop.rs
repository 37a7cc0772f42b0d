//! A loop over requests: each is evaluated, and goes on after a crash where it was.

use std::sync::Arc;

use serde::de::DeserializeOwned;
use turnkeep_model::{Session, SessionId, Snapshot, Status};
use turnkeep_store::{Store, StoreExt};

use crate::agent::Agent;
use crate::checkpoint::{Checkpoint, CheckpointHandler};
use crate::conversation::enable_conversation_recording;
use crate::error::{Error, Result};
use crate::ports::Ports;
use crate::prompt::{Prompt, PromptResponse, ResumeFrom, evaluate, state_of};
use crate::recorder::Recorder;

/// Evaluates prompts of requests, with a checkpoint after each turn.
pub struct MainLoop {
    agent: Agent,
    store: Arc<dyn Store>,
    ports: Ports,
    checkpoints: Option<Arc<dyn CheckpointHandler>>,
}

impl MainLoop {
    /// A loop that keeps its sessions in `store`.
    pub fn new(agent: Agent, store: Arc<dyn Store>, ports: Ports) -> MainLoop {
        MainLoop { agent, store, ports, checkpoints: None }
    }

    /// With checkpoints here.
    #[must_use]
    pub fn with_checkpoints(mut self, handler: Arc<dyn CheckpointHandler>) -> MainLoop {
        self.checkpoints = Some(handler);
        self
    }

    /// Evaluates a request: from its checkpoint if it has one, else afresh. The checkpoint is cleared when it is done.
    ///
    /// # Errors
    /// `ConversationStateMismatch` and `SnapshotRestoreError`: clear the checkpoint and start again. Those of running.
    pub async fn execute<T: DeserializeOwned>(&self, request: &str, prompt: &dyn Prompt) -> Result<PromptResponse<T>> {
        let checkpoint = match &self.checkpoints {
            Some(handler) => handler.load(request).await?,
            None => None,
        };
        let response = match checkpoint {
            Some(checkpoint) => self.go_on(request, prompt, checkpoint).await?,
            None => self.begin(request, prompt).await?,
        };
        if let Some(handler) = &self.checkpoints
            && matches!(response.stopped.status, Status::Completed(_))
        {
            handler.clear(request).await?;
        }
        Ok(response)
    }

    async fn begin<T: DeserializeOwned>(&self, request: &str, prompt: &dyn Prompt) -> Result<PromptResponse<T>> {
        let mut session = self.agent.session();
        session.id = Some(self.free_id(request).await?);
        let mut recorder = Recorder::create(self.store.clone(), session, self.ports.clone()).await?;
        enable_conversation_recording(&mut recorder).await?;
        self.watch(request, &mut recorder);
        evaluate(&self.agent, prompt, &mut recorder, ResumeFrom::Nothing).await
    }

    /// The request's id; with a suffix where an earlier evaluation of it has that name.
    async fn free_id(&self, request: &str) -> Result<SessionId> {
        match self.store.last(&SessionId::new(request)).await {
            Err(error) if error.kind() == turnkeep_store::ErrorKind::NotFound => Ok(SessionId::new(request)),
            Err(error) => Err(error.into()),
            Ok(_) => Ok(SessionId::new(format!("{request}-{}", self.ports.ids.next()))),
        }
    }

    async fn go_on<T: DeserializeOwned>(
        &self,
        request: &str,
        prompt: &dyn Prompt,
        checkpoint: Checkpoint,
    ) -> Result<PromptResponse<T>> {
        let Snapshot { session, seq } = checkpoint.snapshot;
        let state = state_of(&session)?;
        state.check()?;
        let mut recorder = self.restore(session, seq).await?;
        self.watch(request, &mut recorder);
        evaluate(&self.agent, prompt, &mut recorder, ResumeFrom::State(&state)).await
    }

    /// The store's own journal where it is at least as new as the snapshot; else the snapshot becomes a session.
    async fn restore(&self, mut session: Session, seq: turnkeep_model::Seq) -> Result<Recorder> {
        let id = session.id.clone().ok_or_else(|| Error::snapshot_restore("it has no session id"))?;
        match self.store.last(&id).await {
            Ok(last) if last >= seq => Recorder::resume(self.store.clone(), &id, self.ports.clone()).await,
            Ok(_) => {
                session.id = Some(SessionId::new(format!("{id}-{}", self.ports.ids.next())));
                Recorder::create(self.store.clone(), session, self.ports.clone()).await
            }
            Err(error) if error.kind() == turnkeep_store::ErrorKind::NotFound => {
                Recorder::create(self.store.clone(), session, self.ports.clone()).await
            }
            Err(error) => Err(error.into()),
        }
    }

    fn watch(&self, request: &str, recorder: &mut Recorder) {
        if let Some(handler) = &self.checkpoints {
            recorder.checkpoint_with(handler.clone(), request);
        }
    }
}
