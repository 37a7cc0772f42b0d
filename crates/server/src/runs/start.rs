//! Beginning a run, and seeing it through.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::http::{StatusCode, header};
use futures_util::StreamExt;
use tokio::sync::oneshot;
use turnkeep_model::{Block, Seq, SessionId};
use turnkeep_runtime::plan::{Plan, plan};
use turnkeep_runtime::{Conversation, HubItem, ResumePolicy, StopSignal, Subscription, TakeOver, Tools, human};
use turnkeep_store::StoreExt;

use super::choice::{self, Choice};
use super::record::{self, RunRecord};
use super::{Active, Key, Reserved, Runs};
use crate::ops::LogLine;
use crate::problem::{Answer, Problem};
use crate::tenant::Tenant;

/// What a run is to do.
pub(crate) enum What {
    /// Answer this, in a new session.
    AskNew {
        /// What is asked.
        question: Vec<Block>,
        /// The system text; where there is none, the endpoint's.
        system: Option<String>,
    },
    /// Answer this.
    Ask(SessionId, Vec<Block>),
    /// Go on with what is open.
    Resume(SessionId, TakeOver),
}

/// What a caller wants of the configuration; what is not named is found out.
#[derive(Default)]
pub(crate) struct Wanted {
    pub(crate) endpoint: Option<String>,
    pub(crate) tools: Option<Vec<String>>,
}

/// A run that began, or a running one that was told something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Started {
    pub(crate) session: SessionId,
    /// The last record by then.
    pub(crate) seq: Seq,
}

/// Whether a run of this server hears what is said.
enum Said {
    NotRunning,
    Heard(Started),
    TooLate,
}

/// A run with all it needs.
pub(super) struct Job {
    pub(super) tenant: Arc<Tenant>,
    pub(super) conversation: Conversation,
    pub(super) question: Option<Vec<Block>>,
    pub(super) tools: Tools,
    pub(super) record: RunRecord,
    /// Where its record stands, if it has one.
    pub(super) at: Option<Seq>,
    pub(super) stop: StopSignal,
    pub(super) reserved: Reserved,
}

impl Runs {
    /// Begins a run, and returns when what it begins with is durable.
    pub(crate) async fn start(self: &Arc<Self>, tenant: &Arc<Tenant>, what: What, wanted: Wanted) -> Answer<Started> {
        let what = match what {
            What::Ask(id, question) => match self.say(tenant, &id, &question).await? {
                Said::NotRunning => What::Ask(id, question),
                Said::Heard(started) => return Ok(started),
                // The run ended meanwhile: what was said is there, and a new run answers it.
                Said::TooLate => What::Resume(id, TakeOver::IfIdle),
            },
            other => other,
        };
        let choice = self.choose(tenant, &what, wanted).await?;
        let tools = choice::tools(&self.config, &choice.tools)?;
        let responder = choice::responder(&self.config, &choice)?;
        let agent = choice::agent(&responder, tenant, &tools);
        let (conversation, question) = match what {
            What::AskNew { question, system: None } => (agent.begin()?, Some(question)),
            What::AskNew { question, system: Some(system) } => (agent.with_system(system).begin()?, Some(question)),
            What::Ask(id, question) => (choice::stored(&agent, &id).await?, Some(question)),
            What::Resume(id, take_over) => (choice::stored(&agent, &id).await?.with_take_over(take_over), None),
        };
        let id = conversation.id().clone();
        let (stop, reserved) = self.reserve(tenant, &id)?;
        let heard = tenant.hub.subscribe_across_runs(&id);
        let record = RunRecord::new(&tenant.name, &id, choice);
        let job = Job { tenant: tenant.clone(), conversation, question, tools, record, at: None, stop, reserved };
        // From here on it does not matter whether the caller goes away.
        let failed = self.spawn(job);
        begun(heard, failed).await.map(|seq| Started { session: id, seq })
    }

    /// Where the session runs here, says it to that run.
    async fn say(&self, tenant: &Tenant, id: &SessionId, said: &[Block]) -> Answer<Said> {
        let key: Key = (tenant.name.clone(), id.clone());
        if !self.lock().contains_key(&key) {
            return Ok(Said::NotRunning);
        }
        let seq = human::say(&*tenant.store, id, &tenant.ports(), said.to_vec()).await?;
        let started = Started { session: id.clone(), seq };
        if let Some(active) = self.lock().get_mut(&key) {
            active.said = true;
            return Ok(Said::Heard(started));
        }
        Ok(Said::TooLate)
    }

    async fn choose(&self, tenant: &Tenant, what: &What, wanted: Wanted) -> Answer<Choice> {
        let id = match what {
            What::AskNew { .. } => None,
            What::Ask(id, _) | What::Resume(id, _) => Some(id),
        };
        let last = match id {
            Some(id) => record::last_choice(&self.control, &record::key(&tenant.name, id)).await?,
            None => None,
        };
        let named = wanted.endpoint.or_else(|| last.as_ref().map(|last| last.endpoint.clone()));
        let named = match (named, id) {
            (None, Some(id)) => choice::endpoint_of(&self.config.endpoints, &*tenant.store, id).await,
            (named, _) => named,
        };
        let endpoint = choice::endpoint(&self.config.endpoints, named.as_deref())?;
        let tools = wanted.tools.or_else(|| last.map(|last| last.tools)).unwrap_or_default();
        Ok(Choice { endpoint, tools })
    }

