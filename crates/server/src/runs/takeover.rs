//! Taking up runs whose server has ended.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use turnkeep_model::SessionId;
use turnkeep_runtime::TakeOver;
use turnkeep_store::ErrorKind;

use super::choice;
use super::record::{self, RunRecord};
use super::start::Job;
use super::{Key, Runs};
use crate::control::Document;
use crate::ops::{LogLine, Metrics};
use crate::problem::Answer;
use crate::tenant::TenantName;

/// How often runs of others are looked at.
const LOOK: Duration = Duration::from_secs(5);

impl Runs {
    /// Takes up what others left, now and from time to time, until the server ends.
    pub(crate) async fn watch(self: Arc<Self>, metrics: Arc<Metrics>) {
        loop {
            if let Err(error) = self.take_up_all(&metrics).await {
                self.log.write(&LogLine::new("takeover").fact("outcome", "failed").fact("cause", error));
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    async fn take_up_all(self: &Arc<Self>, metrics: &Metrics) -> turnkeep_store::Result<()> {
        for document in self.control.list(record::KIND, Some(record::OPEN)).await? {
            let Some(record) = RunRecord::read(&document) else { continue };
            if !record.is_abandoned() || self.is_here(&record) {
                continue;
            }
            match self.take_up(&document, record.clone()).await {
                Ok(()) => {
                    metrics.runs_resumed.fetch_add(1, Ordering::Relaxed);
                    self.log.write(&LogLine::new("takeover").fact("tenant", &record.tenant).fact("outcome", "taken"));
                }
                Err(problem) => {
                    self.log.write(&LogLine::new("takeover").fact("outcome", problem.kind()));
                }
            }
        }
        Ok(())
    }

    fn is_here(&self, record: &RunRecord) -> bool {
        let Ok(tenant) = TenantName::new(&record.tenant) else { return true };
        let key: Key = (tenant, SessionId::new(record.session.as_str()));
        self.lock().contains_key(&key)
    }

    async fn take_up(self: &Arc<Self>, document: &Document, record: RunRecord) -> Answer<()> {
        let record = record.taken();
        let at = match record::hold(&self.control, &document.key, document.at, &record).await {
            Ok(at) => at,
            // Another server was faster.
            Err(error) if error.kind() == ErrorKind::Conflict => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        match self.job(record.clone(), at).await {
            Ok(job) => {
                // Whoever began it is gone; the session tells how it ends.
                drop(self.spawn(job));
                Ok(())
            }
            Err(problem) => {
                // What cannot be run any more is not tried again and again.
                record::end(&self.control, &document.key, at, &record).await?;
                Err(problem)
            }
        }
    }

    async fn job(self: &Arc<Self>, record: RunRecord, at: turnkeep_model::Seq) -> Answer<Job> {
        let tenant = self.tenants.named(&TenantName::new(&record.tenant)?).await?;
        let tools = choice::tools(&self.config, &record.choice.tools)?;
        let responder = choice::responder(&self.config, &record.choice)?;
        let id = SessionId::new(record.session.as_str());
        let conversation = choice::stored(&choice::agent(&responder, &tenant, &tools), &id).await?;
        // The record was taken by compare-and-swap: the run of the session is fenced, wherever it was.
        let conversation = conversation.with_take_over(TakeOver::Always);
        let (stop, reserved) = self.reserve(&tenant, &id)?;
        Ok(Job { tenant, conversation, question: None, tools, record, at: Some(at), stop, reserved })
    }
}
