//! A session that one talks with: where it is kept, who answers, what it may do.

use std::sync::Arc;

use futures_util::StreamExt;
use pollster::block_on;
use turnkeep_model::{Author, Block, ErrorKind, Event, Loss, Seq, Session, SessionId, Status, StopReason};
use turnkeep_runtime::human::{Input, Judgement};
use turnkeep_runtime::port::{Ids, Liveness, Model, RandomIds};
use turnkeep_runtime::{
    Agent, BusyRun, Error as RunError, Ports, Recorder, Stop as StopAsked, Stopped, TakeOver, TakenUp, Tools, human,
};
use turnkeep_store::{Store, StoreExt};

use super::aloud::Aloud;
use super::answering::{Answering, nothing, tools};
use super::follow;
use crate::exit::Stop;
use crate::talk_args::With;
use crate::terminal::say;
use crate::visible::visible;

/// A session that one talks with.
pub(crate) struct Talk {
    pub(super) store: Arc<dyn Store>,
    pub(super) id: SessionId,
    pub(super) answering: Answering,
    pub(super) tools: Tools,
    pub(super) ports: Ports,
    begun: Begun,
    system: Option<String>,
    take_over: TakeOver,
    /// Where the journal stood when the last question was recorded.
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

/// Who runs a session, in words.
fn busy_words(busy: &BusyRun) -> String {
    let process = busy.run.process.as_deref().unwrap_or("another process");
    // The part behind the plus sign tells processes of one pid apart, and says nothing to a person.
    let process = process.split_once('+').map_or(process, |(process, _)| process);
    match busy.liveness {
        Liveness::Elsewhere => format!("process {process} runs the session, or died on that machine"),
        _ => format!("process {process} runs the session"),
    }
}

impl Talk {
    /// A session that begins with the first question.
    pub(super) fn new(store: Arc<dyn Store>, answering: Answering, tools: Tools, system: Option<String>) -> Talk {
        let system = system.or_else(|| answering.system.clone());
        let id = SessionId::new(RandomIds.next());
        Talk {
            store,
            id,
            answering,
            tools,
            ports: Ports::default(),
            begun: Begun::No,
            system,
            take_over: TakeOver::default(),
            asked_at: Seq(0),
        }
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
            take_over: TakeOver::default(),
            asked_at: Seq(0),
        })
    }

    /// The same, which fences a run of another process where `take_over` says so.
    pub(crate) fn taking_over(mut self, take_over: bool) -> Talk {
        self.take_over = if take_over { TakeOver::Always } else { TakeOver::IfIdle };
        self
    }

    /// The session as it stands.
    pub(super) fn session(&self) -> Result<Session, Stop> {
        match self.begun {
            Begun::No => Ok(Session::default()),
            Begun::Yes => Ok(block_on(self.store.load(&self.id))?.session),
        }
    }

    /// Records the question, then asks it and waits for the answer. Whatever happens after the first, the question stays.
    pub(super) fn ask(&mut self, blocks: Vec<Block>, heard: Heard, stop: &StopAsked) -> Result<Stopped, Stop> {
        let input = Input::from(self.with_system(blocks));
        let (store, ports) = (self.store.clone(), self.ports.clone());
        let taken = match self.begun {
            Begun::No => {
                let session = Session { id: Some(self.id.clone()), ..self.agent(heard, stop).session() };
                TakenUp::Here(Box::new(block_on(Recorder::create_asking(store, session, input, ports))?))
            }
            Begun::Yes => block_on(Recorder::take_up(store, &self.id, Some(input), ports, self.take_over))?,
        };
        self.begun = Begun::Yes;
        self.asked_at = block_on(self.store.last(&self.id))?;
        let answered = match taken {
            TakenUp::Here(mut recorder) => block_on(self.agent(heard, stop).resume(&mut recorder)).map_err(Stop::from),
            TakenUp::Elsewhere(busy) => {
                say(&format!(
                    "{}; the question is recorded there and waits for its answer (--take-over asks it here)",
                    busy_words(&busy)
                ));
                follow::until_idle(self, stop).and_then(|went| match went {
                    follow::Went::Stopped(stopped) => Ok(stopped),
                    follow::Went::Idle => self.resume(heard, stop),
                })
            }
        };
        answered.inspect_err(|_| say(&self.kept()))
    }

    /// What is kept of a question without an answer, and how to ask it again.
    fn kept(&self) -> String {
        let id = visible(self.id.as_str());
        format!("the question is kept, unanswered, in session {id}: `turnkeep resume {id}` asks it again")
    }

    /// What a person has to know of a question that was not answered.
    pub(super) fn unanswered(&self, stopped: &Stopped) -> Option<String> {
        let is_unanswered = matches!(stopped.status, Status::Failed(_))
            || (stopped.reason == Some(StopReason::UserRequested) && matches!(stopped.status, Status::Stopped(_)));
        is_unanswered.then(|| self.kept())
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
        self.resume_with(&self.agent(heard, stop))
    }

    /// The same with an agent of one's own.
    pub(crate) fn resume_with(&self, agent: &Agent) -> Result<Stopped, Stop> {
        let (store, ports) = (self.store.clone(), self.ports.clone());
        match block_on(Recorder::take_up(store, &self.id, None, ports, self.take_over))? {
            TakenUp::Here(mut recorder) => Ok(block_on(agent.resume(&mut recorder))?),
            TakenUp::Elsewhere(busy) => Err(RunError::new(ErrorKind::Conflict, busy_words(&busy))
                .session(&self.id)
                .hint("wait until it stops (`turnkeep tail ID --follow` shows it), or run it here with --take-over")
                .into()),
        }
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
