//! How an agent gets to a conversation: an id, a new one, or a fork.

use std::sync::Arc;

use turnkeep_model::{ErrorKind, SessionId};
use turnkeep_store::{Store, StoreExt};

use super::{Conversation, Seen};
use crate::acquire::TakeOver;
use crate::agent::Agent;
use crate::error::{Error, Result};

impl Agent {
    /// The conversation of this id in the agent's store. One that is not there yet begins with the first question.
    ///
    /// # Errors
    /// `Unsupported` where the agent has no store.
    pub fn open(&self, id: impl Into<SessionId>) -> Result<Conversation> {
        self.conversation(id.into(), Seen::default())
    }

    /// A new conversation, under an id of its own. Nothing is stored before the first question.
    ///
    /// # Errors
    /// Those of [`Agent::open`].
    pub fn begin(&self) -> Result<Conversation> {
        let seen = Seen { is_new: true, ..Seen::default() };
        self.conversation(SessionId::new(self.ports().ids.next()), seen)
    }

    /// A conversation in a fork of a stored session, from its end.
    ///
    /// # Errors
    /// `NotFound` where there is no such session, and those of [`Agent::open`].
    pub async fn fork(&self, parent: &SessionId) -> Result<Conversation> {
        let fork = self.conversation(SessionId::new(self.ports().ids.next()), Seen::default())?;
        let at = fork.store.last(parent).await?;
        fork.store.fork(parent, at, fork.id()).await?;
        Ok(fork)
    }

    fn conversation(&self, id: SessionId, seen: Seen) -> Result<Conversation> {
        let store: Arc<dyn Store> = self.store().cloned().ok_or_else(|| {
            Error::new(ErrorKind::Unsupported, "the agent has no store")
                .hint("name one with `.store(\"sqlite:agent.db\")`")
        })?;
        let seen = Arc::new(std::sync::Mutex::new(seen));
        Ok(Conversation { agent: self.clone(), store, id, take_over: TakeOver::default(), on_busy: None, seen })
    }
}

impl std::fmt::Debug for Conversation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Conversation").field("id", &self.id).field("agent", &self.agent).finish_non_exhaustive()
    }
}
