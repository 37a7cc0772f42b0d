//! What people decide about tool calls. The token's name is recorded with it.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use serde::Deserialize;
use turnkeep_model::{CallId, Seq, SessionId};
use turnkeep_runtime::TakeOver;
use turnkeep_runtime::human::{self, ConsentDecision, KnownOutcome};
use turnkeep_runtime::port::ToolOutput;
use utoipa::ToSchema;

use super::body::Body;
use super::native::{at, json, object};
use super::parameters::InCall;
use crate::app::App;
use crate::auth::{Caller, ToRun};
use crate::problem::{Answer, Problem, ProblemBody};
use crate::runs::{Wanted, What};

/// Consent to a call.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Approval {
    /// The digest of what the person saw, from the ledger.
    digest: String,
    /// The arguments to call it with instead, as JSON text.
    arguments: Option<String>,
    /// Whether the session goes on at once.
    #[serde(default = "yes")]
    resume: bool,
}

/// Refusal of a call.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Denial {
    /// The digest of what the person saw.
    digest: Option<String>,
    /// Why.
    reason: Option<String>,
    /// Whether the session goes on at once.
    #[serde(default = "yes")]
    resume: bool,
}

/// What became of a call that was cut off.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Resolution {
    /// `retry` (it did not act), `done` (it acted; `result` is what came of it) or `skip` (nobody knows).
    outcome: String,
    /// Its result, as text or JSON text.
    result: Option<String>,
    /// Whether the session goes on at once.
    #[serde(default = "yes")]
    resume: bool,
}

fn yes() -> bool {
    true
}

/// Let a call be made that waits for consent.
#[utoipa::path(post, path = "/v1/sessions/{id}/calls/{call}/approve", tag = "runs", security(("token" = ["run"])), request_body = Approval,
    params(("id" = String, Path, description = "The session."), ("call" = String, Path, description = "The call.")),
    responses((status = 200, description = "`seq`: where the decision is recorded; `resumed`: whether the session goes on here.", body = Object),
              (status = 404, description = "No such call waits.", body = ProblemBody, content_type = "application/problem+json"),
              (status = 409, description = "It was decided already, or is not what was shown.", body = ProblemBody, content_type = "application/problem+json")))]
pub(crate) async fn approve(
    State(app): State<Arc<App>>,
    caller: Caller<ToRun>,
    InCall(id, call): InCall,
    Body(approval): Body<Approval>,
) -> Answer<Response> {
    let decision = match approval.arguments {
        Some(arguments) => ConsentDecision::edit(arguments),
        None => ConsentDecision::approve(),
    };
    let decision = ConsentDecision { digest: Some(approval.digest), ..decision };
    decide(&app, &caller, id, &call, decision, approval.resume).await
}

/// Refuse a call that waits for consent.
#[utoipa::path(post, path = "/v1/sessions/{id}/calls/{call}/deny", tag = "runs", security(("token" = ["run"])), request_body = Denial,
    params(("id" = String, Path, description = "The session."), ("call" = String, Path, description = "The call.")),
    responses((status = 200, description = "`seq` and `resumed`.", body = Object),
              (status = 404, description = "No such call waits.", body = ProblemBody, content_type = "application/problem+json"),
              (status = 409, description = "It was decided already.", body = ProblemBody, content_type = "application/problem+json")))]
pub(crate) async fn deny(
    State(app): State<Arc<App>>,
    caller: Caller<ToRun>,
    InCall(id, call): InCall,
    Body(denial): Body<Denial>,
) -> Answer<Response> {
    let reason = denial.reason.unwrap_or_else(|| "a person said no".to_owned());
    let decision = ConsentDecision { digest: denial.digest, ..ConsentDecision::deny(reason) };
    decide(&app, &caller, id, &call, decision, denial.resume).await
}

async fn decide(
    app: &Arc<App>,
    caller: &Caller<ToRun>,
    id: SessionId,
    call: &CallId,
    decision: ConsentDecision,
    resume: bool,
) -> Answer<Response> {
    let decision = ConsentDecision { by: Some(caller.token.name.clone()), ..decision };
    let tenant = &caller.tenant;
    let seq = human::decide(&*tenant.store, &id, call, &decision, &tenant.ports()).await?;
    go_on(app, caller, id, seq, resume).await
}

/// Say what became of a call that was cut off.
#[utoipa::path(post, path = "/v1/sessions/{id}/calls/{call}/resolve", tag = "runs", security(("token" = ["run"])), request_body = Resolution,
    params(("id" = String, Path, description = "The session."), ("call" = String, Path, description = "The call.")),
    responses((status = 200, description = "`seq` and `resumed`.", body = Object),
              (status = 404, description = "There is no such call.", body = ProblemBody, content_type = "application/problem+json"),
              (status = 409, description = "It has an outcome.", body = ProblemBody, content_type = "application/problem+json")))]
pub(crate) async fn resolve(
    State(app): State<Arc<App>>,
    caller: Caller<ToRun>,
    InCall(id, call): InCall,
    Body(resolution): Body<Resolution>,
) -> Answer<Response> {
    let tenant = &caller.tenant;
    let known = match (resolution.outcome.as_str(), resolution.result.as_deref()) {
        ("retry", None) => KnownOutcome::Retry,
        ("skip", None) => KnownOutcome::Skip,
        ("done", Some(result)) => KnownOutcome::Done(output(result)),
        _ => {
            return Err(Problem::bad_request("`outcome` is `retry`, `skip`, or `done` with a `result`"));
        }
    };
    let by = Some(caller.token.name.as_str());
    let seq = human::resolve(&*tenant.store, &id, &call, &known, by, &tenant.ports()).await?;
    go_on(&app, &caller, id, seq, resolution.resume).await
}

/// A result that is JSON is kept as JSON.
fn output(result: &str) -> ToolOutput {
    match turnkeep_model::json::parse(result) {
        Ok(node) if node.as_str().is_none() => ToolOutput::json(node.into_json()),
        _ => ToolOutput::text(result),
    }
}

/// Goes on with the session, if that is wanted and possible: the decision stands either way.
async fn go_on(app: &Arc<App>, caller: &Caller<ToRun>, id: SessionId, seq: Seq, resume: bool) -> Answer<Response> {
    let what = What::Resume(id.clone(), TakeOver::IfIdle);
    let resumed = resume && app.runs.start(&caller.tenant, what, Wanted::default()).await.is_ok();
    let answer = object([("session", id.as_str().into()), ("seq", seq.0.into()), ("resumed", resumed.into())]);
    Ok(at(seq, json(StatusCode::OK, answer.to_text())))
}
