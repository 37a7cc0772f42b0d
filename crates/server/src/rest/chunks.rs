//! Pieces of answers from other processes, for stores that tell of nothing but records.

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use turnkeep_runtime::port::Delta;
use turnkeep_store::StoreExt;
use utoipa::ToSchema;

use super::body::Body;
use super::parameters::InSession;
use crate::auth::{Caller, ToWrite};
use crate::problem::{Answer, Problem, ProblemBody};

/// Pieces of an answer, in order.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Chunks {
    /// The pieces.
    chunks: Vec<Chunk>,
}

/// One piece: `text`, `reasoning`, `tool` with `index`, or `arguments` with `index`.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Chunk {
    /// More text.
    text: Option<String>,
    /// More thinking.
    reasoning: Option<String>,
    /// A call of this tool began.
    tool: Option<String>,
    /// More of a call's arguments.
    arguments: Option<String>,
    /// Which call of the answer, from 0.
    index: Option<u32>,
}

impl Chunk {
    fn delta(self) -> Option<Delta> {
        match (self.text, self.reasoning, self.tool, self.arguments, self.index) {
            (Some(text), None, None, None, None) => Some(Delta::Text(text)),
            (None, Some(text), None, None, None) => Some(Delta::Reasoning(text)),
            (None, None, Some(name), None, Some(index)) => Some(Delta::Call { index, name }),
            (None, None, None, Some(text), Some(index)) => Some(Delta::Arguments { index, text }),
            _ => None,
        }
    }
}

/// Show pieces of an answer to those who follow. Nothing is stored; they are void when their block arrives.
#[utoipa::path(post, path = "/v1/sessions/{id}/chunks", tag = "events", security(("token" = ["write"])), request_body = Chunks,
    params(("id" = String, Path, description = "The session.")),
    responses((status = 204, description = "They were shown."),
              (status = 404, description = "There is none.", body = ProblemBody, content_type = "application/problem+json")))]
pub(crate) async fn chunks(
    caller: Caller<ToWrite>,
    InSession(id): InSession,
    Body(chunks): Body<Chunks>,
) -> Answer<Response> {
    let deltas: Option<Vec<Delta>> = chunks.chunks.into_iter().map(Chunk::delta).collect();
    let wrong = || Problem::bad_request("a chunk is one of `text`, `reasoning`, `tool` or `arguments` (with `index`)");
    let deltas = deltas.ok_or_else(wrong)?;
    caller.tenant.store.last(&id).await?;
    deltas.iter().for_each(|delta| caller.tenant.hub.publish_delta(&id, delta));
    Ok(StatusCode::NO_CONTENT.into_response())
}
