//! How an exchange went, for persons and for programs.

use std::time::Instant;

use pollster::block_on;
use turnkeep_model::{Json, Loss, Number, SessionId, Status, StopReason, Usage};
use turnkeep_runtime::{Conversation, Stopped, Waiting, WaitingFor};

use crate::exit::{CliError, Exit};
use crate::report::{self, note_losses, object, text_or_null};
use crate::terminal::{DIM, print, print_error_text, print_note};
use crate::visible::visible;

/// How an exchange went.
pub(super) struct Outcome {
    id: SessionId,
    endpoint: String,
    pub(super) usage: Usage,
    losses: Vec<Loss>,
    pub(super) stopped: Stopped,
    pub(super) seconds: f64,
}

impl Outcome {
    /// That of an exchange whose first turn is this one.
    pub(super) fn of(
        conversation: &Conversation,
        endpoint: &str,
        first_turn: usize,
        stopped: Stopped,
        began: Instant,
    ) -> Result<Outcome, CliError> {
        Ok(Outcome {
            id: conversation.id().clone(),
            endpoint: endpoint.to_owned(),
            usage: block_on(conversation.usage_since(first_turn))?,
            losses: block_on(conversation.losses())?,
            stopped,
            seconds: began.elapsed().as_secs_f64(),
        })
    }

    pub(super) fn to_json(&self) -> Json {
        let count = |count: Option<u64>| count.map_or(Json::Null, Json::from);
        let waiting = self.stopped.waiting.iter().map(|waiting| waiting.call.to_string().into()).collect();
        object([
            ("session", self.id.as_str().into()),
            ("endpoint", self.endpoint.as_str().into()),
            ("status", self.stopped.status.kind().into()),
            ("text", text_or_null(self.stopped.text.as_deref())),
            ("input_tokens", count(self.usage.input)),
            ("output_tokens", count(self.usage.output)),
            ("cost", self.usage.cost.as_ref().map_or(Json::Null, |cost| cost.to_string().into())),
            ("seconds", Number::from_f64((self.seconds * 1e3).round() / 1e3).into()),
            ("waiting", Json::Array(waiting)),
            ("losses", report::losses(&self.losses)),
        ])
    }

    /// Prints what the exchange took, what it lost, and what a person has to do; and the answer, where another process gave
    /// it and nothing of it was shown while it arrived.
    pub(super) fn print(&self) {
        if let (true, Some(text)) = (self.stopped.elsewhere, &self.stopped.text) {
            // Nobody may be reading any more.
            drop(print(&format!("{text}\n")));
        }
        print_note(&self.line());
        note_losses(&self.losses, &format!("`turnkeep tail {}` lists them all", self.id));
        self.waiting().iter().for_each(|line| print_note(line));
    }

    /// The session, and what the exchange took.
    fn line(&self) -> String {
        let usage = &self.usage;
        let mut parts = vec![format!("session {}", visible(self.id.as_str())), self.endpoint.clone()];
        if let (Some(input), Some(output)) = (usage.input, usage.output) {
            parts.push(format!("{input} + {output} tokens"));
        }
        parts.extend(usage.cost.as_ref().map(|cost| format!("cost {cost}")));
        parts.push(format!("{:.1} s", self.seconds));
        format!("{DIM}{}{DIM:#}", parts.join(" · "))
    }

    /// What a person has to do.
    pub(super) fn waiting(&self) -> Vec<String> {
        let id = &self.id;
        let line = |waiting: &Waiting| match waiting.what {
            WaitingFor::Consent => format!("{} waits: turnkeep approve | deny {id} {}", waiting.tool, waiting.call),
            WaitingFor::Outcome => {
                format!(
                    "{} may have acted: turnkeep resolve {id} {} --retry | --done R | --skip",
                    waiting.tool, waiting.call
                )
            }
        };
        self.stopped.waiting.iter().map(line).collect()
    }
}

/// Says why there is no answer, and what is kept.
pub(super) fn print_failure(id: &SessionId, stopped: &Stopped) {
    let kept = stopped.is_unanswered().then(|| kept_text(id));
    match (&stopped.status, &kept) {
        (Status::Failed(failed), _) => {
            print_error_text(&format!("the model did not answer: {}", failed.error), kept.as_deref());
        }
        (_, Some(kept)) => print_note(&format!("stopped; {kept}")),
        _ => {}
    }
}

/// What is kept of a question without an answer, and how to ask it again.
pub(crate) fn kept_text(id: &SessionId) -> String {
    let id = visible(id.as_str());
    format!("the question is kept, unanswered, in session {id}: `turnkeep resume {id}` asks it again")
}

pub(crate) fn exit_of(stopped: &Stopped) -> Exit {
    match &stopped.status {
        Status::WaitingForHuman(_) => Exit::NeedsHuman,
        Status::Failed(_) => Exit::Failed,
        _ if stopped.reason == Some(StopReason::UserRequested) => Exit::Interrupted,
        _ => Exit::Ok,
    }
}