    /// Notes that a session runs here.
    pub(super) fn reserve(self: &Arc<Self>, tenant: &Tenant, id: &SessionId) -> Answer<(StopSignal, Reserved)> {
        let mut active = self.lock();
        let key: Key = (tenant.name.clone(), id.clone());
        if active.contains_key(&key) {
            return Err(Problem::new(StatusCode::CONFLICT, "running", "the session runs here already")
                .hint("wait until it stops, or stop it"));
        }
        if active.keys().filter(|(name, _)| *name == tenant.name).count() >= self.config.limits.runs {
            return Err(Problem::new(StatusCode::TOO_MANY_REQUESTS, "too_many_runs", "too many runs go on at once")
                .with(header::RETRY_AFTER, "5"));
        }
        let number = self.reservations.fetch_add(1, Ordering::Relaxed);
        let stop = StopSignal::default();
        active.insert(key.clone(), Active { stop: stop.clone(), number, said: false });
        Ok((stop, Reserved { runs: self.clone(), key, number }))
    }

    /// Runs a job as a task of its own; the receiver hears why it failed before it began.
    pub(super) fn spawn(self: &Arc<Self>, job: Job) -> oneshot::Receiver<Problem> {
        let (tell, failed) = oneshot::channel();
        let runs = self.clone();
        tokio::spawn(async move {
            if let Err(error) = runs.see_through(job).await {
                // Whoever began it may have gone.
                let _ = tell.send(error);
            }
        });
        failed
    }

    async fn see_through(self: Arc<Self>, mut job: Job) -> Answer<()> {
        let id = job.conversation.id().clone();
        let key = record::key(&job.tenant.name, &id);
        let at = match job.at {
            Some(at) => at,
            None => record::begin(&self.control, &key, &job.record).await?,
        };
        let beating = tokio::spawn(beat(self.clone(), key.clone(), at, job.record.clone()));
        let ended = self.run(&mut job).await;
        beating.abort();
        self.close(&key, &job.record).await;
        let outcome = ended.as_ref().map_or_else(Problem::kind, |()| "ended");
        self.log.write(&LogLine::new("run").fact("tenant", &job.tenant.name).fact("outcome", outcome));
        ended
    }

    async fn close(&self, key: &str, record: &RunRecord) {
        let document = self.control.get(record::KIND, key).await;
        if let Ok(Some(document)) = document
            && RunRecord::read(&document).is_some_and(|now| now.is_same(record))
            && let Err(error) = record::end(&self.control, key, document.at, record).await
        {
            self.log.write(&LogLine::new("run").fact("outcome", "not closed").fact("cause", error));
        }
    }

    /// Answers, and once more where something was said meanwhile that nobody answered.
    async fn run(&self, job: &mut Job) -> Answer<()> {
        match job.question.take() {
            Some(question) => drop(job.conversation.ask_until(question, &job.stop).await?),
            None => drop(job.conversation.resume_until(&job.stop).await?),
        }
        while self.goes_on(&job.reserved) {
            if !job.stop.is_asked() && self.is_due(job).await? {
                job.conversation.resume_until(&job.stop).await?;
            }
        }
        Ok(())
    }

    /// Whether something was said since it was last asked. If not, the session no longer runs here: whoever says something
    /// from now on begins a run.
    fn goes_on(&self, reserved: &Reserved) -> bool {
        let mut active = self.lock();
        let said = active.get_mut(&reserved.key).is_some_and(|active| std::mem::take(&mut active.said));
        if !said {
            active.remove(&reserved.key);
        }
        said
    }

    async fn is_due(&self, job: &Job) -> Answer<bool> {
        let loaded = job.tenant.store.load(job.conversation.id()).await?;
        let now = jiff::Timestamp::now();
        let planned =
            plan(&loaded.session, &loaded.ledger, ResumePolicy::default(), now, &|name| job.tools.effect(name));
        Ok(planned != Plan::Done)
    }
}

/// Says again and again that the server is there, until someone else has the run.
async fn beat(runs: Arc<Runs>, key: String, mut at: Seq, record: RunRecord) {
    loop {
        tokio::time::sleep(record::BEAT).await;
        let record = record.clone().seen();
        match record::hold(&runs.control, &key, at, &record).await {
            Ok(next) => at = next,
            Err(error) if error.kind() == turnkeep_store::ErrorKind::Conflict => return,
            Err(_) => {}
        }
    }
}

/// Waits until the first record of a run is durable, or the run could not begin.
async fn begun(mut heard: Subscription, failed: oneshot::Receiver<Problem>) -> Answer<Seq> {
    let recorded = async {
        while let Some(item) = heard.next().await {
            if let HubItem::Batch(batch) = item {
                return Some(batch.last());
            }
        }
        None
    };
    tokio::select! {
        biased;
        seq = recorded => seq.ok_or_else(|| Problem::internal("the hub ended")),
        failed = failed => Err(failed.unwrap_or_else(|_| Problem::internal("the run ended before it began"))),
    }
}
