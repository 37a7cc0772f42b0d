//! Links by which anyone can read one session, redacted, until they expire or are revoked.
//!
//! A link is 256 random bits; only their SHA-256 is stored, with the session, its tenant and its end. It names a session and not a
//! moment: whoever opens it sees the session as it is then.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use turnkeep_codec::{EncodeOptions, Target, encode};
use turnkeep_model::policy::{Redact, RedactTarget};
use turnkeep_model::{Json, SessionId};
use turnkeep_store::StoreExt;
use utoipa::ToSchema;

use super::assets::html;
use crate::app::App;
use crate::auth::{Caller, ToRead, ToWrite, random, sha256};
use crate::problem::{Answer, Problem, ProblemBody};
use crate::rest::{Body, json, object, redacted};
use crate::tenant::{Tenant, TenantName};

/// The kind of documents that shares are.
const KIND: &str = "share";

/// The policy of a page that shows one session: what is in it, and nothing else.
const POLICY: &str = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// A day, and the longest that a link lasts.
const DAY: i64 = 24 * 60 * 60;
const LONGEST: u32 = 365;

/// What a new link is to be.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewShare {
    /// For how many days, at most 365.
    #[serde(default = "week")]
    days: u32,
}

fn week() -> u32 {
    7
}

#[derive(Serialize, Deserialize)]
struct Stored {
    session: String,
    tenant: String,
    by: String,
    expires: String,
}

impl Stored {
    fn lasts(&self) -> bool {
        self.expires.parse::<Timestamp>().is_ok_and(|end| end > Timestamp::now())
    }

    fn is_of(&self, tenant: &Tenant, session: &str) -> bool {
        self.session == session && self.tenant == tenant.name.to_string()
    }
}

/// Make a link by which anyone can read the session, redacted.
#[utoipa::path(post, path = "/v1/sessions/{id}/shares", tag = "sessions", security(("token" = ["write"])), request_body = NewShare,
    params(("id" = String, Path, description = "The session.")),
    responses((status = 201, description = "`id`, `url` and `expires`. The URL is told this once.", body = Object),
              (status = 404, description = "There is none.", body = ProblemBody, content_type = "application/problem+json")))]
pub(crate) async fn create(
    State(app): State<Arc<App>>,
    caller: Caller<ToWrite>,
    Path(session): Path<String>,
    Body(new): Body<NewShare>,
) -> Answer<Response> {
    if new.days == 0 || new.days > LONGEST {
        return Err(Problem::bad_request("`days` is from 1 to 365"));
    }
    caller.tenant.store.last(&SessionId::new(session.as_str())).await?;
    let link = random().map_err(Problem::internal)?;
    let now = Timestamp::now();
    let expires = now.checked_add(SignedDuration::from_secs(i64::from(new.days) * DAY)).unwrap_or(now);
    let stored = Stored {
        tenant: caller.tenant.name.to_string(),
        by: caller.token.name.clone(),
        expires: expires.to_string(),
        session,
    };
    let line = serde_json::to_string(&stored).map_err(Problem::internal)?;
    let id = sha256(&link);
    app.control.create(KIND, &id, &line, Some((LABEL, &label(&stored)))).await?;
    let answer = object([
        ("id", id.as_str().into()),
        ("url", format!("/share/{link}").into()),
        ("expires", stored.expires.as_str().into()),
    ]);
    Ok(json(StatusCode::CREATED, answer.to_text()))
}

const LABEL: &str = "of";

/// By which the links of a session are found; a label cannot hold every id.
fn label(stored: &Stored) -> String {
    sha256(&format!("{}/{}", stored.tenant, stored.session))
}

/// The links of a session that work.
#[utoipa::path(get, path = "/v1/sessions/{id}/shares", tag = "sessions", security(("token" = ["read"])),
    params(("id" = String, Path, description = "The session.")),
    responses((status = 200, description = "`shares`, each with `id`, `by` and `expires`.", body = Object)))]
pub(crate) async fn list(
    State(app): State<Arc<App>>,
    caller: Caller<ToRead>,
    Path(session): Path<String>,
) -> Answer<Response> {
    caller.tenant.store.last(&SessionId::new(session.as_str())).await?;
    let wanted = Stored {
        tenant: caller.tenant.name.to_string(),
        session: session.clone(),
        by: String::new(),
        expires: String::new(),
    };
    let documents = app.control.list(KIND, Some((LABEL, &label(&wanted)))).await?;
    let shares = documents.iter().filter_map(|document| {
        let stored = serde_json::from_str::<Stored>(document.last()).ok()?;
        (stored.is_of(&caller.tenant, &session) && stored.lasts()).then(|| {
            object([
                ("id", document.key.as_str().into()),
                ("by", stored.by.as_str().into()),
                ("expires", stored.expires.as_str().into()),
            ])
        })
    });
    Ok(json(StatusCode::OK, object([("shares", Json::Array(shares.collect()))]).to_text()))
}

/// Revoke a link.
#[utoipa::path(delete, path = "/v1/sessions/{id}/shares/{share}", tag = "sessions", security(("token" = ["write"])),
    params(("id" = String, Path, description = "The session."), ("share" = String, Path, description = "The id of the link.")),
    responses((status = 204, description = "It no longer works."),
              (status = 404, description = "There is none.", body = ProblemBody, content_type = "application/problem+json")))]
pub(crate) async fn revoke(
    State(app): State<Arc<App>>,
    caller: Caller<ToWrite>,
    Path((session, share)): Path<(String, String)>,
) -> Answer<StatusCode> {
    let document = app.control.get(KIND, &share).await?;
    let stored = document.and_then(|document| serde_json::from_str::<Stored>(document.last()).ok());
    if !stored.is_some_and(|stored| stored.is_of(&caller.tenant, &session)) {
        return Err(no_share());
    }
    app.control.remove(KIND, &share).await?;
    Ok(StatusCode::NO_CONTENT)
}

fn no_share() -> Problem {
    Problem::new(StatusCode::NOT_FOUND, "not_found", "there is no such link, or it has ended")
}

/// The session behind a link, as one page.
pub(super) async fn page(State(app): State<Arc<App>>, Path(link): Path<String>) -> Answer<Response> {
    let document = app.control.get(KIND, &sha256(&link)).await?.ok_or_else(no_share)?;
    let stored = serde_json::from_str::<Stored>(document.last()).map_err(Problem::internal)?;
    if !stored.lasts() {
        return Err(no_share());
    }
    let tenant = app.tenants.named(&TenantName::new(&stored.tenant)?).await?;
    let id = SessionId::new(stored.session.as_str());
    let redact = Redact::new([RedactTarget::Secrets, RedactTarget::EncryptedContent]);
    let (archive, _) = redacted(tenant.store.journal(&id).await?, &redact)?;
    let encoded = encode(&archive, &Target::parse("html").map_err(Problem::internal)?, &EncodeOptions::default());
    let text = String::from_utf8(encoded.map_err(Problem::internal)?.bytes).map_err(Problem::internal)?;
    Ok(html(POLICY, text))
}
