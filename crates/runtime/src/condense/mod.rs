//! Condensing a session: someone summarises its older turns, the summary is checked, and recorded as one event.
//!
//! What can go wrong leaves the session as it was, and says why: a summariser that answers nonsense, is cut off, does not answer in time, or
//! says more than what it summarises. A stored session keeps its originals: [`expanded`](turnkeep_model::expanded) gives them back.

mod model_summariser;
mod reply;

pub use model_summariser::ModelSummariser;
pub use reply::read_reply;

use std::time::Duration;

use futures_util::future::{Either, select};
use turnkeep_model::event::SessionCondensed;
use turnkeep_model::policy::condense::{self as policy, CondensePlan, NothingToCondense};
use turnkeep_model::{Author, Block, ErrorKind, Event, Loss, Session, SessionId, Summary, Turn};
use turnkeep_store::{BoxFuture, Store, StoreExt};

use crate::error::{Error, Result};
use crate::port::Clock;
use crate::ports::Ports;
use crate::post::post;

/// How often a summariser is asked before the session stays as it is.
const TRIES: usize = 2;

/// How long a summariser may take, unless told otherwise.
const PATIENCE: Duration = Duration::from_secs(120);

/// Something that summarises turns.
pub trait Summariser: Send + Sync {
    /// Who summarises, as the journal remembers it.
    fn name(&self) -> String;

    /// A summary of the turns in at most as many tokens as the task says.
    ///
    /// # Errors
    /// Why there is none, in words without what was said.
    fn summarise<'a>(&'a self, task: Task<'a>) -> BoxFuture<'a, std::result::Result<Summary, String>>;
}

/// What is to be summarised.
#[derive(Clone, Copy)]
pub struct Task<'a> {
    /// The turns; instructions among them stay as they are and need no summary.
    pub turns: &'a [Turn],
    /// How many tokens the summary should have at most.
    pub target: u64,
    /// Counts tokens.
    pub count: fn(&str) -> u64,
}

/// How a session is condensed.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    /// How far.
    pub plan: policy::CondenseSettings,
    /// How long the summariser may take.
    pub patience: Duration,
    /// Counts tokens.
    pub count: fn(&str) -> u64,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { plan: policy::CondenseSettings::default(), patience: PATIENCE, count: policy::estimate }
    }
}

/// Summarises with the conversation's own sentences: the same turns always give the same summary, and nobody is asked.
#[derive(Debug, Clone, Copy, Default)]
pub struct Extract;

impl Summariser for Extract {
    fn name(&self) -> String {
        "extract".to_owned()
    }

    fn summarise<'a>(&'a self, task: Task<'a>) -> BoxFuture<'a, std::result::Result<Summary, String>> {
        let made = policy::extract(task.turns, task.target, &task.count);
        Box::pin(async move { Ok(made.into()) })
    }
}

/// What became of a session that was to be condensed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// Older turns have a summary.
    Condensed(Condensed),
    /// There is nothing to condense.
    Nothing(NothingToCondense),
    /// The summariser failed, and the session is as it was.
    Failed(String),
}

/// A summary that was checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condensed {
    /// What it stands for.
    pub plan: CondensePlan,
    /// The summary.
    pub summary: Summary,
    /// Who summarised.
    pub by: String,
}

impl Condensed {
    /// Puts the summary in the place of the turns, and says what it stands for.
    pub fn apply(&self, session: &mut Session) -> Vec<Loss> {
        policy::apply(session, &self.plan, self.summary.clone())
    }

    /// What a journal says of it.
    pub fn event(&self) -> Event {
        let CondensePlan { from, to, .. } = self.plan;
        let summary = Summary { from: Some(from), to: Some(to), ..self.summary.clone() };
        SessionCondensed { from, to, block: Block::new(Author::User, summary), by: Some(self.by.clone()) }.into()
    }
}

/// Has the older turns of a session summarised, and checks the summary. The session is not touched.
pub async fn summarise(
    session: &Session,
    summariser: &dyn Summariser,
    settings: &Settings,
    clock: &dyn Clock,
) -> Outcome {
    let plan = match policy::plan(session, &settings.plan, &settings.count) {
        Ok(plan) => plan,
        Err(nothing) => return Outcome::Nothing(nothing),
    };
    let turns = session.turns.get(plan.turns()).unwrap_or_default();
    let task = Task { turns, target: plan.target, count: settings.count };
    let mut reason = String::new();
    for _ in 0..TRIES {
        let answer = match select(summariser.summarise(task), clock.sleep(settings.patience)).await {
            Either::Left((answer, _)) => answer,
            // Asking again would wait as long again.
            Either::Right(_) => return Outcome::Failed(late(summariser, settings)),
        };
        let checked = answer.and_then(|summary| {
            policy::check(session, &plan, &summary.text, &settings.count)?;
            Ok(summary)
        });
        match checked {
            Ok(summary) => return Outcome::Condensed(Condensed { plan, summary, by: summariser.name() }),
            Err(why) => reason = why,
        }
    }
    Outcome::Failed(format!("{}: {reason}", summariser.name()))
}

fn late(summariser: &dyn Summariser, settings: &Settings) -> String {
    format!("{} did not answer within {:?}", summariser.name(), settings.patience)
}

/// Condenses a stored session: the summary is one event of one batch, so that it is there or it is not.
///
/// # Errors
/// `Unsupported` when not even the last exchange is to stay, `Conflict` when someone changed the older turns meanwhile, `NotFound`, and
/// what the store says. A summariser that fails is no error: see [`Outcome::Failed`].
pub async fn condense(
    store: &dyn Store,
    id: &SessionId,
    ports: &Ports,
    summariser: &dyn Summariser,
    settings: &Settings,
) -> Result<Outcome> {
    if settings.plan.keep == 0 {
        let what = "a stored session keeps at least its last exchange";
        return Err(Error::new(ErrorKind::Unsupported, what).session(id).hint("keep one exchange or more"));
    }
    let state = store.load(id).await?;
    let outcome = summarise(&state.session, summariser, settings, &*ports.clock).await;
    let Outcome::Condensed(made) = &outcome else { return Ok(outcome) };
    let before = state.session.turns.get(made.plan.turns()).unwrap_or_default();
    post(store, id, ports, |now| {
        if now.session.turns.get(made.plan.turns()) != Some(before) {
            let what = "the turns to condense were changed meanwhile by someone else";
            return Err(Error::new(ErrorKind::Conflict, what).hint("condense again"));
        }
        Ok(vec![made.event()])
    })
    .await?;
    Ok(outcome)
}
