//! Running sessions.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use serde::Deserialize;
use turnkeep_model::{Author, Block, Json};
use turnkeep_runtime::TakeOver;
use turnkeep_store::StoreExt;
use utoipa::ToSchema;

use super::body::Body;
use super::native::{at, json, object};
use super::parameters::InSession;
use crate::app::App;
use crate::auth::{Caller, ToRead, ToRun};
use crate::problem::{Answer, Problem, ProblemBody};
use crate::runs::{Started, Wanted, What};

/// A question.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Question {
    /// What is asked.
    text: String,
    /// The endpoint that answers, from turnkeep.toml; the one of the last run, or the default, where none is named.
    endpoint: Option<String>,
    /// The tools it may use: names of `[server.tools]`; those of the last run where none are named.
    tools: Option<Vec<String>>,
    /// The system text, where this begins a session.
    system: Option<String>,
}

impl Question {
    fn blocks(&self) -> Answer<Vec<Block>> {
        if self.text.trim().is_empty() {
            return Err(Problem::bad_request("there is nothing to ask").hint("`text` is the question"));
        }
        Ok(vec![Block::text(Author::User, self.text.as_str())])
    }

    fn wanted(&mut self) -> Wanted {
        Wanted { endpoint: self.endpoint.take(), tools: self.tools.take() }
    }
}

/// Ask a new session. The answer is recorded whether or not anyone waits.
#[utoipa::path(post, path = "/v1/ask", tag = "runs", security(("token" = ["run"])), request_body = Question,
    params(("Idempotency-Key" = Option<String>, Header, description = "Makes the request safe to repeat.")),
    responses((status = 202, description = "`session` and `seq`: the question is durable, and being answered.", body = Object),
              (status = 422, description = "There is no such endpoint.", body = ProblemBody, content_type = "application/problem+json")))]
pub(crate) async fn ask_new(
    State(app): State<Arc<App>>,
    caller: Caller<ToRun>,
    Body(mut question): Body<Question>,
) -> Answer<Response> {
    let what = What::AskNew { question: question.blocks()?, system: question.system.take() };
    begin(&app, &caller, what, question.wanted()).await
}

/// Ask a session. Where it runs, it is told; where another process runs it, that one answers.
#[utoipa::path(post, path = "/v1/sessions/{id}/ask", tag = "runs", security(("token" = ["run"])), request_body = Question,
    params(
        ("id" = String, Path, description = "The session."),
        ("Idempotency-Key" = Option<String>, Header, description = "Makes the request safe to repeat."),
    ),
    responses((status = 202, description = "`session` and `seq`.", body = Object),
              (status = 404, description = "There is none.", body = ProblemBody, content_type = "application/problem+json")))]
pub(crate) async fn ask(
    State(app): State<Arc<App>>,
    caller: Caller<ToRun>,
    InSession(id): InSession,
    Body(mut question): Body<Question>,
) -> Answer<Response> {
    caller.tenant.store.last(&id).await?;
    if question.system.is_some() {
        return Err(Problem::bad_request("the session has begun: its system text stands"));
    }
    let what = What::Ask(id, question.blocks()?);
    begin(&app, &caller, what, question.wanted()).await
}

/// How a run goes on.
#[derive(Deserialize, ToSchema, Default)]
#[serde(deny_unknown_fields)]
pub(crate) struct Resume {
    /// The endpoint that answers.
    endpoint: Option<String>,
    /// The tools it may use.
    tools: Option<Vec<String>>,
    /// Whether a run of another process is fenced.
    #[serde(default)]
    take_over: bool,
}

/// Go on with what is open.
#[utoipa::path(post, path = "/v1/sessions/{id}/resume", tag = "runs", security(("token" = ["run"])), request_body = Resume,
    params(("id" = String, Path, description = "The session.")),
    responses((status = 202, description = "`session` and `seq`.", body = Object),
              (status = 404, description = "There is none.", body = ProblemBody, content_type = "application/problem+json"),
              (status = 409, description = "It runs already.", body = ProblemBody, content_type = "application/problem+json")))]
pub(crate) async fn resume(
    State(app): State<Arc<App>>,
    caller: Caller<ToRun>,
    InSession(id): InSession,
    Body(resume): Body<Resume>,
) -> Answer<Response> {
    caller.tenant.store.last(&id).await?;
    let take_over = if resume.take_over { TakeOver::Always } else { TakeOver::IfIdle };
    let wanted = Wanted { endpoint: resume.endpoint, tools: resume.tools };
    begin(&app, &caller, What::Resume(id, take_over), wanted).await
}

async fn begin(app: &Arc<App>, caller: &Caller<ToRun>, what: What, wanted: Wanted) -> Answer<Response> {
    if app.is_draining() {
        return Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, "draining", "the server is about to stop"));
    }
    let Started { session, seq } = app.runs.start(&caller.tenant, what, wanted).await?;
    app.metrics.runs_started.fetch_add(1, Ordering::Relaxed);
    let answer = object([("session", session.as_str().into()), ("seq", seq.0.into())]);
    Ok(at(seq, json(StatusCode::ACCEPTED, answer.to_text())))
}

/// Stop a run of this server.
#[utoipa::path(post, path = "/v1/sessions/{id}/stop", tag = "runs", security(("token" = ["run"])),
    params(("id" = String, Path, description = "The session.")),
    responses((status = 202, description = "It was asked to stop.", body = Object),
              (status = 404, description = "It does not run here.", body = ProblemBody, content_type = "application/problem+json")))]
pub(crate) async fn stop(
    State(app): State<Arc<App>>,
    caller: Caller<ToRun>,
    InSession(id): InSession,
) -> Answer<Response> {
    if app.runs.stop(&caller.tenant.name, &id) {
        return Ok(json(StatusCode::ACCEPTED, object([("session", id.as_str().into())]).to_text()));
    }
    Err(Problem::not_found("the session does not run on this server"))
}

/// The runs of this server.
#[utoipa::path(get, path = "/v1/runs", tag = "runs", security(("token" = ["read"])),
    responses((status = 200, description = "`runs`: the sessions that run here.", body = Object)))]
pub(crate) async fn list(State(app): State<Arc<App>>, caller: Caller<ToRead>) -> Response {
    let mut sessions = app.runs.of(&caller.tenant.name);
    sessions.sort();
    let runs = sessions.iter().map(|id| object([("session", id.as_str().into())])).collect();
    json(StatusCode::OK, object([("runs", Json::Array(runs))]).to_text())
}

/// The endpoints and tools that runs can use.
#[utoipa::path(get, path = "/v1/endpoints", tag = "runs", security(("token" = ["run"])),
    responses((status = 200, description = "`endpoints` and `tools`.", body = Object)))]
pub(crate) async fn endpoints(State(app): State<Arc<App>>, _: Caller<ToRun>) -> Response {
    let endpoints = app.config.endpoints.all().iter().map(|endpoint| {
        object([
            ("name", endpoint.name.as_str().into()),
            ("provider", endpoint.provider.name.into()),
            ("model", endpoint.model.as_str().into()),
        ])
    });
    let tools = app.config.tools.iter().map(|(name, _)| name.as_str().into()).collect();
    let answer = object([("endpoints", Json::Array(endpoints.collect())), ("tools", Json::Array(tools))]);
    json(StatusCode::OK, answer.to_text())
}
