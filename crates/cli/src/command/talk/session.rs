//! A session that one talks with: where it is kept, who answers, what it may do.

use std::sync::Arc;

use futures_util::StreamExt;
use pollster::block_on;
use turnkeep_model::{Author, Block, Event, Loss, Seq, Session, SessionId};
use turnkeep_runtime::human::{Input, Judgement};
use turnkeep_runtime::port::{Ids, Model, RandomIds};
use turnkeep_runtime::{Agent, Ports, Recorder, Stop as StopAsked, Stopped, Tools, human};
use turnkeep_store::{Store, StoreExt};

use super::aloud::Aloud;
use super::answering::{Answering, nothing, tools};
use crate::exit::Stop;
use crate::talk_args::With;

/// A session that one talks with.
pub(crate) struct Talk {
    pub(super) store: Arc<dyn Store>,
    pub(super) id: SessionId,
    pub(super) answering: Answering,
    pub(super) tools: Tools,
    pub(super) ports: Ports,
    begun: Begun,
    system: Option<String>,
    /// Where the journal stood before the last question.
    asked_at: Seq,
}

/// Whether the session is stored yet: one that nothing was said in is not.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Begun {
    Yes,
    No,
}

/// Whether an answer is printed while it comes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Heard {
    Aloud,
    Silently,
}

/// A stored session, with who is named to answer.
pub(crate) fn open_talk(with: &With, store: Arc<dyn Store>, id: &SessionId) -> Result<Talk, Stop> {
    let answering = Answering::of(&with.who, None, &nothing)?;
    Talk::stored(store, id.clone(), answering, tools(with.tools.as_deref())?)
}

impl Talk {
    /// A session that begins with the first question.
    pub(super) fn new(store: Arc<dyn Store>, answering: Answering, tools: Tools, system: Option<String>) -> Talk {
        let system = system.or_else(|| answering.system.clone());
        let id = SessionId::new(RandomIds.next());
        Talk { store, id, answering, tools, ports: Ports::default(), begun: Begun::No, system, asked_at: Seq(0) }
    }

    /// A session that is stored.
    pub(super) fn stored(
        store: Arc<dyn Store>,
        id: SessionId,
        answering: Answering,
        tools: Tools,
    ) -> Result<Talk, Stop> {
        block_on(store.last(&id))?;
        Ok(Talk {
            store,
            id,
            answering,
            tools,
            ports: Ports::default(),
            begun: Begun::Yes,
            system: None,
            asked_at: Seq(0),
        })
    }

    /// The session as it stands.
    pub(super) fn session(&self) -> Result<Session, Stop> {
        match self.begun {
            Begun::No => Ok(Session::default()),
            Begun::Yes => Ok(block_on(self.store.load(&self.id))?.session),
        }
    }

    /// Asks, and waits for the answer. A question that nobody answers adds nothing.
    pub(super) fn inquire(&mut self, blocks: Vec<Block>, heard: Heard, stop: &StopAsked) -> Result<Stopped, Stop> {
        let input = Input::from(self.with_system(blocks));
        let agent = self.agent(heard, stop);
        let (store, ports) = (self.store.clone(), self.ports.clone());
        let mut recorder = match self.begun {
            Begun::No => {
                let session = Session { id: Some(self.id.clone()), ..agent.session() };
                block_on(Recorder::create(store, session, ports))?
            }
            Begun::Yes => block_on(Recorder::resume(store, &self.id, ports))?,
        };
        self.asked_at = recorder.seq();
        let asked = block_on(agent.inquire(&mut recorder, input));
        if recorder.session().turns.is_empty() && self.begun == Begun::No {
            // A session that nothing was said in is none.
            block_on(self.store.delete(&self.id))?;
        } else {
            self.begun = Begun::Yes;
        }
        Ok(asked?)
    }

    /// Whether anything is kept of it.
    pub(super) fn is_stored(&self) -> bool {
        self.begun == Begun::Yes
    }

    /// What the last question could not tell its endpoint.
    pub(super) fn losses(&self) -> Vec<Loss> {
        block_on(async {
            let mut reading = self.store.read(&self.id, self.asked_at);
            let mut losses = Vec::new();
            while let Some(Ok(batch)) = reading.next().await {
                losses.extend(batch.events.into_iter().filter_map(|entry| match entry.event {
                    Event::LossNoted(noted) => Some(noted.loss),
                    _ => None,
                }));
            }
            losses
        })
    }

    /// Goes on with what is open.
    pub(super) fn resume(&self, heard: Heard, stop: &StopAsked) -> Result<Stopped, Stop> {
        let agent = self.agent(heard, stop);
        let mut recorder = block_on(Recorder::resume(self.store.clone(), &self.id, self.ports.clone()))?;
        Ok(block_on(agent.resume(&mut recorder))?)
    }

    /// Decides about a call that waits for consent.
    pub(super) fn decide(&self, call: &turnkeep_model::CallId, judgement: &Judgement) -> Result<(), Stop> {
        block_on(human::decide(&*self.store, &self.id, call, judgement, &self.ports))?;
        Ok(())
    }

    fn with_system(&self, blocks: Vec<Block>) -> Vec<Block> {
        let system = self.system.as_deref().filter(|_| self.begun == Begun::No);
        let first = u32::from(system.is_some());
        let system = system.map(|text| Block::text(Author::System, text)).into_iter();
        system.chain(blocks.into_iter().map(|block| block.in_message(first))).collect()
    }

    pub(crate) fn agent(&self, heard: Heard, stop: &StopAsked) -> Agent {
        let voiced = |model: &Arc<dyn Model>| match heard {
            Heard::Aloud => Arc::new(Aloud { inner: model.clone() }) as Arc<dyn Model>,
            Heard::Silently => model.clone(),
        };
        let agent = Agent::new(voiced(&self.answering.model)).with_tools(self.tools.clone()).with_stop(stop.clone());
        self.answering.fallbacks.iter().fold(agent, |agent, model| agent.with_fallback(voiced(model)))
    }
}
