//! A stored session in another form: slim, or as a document of another format.

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use turnkeep_codec::format::cognesy::Dialect;
use turnkeep_codec::format::cognesy::view::{self, Slimmed};
use turnkeep_codec::lint::{Strictness, lint_session};
use turnkeep_codec::{EncodeOptions, Mode};
use turnkeep_model::policy::{Policy, Redact, RedactTarget};
use turnkeep_model::view::Slim;
use turnkeep_model::{Archive, Journal, Json, Loss, fold};
use turnkeep_store::StoreExt;

use super::convert::{document, finding, target};
use super::native::{at, json, losses, object};
use super::parameters::{InSession, Parameters};
use crate::auth::{Caller, ToRead};
use crate::problem::{Answer, Problem, ProblemBody, of_document};

/// The slim view of a session.
#[utoipa::path(get, path = "/v1/sessions/{id}/slim", tag = "formats", security(("token" = ["read"])),
    params(
        ("id" = String, Path, description = "The session."),
        ("preset" = Option<String>, Query, description = "`minimal`, `standard` or `full`."),
    ),
    responses((status = 200, description = "The view.", body = Object),
              (status = 404, description = "There is none.", body = ProblemBody, content_type = "application/problem+json")))]
pub(crate) async fn slim(
    caller: Caller<ToRead>,
    InSession(id): InSession,
    mut parameters: Parameters,
) -> Answer<Response> {
    let preset = parameters.take("preset").unwrap_or_else(|| "standard".to_owned());
    parameters.done()?;
    let config = Slim::preset(&preset);
    let config = config.ok_or_else(|| Problem::bad_request("`preset` is `minimal`, `standard` or `full`"))?;
    let loaded = caller.tenant.store.load(&id).await?;
    let Slimmed { view, .. } = view::slim(&loaded.session, &config, Dialect::Proposal, Mode::Faithful)?;
    let text = String::from_utf8(view::write(&view, Dialect::Proposal)).map_err(Problem::internal)?;
    Ok(at(loaded.seq, json(StatusCode::OK, text)))
}

/// A session as a document of another format.
#[utoipa::path(get, path = "/v1/sessions/{id}/export", tag = "formats", security(("token" = ["read"])),
    params(
        ("id" = String, Path, description = "The session."),
        ("to" = String, Query, description = "The format, optionally with a variant."),
        ("redact" = Option<String>, Query, description = "What is hidden, separated by commas: `secrets`, `encrypted_content`, `tool_args`, `tool_results`."),
        ("as" = Option<String>, Query, description = "`json` (as described), `report` (without the result) or `file` (the result itself)."),
    ),
    responses((status = 200, description = "`to`, `losses`, and the result as `document` (text) or `base64`.", body = Object),
              (status = 404, description = "There is none.", body = ProblemBody, content_type = "application/problem+json")))]
pub(crate) async fn export(
    caller: Caller<ToRead>,
    InSession(id): InSession,
    mut parameters: Parameters,
) -> Answer<Response> {
    let to = target(parameters.take("to"), "to")?;
    let redact = redaction(parameters.take("redact").as_deref().unwrap_or_default())?;
    let form = parameters.take("as").unwrap_or_else(|| "json".to_owned());
    parameters.done()?;
    let journal = caller.tenant.store.journal(&id).await?;
    let (seq, spec) = (journal.last(), to.codec.spec());
    let encoded = tokio::task::spawn_blocking(move || {
        let (archive, mut losses) = redacted(journal, &redact)?;
        let encoded = turnkeep_codec::encode(&archive, &to, &EncodeOptions::default())?;
        losses.extend(encoded.losses);
        Ok::<_, turnkeep_model::Error>((encoded.bytes, losses))
    });
    let (bytes, lost) = encoded.await.map_err(Problem::internal)??;
    match form.as_str() {
        "file" => Ok(file(spec.id, spec.extensions.first().copied().unwrap_or(".json"), bytes)),
        "report" => {
            let answer = object([("to", spec.id.into()), ("losses", losses(&lost))]);
            Ok(at(seq, json(StatusCode::OK, answer.to_text())))
        }
        "json" => {
            let (key, document) = document(bytes);
            let answer = object([("to", spec.id.into()), ("losses", losses(&lost)), (key, document)]);
            Ok(at(seq, json(StatusCode::OK, answer.to_text())))
        }
        _ => Err(Problem::bad_request("`as` is `json`, `report` or `file`")),
    }
}

fn redaction(list: &str) -> Answer<Redact> {
    let words = list.split(',').filter(|word| !word.is_empty());
    let known = words.map(RedactTarget::from_word).collect::<Option<Vec<_>>>();
    let wrong = || Problem::bad_request("`redact` is a list of secrets, encrypted_content, tool_args and tool_results");
    known.map(Redact::new).ok_or_else(wrong)
}

/// A session without what is hidden, with a journal that has none of it either, and what that took away.
pub(crate) fn redacted(journal: Journal, redact: &Redact) -> turnkeep_model::Result<(Archive, Vec<Loss>)> {
    let (journal, losses) = match redact.is_empty() {
        true => (journal, Vec::new()),
        false => (redact.journal(&journal)?, redact.apply(&mut fold(&journal)?)?),
    };
    let session = fold(&journal)?;
    Ok((Archive { seq: Some(journal.last()), journal: Some(Box::new(journal)), ..Archive::from(session) }, losses))
}

/// A file to save. It is never shown in the place of a page of ours, whatever it holds.
fn file(format: &str, extension: &str, bytes: Vec<u8>) -> Response {
    let headers = [
        (header::CONTENT_TYPE, "application/octet-stream".to_owned()),
        (header::CONTENT_DISPOSITION, format!("attachment; filename=\"session.{format}{extension}\"")),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff".to_owned()),
        (header::CACHE_CONTROL, "no-store".to_owned()),
    ];
    (StatusCode::OK, headers, bytes).into_response()
}

/// Check a session against the rules of a target, as the request that it would be.
#[utoipa::path(get, path = "/v1/sessions/{id}/lint", tag = "formats", security(("token" = ["read"])),
    params(
        ("id" = String, Path, description = "The session."),
        ("for" = String, Query, description = "The target: a wire, optionally with a profile."),
    ),
    responses((status = 200, description = "`findings`, each with `rule`, `severity`, `at` and `what`.", body = Object),
              (status = 404, description = "There is none.", body = ProblemBody, content_type = "application/problem+json")))]
pub(crate) async fn lint(
    caller: Caller<ToRead>,
    InSession(id): InSession,
    mut parameters: Parameters,
) -> Answer<Response> {
    let name = parameters.take("for");
    parameters.done()?;
    target(name.clone(), "for")?;
    let name = name.unwrap_or_default();
    let loaded = caller.tenant.store.load(&id).await?;
    let found = tokio::task::spawn_blocking(move || lint_session(&loaded.session, &name, None, Strictness::Lax));
    let found = found.await.map_err(Problem::internal)?.map_err(|error| of_document(&error))?;
    let answer = object([("findings", Json::Array(found.iter().map(finding).collect()))]);
    Ok(at(loaded.seq, json(StatusCode::OK, answer.to_text())))
}
