//! Tickets, and who one is.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use serde::Deserialize;
use utoipa::ToSchema;

use super::body::Body;
use super::native::{json, object, text_or_null};
use crate::app::App;
use crate::auth::{Caller, ToRead, ticket};
use crate::problem::{Answer, Problem, ProblemBody};
use crate::viewer::Csrf;

/// What a ticket is for.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewTicket {
    /// The path of an event stream, such as `/v1/events` or `/v1/sessions/ID/events`, as it stands in the URL.
    route: String,
}

/// Make a ticket: single-use, for a minute, for one path. Put it into the URL as `ticket=…`.
#[utoipa::path(post, path = "/v1/tickets", tag = "events", security(("token" = ["read"])), request_body = NewTicket,
    responses((status = 201, description = "`ticket` and `expires`.", body = Object),
              (status = 400, description = "The path is not one of an event stream.", body = ProblemBody, content_type = "application/problem+json")))]
pub(crate) async fn create(
    State(app): State<Arc<App>>,
    caller: Caller<ToRead>,
    Body(new): Body<NewTicket>,
) -> Answer<Response> {
    let of_session = new.route.strip_prefix("/v1/sessions/").and_then(|rest| rest.strip_suffix("/events"));
    if new.route != "/v1/events" && of_session.is_none_or(|id| id.is_empty() || id.contains('/')) {
        return Err(Problem::bad_request("`route` is /v1/events or /v1/sessions/ID/events"));
    }
    let (ticket, expires) = ticket::create(&app.control, &caller.token, &new.route).await?;
    let answer = object([("ticket", ticket.into()), ("expires", expires.to_string().into())]);
    Ok(json(StatusCode::CREATED, answer.to_text()))
}

/// Who the token is.
#[utoipa::path(get, path = "/v1/whoami", tag = "operation", security(("token" = ["read"])),
    responses((status = 200, description = "`token`, `name`, `tenant`, `scope`, `expires`, and for a page that signed in `csrf`.", body = Object)))]
pub(crate) async fn whoami(caller: Caller<ToRead>, csrf: Option<Extension<Csrf>>) -> Response {
    let token = &caller.token;
    let expires = token.expires.as_ref().map(ToString::to_string);
    let answer = object([
        ("token", token.id.as_str().into()),
        ("name", token.name.as_str().into()),
        ("tenant", token.tenant.as_str().into()),
        ("scope", token.scope.as_str().into()),
        ("expires", text_or_null(expires.as_deref())),
        ("csrf", text_or_null(csrf.as_ref().map(|csrf| csrf.0.0.as_str()))),
    ]);
    json(StatusCode::OK, answer.to_text())
}
